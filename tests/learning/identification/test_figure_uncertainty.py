"""Uncertainty of a car's figures, and the grip that a plan may use."""

import dataclasses

import numpy as np
import pytest
from msgspec.structs import replace

from trailbrake.cars.car_library import load_car
from trailbrake.cars.ggv_envelope import compute_figures
from trailbrake.cars.learned import Uncertainty
from trailbrake.learning.identification.braking import split_brakes
from trailbrake.learning.identification.figure_uncertainty import (
    BRAKING_FLOOR,
    LATERAL_FLOOR,
    LEAST_SHARE,
    PART_THROTTLE_DRIVE,
    TOLERATED,
    UNKNOWN_DRIVE,
    find_lift_error,
    find_uncertainty,
    plan_share,
)
from trailbrake.learning.identification.learned_value import identified
from trailbrake.learning.identification.powertrain import Powertrain
from trailbrake.learning.identification.robust_fit import Fit

CAR = load_car("gt3")


def fit_of(sigma):
    """Return a fit of one parameter, the friction of all tyres over the car's."""
    return Fit(np.array([1.0]), np.array([sigma]), np.array([[sigma**2]]), 1.0, 100)


def tyres_of(car, p):
    tyres = [replace(t, mu_y=float(p[0]) * t.mu_y, mu_x=float(p[0]) * t.mu_x) for t in (car.tyre_front, car.tyre_rear)]
    return replace(car, tyre_front=tyres[0], tyre_rear=tyres[1])


def doubt(**shares):
    zero = dict.fromkeys(("lateral_grip", "braking", "drive_force", "downforce", "steer_angle", "delay"), 0.0)
    return Uncertainty(**{**zero, **shares})


def test_a_deviation_of_the_friction_is_one_of_the_limits():
    found = find_uncertainty(CAR, fit_of(0.1), tyres_of, None, {"steering.max_angle": identified(0.4, 0.02, "")})
    assert found.lateral_grip == pytest.approx(np.hypot(0.1, LATERAL_FLOOR), rel=0.15)
    assert found.braking > BRAKING_FLOOR
    assert found.steer_angle == pytest.approx(0.05)
    assert found.deviation == {"steering.max_angle": 0.02}


def test_a_split_of_the_brakes_that_is_hardly_known_is_a_doubt_of_the_braking():
    """Anti-lock brakes make up for it."""
    unaided = replace(CAR, brakes=replace(CAR.brakes, abs=False))
    sure, unsure = (
        find_uncertainty(
            unaided, fit_of(0.001), tyres_of, None, {"brakes.front_share": identified(0.6, sigma, "")}
        ).braking
        for sigma in (0.0, 0.1)
    )
    assert sure == pytest.approx(BRAKING_FLOOR, rel=0.1)
    force, share = unaided.full_brake_force / unaided.body.mass, unaided.front_brake_force_share
    middle = compute_figures(unaided).braking
    less = min(compute_figures(split_brakes(unaided, force, share + step)).braking for step in (-0.1, 0.1))
    assert unsure == pytest.approx(np.hypot(sure, 1.0 - less / middle), rel=0.01)
    assert unsure > 2.0 * sure
    unlearned = find_uncertainty(unaided, fit_of(0.001), tyres_of, None, {})  # of a winding road: braked in bends alone
    assert unlearned.braking > unsure
    assert plan_share(unlearned) > 0.98, "verified by laps, not lowered"


def test_drive_force_from_part_throttle_alone_is_hardly_known():
    pulls = Powertrain(
        speeds=np.linspace(200.0, 700.0, 4), torque=np.ones(4), torque_sigma=np.full(4, 0.01), covered=np.ones(4, bool),
        drag_idle=0.0, drag_limiter=0.1, drag_sigma=0.01, air=(4e-4, 1e-5), rolling=(0.012, 0.005),
        engine_inertia=(1e-4, 1e-5), fit=fit_of(0.1), rows=(900, 300),
    )  # fmt: skip
    full, part = (
        find_uncertainty(CAR, None, tyres_of, dataclasses.replace(pulls, rows=(rows, 300)), {}).drive_force
        for rows in (900, 5)
    )
    assert full < 0.03
    nothing = dataclasses.replace(pulls, torque=np.full(4, 1e-3))
    assert find_uncertainty(CAR, None, tyres_of, nothing, {}).drive_force == UNKNOWN_DRIVE
    assert part == pytest.approx(np.hypot(full, PART_THROTTLE_DRIVE))


def test_tyres_of_the_class_alone_are_hardly_known():
    sure = find_uncertainty(CAR, fit_of(0.001), tyres_of, None, {})
    unknown = find_uncertainty(CAR, None, tyres_of, None, {})
    assert unknown.lateral_grip > 3.0 * sure.lateral_grip
    assert plan_share(unknown) < 0.85 < plan_share(sure)


def test_a_plan_uses_grip_that_the_car_has_but_for_what_does_no_harm():
    assert plan_share(doubt()) == 1.0
    assert plan_share(doubt(lateral_grip=0.02)) == 1.0
    for sigma in (0.04, 0.08, 0.15):
        share = plan_share(doubt(lateral_grip=sigma))
        assert share < 1.0
        # The worst car of 97.5 % has 1 - 1.96 sigma of the grip that was found.
        assert share <= (1.0 + TOLERATED) * (1.0 - 1.96 * sigma) + 1e-12
    braked = {"brakes.force_over_mass": 0.3}
    assert plan_share(doubt(braking=1.0, deviation=braked)) == LEAST_SHARE
    assert plan_share(doubt(lateral_grip=0.08)) < plan_share(doubt(braking=0.08, deviation=braked)) < 1.0
    shown = {"aero.lift_area_rear": 0.1}
    assert plan_share(doubt(downforce=0.25, deviation=shown)) < 0.9 < plan_share(doubt(downforce=0.04, deviation=shown))
    assert plan_share(doubt(downforce=0.25)) == 1.0, "of a road that was too slow to show it"


def test_slow_bends_do_not_tell_downforce_from_grip():
    def drive(fastest):
        speeds = np.linspace(10.0, fastest, 200)
        rows = np.zeros((400, 6))
        rows[:200, 2:4], rows[:200, 4] = 1.5, speeds
        rows[200:, 4] = 60.0  # straights
        return find_lift_error(rows)

    slow, fast = (0.04 * 9.81 / ((0.9 * v + 1.0) ** 2 - (0.1 * v + 9.0) ** 2) for v in (20.0, 50.0))
    assert (drive(20.0), drive(50.0)) == (pytest.approx(slow, rel=0.01), pytest.approx(fast, rel=0.01))
