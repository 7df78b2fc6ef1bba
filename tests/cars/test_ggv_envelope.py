"""The g-g-v envelope, against closed forms."""

import math

import msgspec
import numpy as np
import pytest

from trailbrake.cars.axle_forces import load_parameters, wheel_loads
from trailbrake.cars.car_library import car_names, load_car
from trailbrake.cars.ggv_envelope import (
    AIDED_BRAKING_RESERVE,
    FRONT_GRIP_SHARE_BRAKING,
    REAR_GRIP_SHARE,
    REAR_GRIP_SHARE_BRAKING,
    SHARES,
    STEER_SHARE,
    TRAIL_BRAKING_RESERVE,
    UNAIDED_BRAKING_RESERVE,
    compute_drive_accelerations,
    compute_envelope,
    compute_figures,
    full_throttle_force,
    running_resistance,
    top_speed,
)
from trailbrake.cars.params import SteerRange
from trailbrake.units import G


@pytest.fixture(scope="module")
def gt3() -> object:
    return load_car("gt3")


def _simple(car: object) -> object:
    """A car without load sensitivity, air or roll centres: point-mass formulas hold for it."""
    replace = msgspec.structs.replace
    tyre = replace(car.tyre_front, mu_x=1.2, mu_y=1.2, mu_x_load=0.0, mu_y_load=0.0, rolling_resistance=0.0)
    return replace(
        car, tyre_front=tyre, tyre_rear=tyre,
        aero=replace(car.aero, drag_area=0.0, lift_area_front=0.0, lift_area_rear=0.0),
        drive=replace(car.drive, differential_rear=replace(car.drive.differential_rear, preload=0.0, lock_power=0.0)),
    )  # fmt: skip


def test_without_load_sensitivity_the_lateral_limit_is_mu_g(gt3: object) -> None:
    limits = compute_envelope(_simple(gt3))
    # The top of the range is unreachable: without drag only the limiter ends it.
    # Less what a plan keeps back of the rear axle, and what drives it against the sliding of both axles:
    # 0.09 of the weight, of the 0.67 that the rear tyres have, takes 1 - sqrt(1 - (0.09 / 0.67)^2) of their side force.
    assert np.allclose(limits.lateral, REAR_GRIP_SHARE * 1.2 * G, rtol=1e-2)
    assert (limits.lateral < REAR_GRIP_SHARE * 1.2 * G).all()
    assert np.allclose(limits.load_factor, 1.0)


def test_braking_limit_is_mu_g_where_the_bias_fits_and_never_more(gt3: object) -> None:
    limits = compute_envelope(_simple(gt3))
    assert (limits.brake[:, 0] <= 1.2 * G + 1e-6).all()
    assert limits.brake[0, 0] > 0.9 * 1.2 * G


def test_downforce_raises_and_cornering_cuts(gt3: object) -> None:
    limits = compute_envelope(gt3)
    assert (np.diff(limits.lateral) > 0.0).all()
    assert (np.diff(limits.brake, axis=1) <= 0.02).all()  # the load iteration leaves a little
    assert (np.diff(limits.drive, axis=1) <= 1e-9).all()


def test_top_speed_balances_thrust_and_drag(gt3: object) -> None:
    speed = top_speed(gt3)
    margin = full_throttle_force(gt3, np.array([speed, speed + 1.0])) - running_resistance(
        gt3, np.array([speed, speed + 1.0])
    )
    assert margin[0] > 0.0 >= margin[1]
    assert 70.0 < speed < 80.0  # GT3 cars reach 255 to 285 km/h


def test_open_differential_halves_what_a_lifted_wheel_gives(gt3: object) -> None:
    replace = msgspec.structs.replace
    opened = replace(gt3, drive=replace(gt3.drive, differential_rear=replace(gt3.drive.differential_rear, kind="open")))
    assert compute_envelope(opened).drive[5, SHARES - 3] < compute_envelope(gt3).drive[5, SHARES - 3]


def test_power_stops_where_the_front_axle_no_longer_turns_the_car(gt3: object) -> None:
    """Without load sensitivity and air: m ay b / L + lock track m ax / (2 L) <= mu m (g b - ax h) / L."""
    replace, simple, body = msgspec.structs.replace, _simple(gt3), gt3.body
    limits, v, j = compute_envelope(simple), 3, SHARES - 2
    ay = limits.lateral[v] * j / (SHARES - 1)
    spare = (1.2 * G - ay) * body.cg_to_rear
    assert limits.drive[v, j] == pytest.approx(spare / (1.2 * body.cg_height), rel=1e-6)
    lsd = replace(simple.drive.differential_rear, lock_power=0.5)
    locked = compute_envelope(replace(simple, drive=replace(simple.drive, differential_rear=lsd)))
    ay = locked.lateral[v] * j / (SHARES - 1)
    without_sliding = (1.2 * G - ay) * body.cg_to_rear / (1.2 * body.cg_height + 0.25 * body.track_rear)
    # What drives the car against the sliding of its tyres is locked too, some tenths of a m/s^2 of it.
    assert without_sliding - 0.4 < locked.drive[v, j] < without_sliding


def test_cars_without_assistants_are_planned_with_a_reserve() -> None:
    f1 = load_car("f1")
    helped = compute_envelope(msgspec.structs.replace(f1, brakes=msgspec.structs.replace(f1.brakes, abs=True, tc=True)))
    alone = compute_envelope(f1)
    # With ABS each axle brakes to its own limit, and not both to that of the first.
    reserved = (1.0 - UNAIDED_BRAKING_RESERVE) / (1.0 - AIDED_BRAKING_RESERVE)
    assert 0.95 * reserved * helped.brake[5, 0] < alone.brake[5, 0] <= reserved * helped.brake[5, 0]
    assert alone.drive[5, 0] == helped.drive[5, 0]
    assert 0.0 < alone.drive[5, SHARES - 2] < helped.drive[5, SHARES - 2]


def test_without_abs_the_first_wheel_that_locks_limits_its_axle() -> None:
    """With all brakes at the front, and no differential there, the inner front wheel's load alone counts."""
    gt3 = load_car("gt3")
    replace = msgspec.structs.replace
    simple = _simple(gt3)
    brakes = replace(gt3.brakes, torque_rear=0.0, torque_front=20.0 * gt3.brakes.torque_front)
    aided = compute_envelope(replace(simple, brakes=replace(brakes, abs=True)))
    alone = compute_envelope(replace(simple, brakes=replace(brakes, abs=False)))
    v, j = 4, SHARES // 2
    trail, reserve = 1.0 - TRAIL_BRAKING_RESERVE * j / (SHARES - 1), 1.0 - UNAIDED_BRAKING_RESERVE
    fl, fr, _, _ = wheel_loads(
        -alone.brake[v, j] / reserve / trail,
        alone.lateral[v] * j / (SHARES - 1),
        alone.speeds[v],
        load_parameters(simple),
    )
    assert fl < 0.9 * fr
    scale = reserve / (1.0 - AIDED_BRAKING_RESERVE) * 2.0 * fl / (fl + fr)
    assert alone.brake[v, 0] == pytest.approx(reserve / (1.0 - AIDED_BRAKING_RESERVE) * aided.brake[v, 0])
    # Less braking loads the front less, which costs a little more; uneven braking of the aided car costs a little, too.
    assert 0.8 * scale < alone.brake[v, j] / aided.brake[v, j] < 1.02 * scale


@pytest.mark.parametrize("j", range(SHARES - 2))
def test_anti_lock_brakes_slow_the_car_with_all_that_a_bend_leaves(gt3: object, j: int) -> None:
    """Equal friction at all loads is a circle of the whole car: each wheel's force points the same way."""
    simple, v = _simple(gt3), 4
    limits = compute_envelope(simple)
    ay = limits.lateral[v] * j / (SHARES - 1)
    least, most = (
        math.sqrt((1.2 * G) ** 2 - (ay / share) ** 2) for share in (REAR_GRIP_SHARE_BRAKING, FRONT_GRIP_SHARE_BRAKING)
    )
    reserve = (1.0 - TRAIL_BRAKING_RESERVE * j / (SHARES - 1)) * (1.0 - AIDED_BRAKING_RESERVE)
    assert 0.98 * least < limits.brake[v, j] / reserve < 1.02 * most


def test_envelope_is_frozen(gt3: object) -> None:
    with pytest.raises(AttributeError):
        compute_envelope(gt3).lateral = None
    assert math.isfinite(compute_envelope(gt3).drive.sum())


# km/h; the makers' figures and what the classes reach, with the room that a quasi-steady model needs
TOP_SPEEDS = {
    "f1": (320.0, 360.0), "gt3": (265.0, 285.0), "hatchback": (198.0, 212.0), "kart": (120.0, 140.0),
    "sports_awd": (295.0, 315.0),
}  # fmt: skip
# m/s^2, largest lateral acceleration at 20 m/s, in g
GRIP = {"f1": (1.8, 2.3), "gt3": (1.5, 1.8), "hatchback": (0.9, 1.0), "kart": (1.7, 2.3), "sports_awd": (0.98, 1.12)}


@pytest.mark.parametrize("name", car_names())
def test_every_car_has_sane_limits(name: str) -> None:
    car = load_car(name)
    limits = compute_envelope(car)
    for table in (limits.lateral, limits.drive, limits.brake):
        assert np.isfinite(table).all()
    low, high = TOP_SPEEDS[name]
    assert low < 3.6 * top_speed(car) < high
    low, high = GRIP[name]
    assert low < np.interp(20.0, limits.speeds, limits.lateral) / G < high
    assert (np.diff(limits.brake, axis=1) <= 1e-6).all()  # cornering takes from braking and from driving
    assert (np.diff(limits.drive, axis=1) <= 1e-6).all()
    assert (limits.brake[:, 0] > limits.drive[:, 0]).all()
    assert (limits.brake[:, 0] > 0.6 * G).all()
    assert limits.drive[0, 0] > 0.15 * G
    pulls = limits.speeds < top_speed(car)
    assert (limits.drive[pulls, 0] > 0.0).all()
    assert (limits.drive[~pulls, 0] < 0.05 * G).all()
    rises = np.diff(limits.lateral[limits.speeds < top_speed(car) + 2.5])  # beyond, motor and open wing are needed
    assert (rises > 0.0).all() if limits.load_factor[-1] > 1.2 else (abs(rises) < 0.15).all()


def test_a_rear_brake_alone_brakes_as_far_as_the_rear_axle_holds() -> None:
    kart = load_car("kart")
    tyre = msgspec.structs.replace(kart.tyre_rear, mu_x=1.5, mu_x_load=0.0, rolling_resistance=0.0)
    plain = msgspec.structs.replace(
        kart, tyre_rear=tyre, tyre_front=msgspec.structs.replace(kart.tyre_front, rolling_resistance=0.0),
        aero=msgspec.structs.replace(kart.aero, drag_area=0.0),
    )  # fmt: skip
    body = kart.body
    # m a = mu m (g a_f - a h) / L, the rear axle being unloaded by its own braking
    wanted = 1.5 * G * body.cg_to_front / (body.wheelbase + 1.5 * body.cg_height)
    wanted *= 1.0 - UNAIDED_BRAKING_RESERVE  # the kart has no ABS
    assert compute_envelope(plain).brake[3, 0] == pytest.approx(wanted, rel=1e-6)


def test_an_open_front_differential_of_four_driven_wheels_leaves_the_rear_axle_alone() -> None:
    car = load_car("sports_awd")
    replace = msgspec.structs.replace
    locked = replace(car.drive.differential_rear, kind="locked")
    both = replace(car, drive=replace(car.drive, differential_front=locked))
    rear_open = replace(car, drive=replace(both.drive, differential_rear=replace(locked, kind="open")))
    now, best, worst = (compute_envelope(c).drive[5, SHARES - 3] for c in (car, both, rear_open))
    assert now < best
    assert worst < best


def test_a_game_that_turns_the_wheels_less_at_speed_limits_bends_and_not_the_pedals(gt3: object) -> None:
    free = compute_envelope(gt3)
    pad = msgspec.structs.replace(
        gt3, steer_range=SteerRange(source="", speeds=(5.0, 15.0, 40.0), shares=(1.0, 0.5, 0.05))
    )
    limited = compute_envelope(pad)
    fast = int(np.searchsorted(free.speeds, 40.0))
    calm = int(np.searchsorted(free.speeds, 15.0))
    assert limited.lateral[calm] == pytest.approx(free.lateral[calm])
    assert limited.lateral[fast] < 0.9 * free.lateral[fast]
    # Even without any slip of the tyres the wheels turn the car no tighter; slip of the front takes more.
    v = float(free.speeds[fast])
    angle = STEER_SHARE * pad.full_steer_angle(v)
    rear_helps = gt3.tyre_rear.peak_slip_angle
    assert limited.lateral[fast] < v * v * (angle + rear_helps) / gt3.body.wheelbase
    assert limited.brake[fast, 0] == pytest.approx(free.brake[fast, 0])
    assert limited.drive[fast, 0] == pytest.approx(free.drive[fast, 0])


@pytest.mark.parametrize("name", ["gt3", "f1", "hatchback", "kart"])
def test_full_throttle_is_the_best_gear_s_force_less_what_spins_up(name: str) -> None:
    car = load_car(name)
    speeds = np.linspace(0.0, 130.0, 261)
    shares = [car.body.mass / car.effective_mass(gear) for gear in range(1, car.gearbox.top_gear + 1)]
    best = [
        max(car.drive_force(float(speed), gear) * share for gear, share in enumerate(shares, 1)) for speed in speeds
    ]
    assert full_throttle_force(car, speeds).tolist() == best


def test_figures_are_those_of_the_planner_and_the_file():
    car = load_car("gt3")
    figures, limits = compute_figures(car), compute_envelope(car)
    assert limits.lateral.min() <= figures.lateral_grip <= limits.lateral.max()
    assert 10.0 < figures.braking < 25.0
    area = car.aero.lift_area_front + car.aero.lift_area_rear
    assert figures.downforce == pytest.approx(0.5 * 1.2 * area * 2500.0 / (car.body.mass * G), rel=0.05)
    assert (figures.steer_angle, figures.delay) == (car.steering.max_angle, car.actuation.delay)


def test_the_best_gear_drives():
    car = load_car("hatchback")
    (slow, fast) = compute_drive_accelerations(car, np.array([8.0, 40.0]))
    assert slow == pytest.approx(car.drive_force(8.0, 1) / car.body.mass)
    assert slow > fast > 0.0
    assert compute_drive_accelerations(car, np.array([200.0]))[0] == 0.0
