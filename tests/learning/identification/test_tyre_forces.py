"""Tyres of a car whose axles obey the tyre law exactly: the same law is found again."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest
from helpers.known_drives import make_table

from trailbrake.cars.car_library import load_car
from trailbrake.learning.identification import tyre_forces
from trailbrake.learning.identification.drive_table import join_tables
from trailbrake.learning.identification.tyre_forces import (
    STEER_SPEEDS,
    AxleModel,
    P,
    find_tyres,
    steer_shares,
    steer_signal,
    tyre_numbers,
)

CAR = load_car("gt3")


def bends(peak_steer, rows=2000):
    """Return a table of weaves at rising steer, and the parameters by which its forces were made."""
    time = np.arange(rows) / 50.0
    rng = np.random.default_rng(1)
    speed = 15.0 + 15.0 * (0.5 + 0.5 * np.sin(time / 7.0))
    steer = np.sin(2.0 * np.pi * time / 6.0) * np.linspace(0.02, peak_steer, rows)
    drift = np.sin(2.0 * np.pi * time / 6.0 - 0.4) * np.linspace(0.01, 0.11, rows)  # rad, slip of the rear axle
    yaw_rate = 0.5 * steer * speed / CAR.body.wheelbase
    vy = CAR.body.cg_to_rear * yaw_rate - drift * speed
    radius = np.repeat([CAR.tyre_front.radius, CAR.tyre_rear.radius], 2)
    slip = 0.02 * np.sin(time / 1.7)[:, None]
    ys = 0.5 * np.array([1.0, -1.0, 1.0, -1.0]) * np.repeat([CAR.body.track_front, CAR.body.track_rear], 2)
    spin = (speed[:, None] - yaw_rate[:, None] * ys) / radius * (1.0 + slip)
    table = make_table(
        rows, vx=speed, vy=vy, yaw_rate=yaw_rate, steer=steer, wheel_angle=steer * 4.0, spin=spin, load=3300.0
    )
    mean, _, _ = tyre_forces._priors(CAR, "wheel_angle", known_lift=True)
    truth = mean.copy()
    truth[[P.STEER, P.MU, P.MU_REAR, P.ANGLE, P.LIFT]] = 0.12, 1.5, 1.04, 0.13, mean[P.LIFT]
    truth[[P.ROLL_FRONT, P.ROLL_REAR]] = 0.0  # the forces are made of the motion alone
    flow = tyre_forces._make_flow(table, CAR, "wheel_angle")
    front, rear, along, _ = AxleModel(flow, CAR).forces(truth)
    air = 0.5 * CAR.aero.air_density * CAR.aero.drag_area / CAR.body.mass * speed**2
    moment = (CAR.body.cg_to_front * front - CAR.body.cg_to_rear * rear) * CAR.body.mass
    noise = 0.1 * rng.standard_normal((2, rows))
    made = replace(
        table, fy=front + rear + noise[0], fx=along - air + noise[1], yaw_acceleration=moment / CAR.body.yaw_inertia
    )
    return made, truth


def test_the_law_that_made_the_forces_is_found():
    table, truth = bends(0.5, 4000)
    found = find_tyres(table, CAR, known_lift=True)
    assert found.fit.value[P.STEER] == pytest.approx(truth[P.STEER], rel=0.02)
    numbers, made = tyre_numbers(found.fit.value), tyre_numbers(truth)
    assert numbers.mu_y == pytest.approx(made.mu_y, rel=0.03)
    assert numbers.peak_slip_angle == pytest.approx(made.peak_slip_angle, rel=0.06)
    assert found.used_front > 0.75  # the tyres were driven near their peak


def test_the_drag_of_the_steered_wheels_turns_the_car_out_of_the_bend():
    delta, speed, yaw_rate = 0.12, 20.0, 0.6
    radius = np.repeat([CAR.tyre_front.radius, CAR.tyre_rear.radius], 2)
    plain = make_table(60, vx=speed, vy=-0.5, yaw_rate=yaw_rate, wheel_angle=delta, spin=0.0, load=0.0)
    p = tyre_forces._priors(CAR, "wheel_angle", known_lift=True)[0]
    p[[P.STEER, P.TOE_FRONT, P.TOE_REAR, P.ROLL_FRONT, P.ROLL_REAR]] = 1.0, 0.0, 0.0, 0.0, 0.0
    flow = tyre_forces._make_flow(plain, CAR, "wheel_angle")
    turned = np.array([delta, delta, 0.0, 0.0])
    free = flow.u * (np.cos(turned) + flow.across * np.sin(turned)) / radius  # no wheel is driven or braked
    left, right = 2000.0, 5000.0  # N
    table = replace(plain, spin=free, load=np.tile([left, right, left, right], (60, 1)))
    model = AxleModel(tyre_forces._make_flow(table, CAR, "wheel_angle"), CAR)
    front, rear, *_ = model.forces(p)
    model._sides = np.zeros(4)  # the same forces along, without an arm
    bare_front, bare_rear, *_ = model.forces(p)
    assert front + rear == pytest.approx(bare_front + bare_rear)
    apart = (right - left) / (right + left)  # of the side forces, about
    arm = apart * np.sin(delta) * 0.5 * CAR.body.track_front / CAR.body.wheelbase
    assert front - bare_front == pytest.approx(-arm * bare_front, rel=0.25)


def test_slips_that_the_wire_supplies_make_the_peak_surer():
    table, truth = bends(0.12)
    alone = find_tyres(table, CAR, known_lift=True)
    flow = tyre_forces._make_flow(table, CAR, "wheel_angle")
    slip = AxleModel(flow, CAR).forces(truth)[3]
    told = find_tyres(replace(table, combined_slip=slip), CAR, known_lift=True)
    assert told.fit.value[P.ANGLE] == pytest.approx(truth[P.ANGLE], rel=0.03)
    assert told.fit.sigma[P.ANGLE] < alone.fit.sigma[P.ANGLE]


def test_the_lag_of_a_steering_whose_command_alone_is_supplied_is_found():
    table, truth = bends(0.5, 4000)
    late = 0.06  # s, by which the wheels follow what the wire supplies
    supplied = np.interp(table.time + late, table.time, truth[P.STEER] * table.wheel_angle / 0.6)
    table = replace(table, steer_applied=supplied, wheel_angle=np.full(len(table), np.nan))
    found = find_tyres(table, CAR, known_lift=True).fit
    assert found.value[P.STEER_LAG] == pytest.approx(late, abs=0.01)  # the usual lag of 0.02 s pulls
    assert found.value[P.STEER] == pytest.approx(0.6, rel=0.03)
    assert found.value[P.MU] == pytest.approx(truth[P.MU], rel=0.03)


@pytest.mark.parametrize("knows_load", [True, False])
def test_peaks_that_move_with_load_are_found_from_the_slips_of_the_wire(knows_load):
    """Whether the wire's slips are over the peaks at the load, or over fixed ones that are 4 % larger."""
    table, truth = bends(0.5)
    share = np.linspace(0.4, 2.6, len(table))  # downforce: loads far from the nominal one
    table = replace(table, load=table.load * share[:, None])
    truth[P.SLIP_LOAD] = -0.1
    model = AxleModel(tyre_forces._make_flow(table, CAR, "wheel_angle"), CAR)
    front, rear, along, slip = model.forces(truth)
    air = 0.5 * CAR.aero.air_density * CAR.aero.drag_area / CAR.body.mass * table.vx**2
    moment = (CAR.body.cg_to_front * front - CAR.body.cg_to_rear * rear) * CAR.body.mass / CAR.body.yaw_inertia
    if not knows_load:
        truth[[P.SEEN_LOAD, P.SEEN_SCALE]] = 0.0, 0.96
        slip = model._seen_slips(truth, slip)
    table = replace(table, fy=front + rear, fx=along - air, yaw_acceleration=moment, combined_slip=slip)
    found = find_tyres(table, CAR, known_lift=True).fit
    assert found.value[P.SEEN_LOAD] == pytest.approx(float(knows_load), abs=0.15)
    # Drawn to the class by what the model counts as its own error.
    assert found.value[P.SLIP_LOAD] == pytest.approx(-0.1, abs=0.03)
    assert found.value[P.MU_LOAD] == pytest.approx(truth[P.MU_LOAD], abs=0.02)


def test_rows_in_which_the_wheels_cannot_have_followed_the_thumb_are_left_out():
    table, _ = bends(0.5)
    steer = np.where(table.time - table.time[0] < 5.0, -0.3, 0.3)
    late = table.time - table.time[0] - 5.0
    stick = replace(table, steer_applied=steer, wheel_angle=np.full(len(table), np.nan))
    followed = tyre_forces._find_followed(stick, "steer_applied")
    turning = (late >= 0.0) & (late < 0.6 / tyre_forces.STEER_RATES[0] - 0.05)
    sweep = 2.0 / tyre_forces.STEER_RATES[0]  # s from one lock to the other, after which any beginning is forgotten
    assert turning.any()
    assert not followed[turning].any()
    assert followed[(late > sweep - 5.0 + 0.05) & (late < 0.0) | (late > 0.9)].all()
    assert tyre_forces._find_followed(table, "wheel_angle").all()
    torn = stick.take(np.flatnonzero((late < 0.0) | (late > 0.3)))
    behind = torn.time - table.time[0] - 5.0
    assert not tyre_forces._find_followed(torn, "steer_applied")[(behind > 0.0) & (behind < sweep)].any()


def limit_steer(table, truth):
    """Return the table as of a wire that supplies only the stick, of a game that turns the wheels less at speed."""
    share = np.interp(table.vx, [0.0, 15.0, 32.0], [1.0, 1.0, 0.08])
    stick = truth[P.STEER] * table.wheel_angle / (0.6 * share)
    return replace(table, steer_applied=stick, wheel_angle=np.full(len(table), np.nan)), share


def slow_weave(rows=1500):
    """Return a weave at walking pace without slip, with the steer of a lock of 0.6 rad."""
    time = np.arange(rows) / 50.0
    steer = 0.3 * np.sin(2.0 * np.pi * time / 5.0)
    yaw_rate = 0.6 * steer * 6.0 / CAR.body.wheelbase
    ys = 0.5 * np.array([1.0, -1.0, 1.0, -1.0]) * np.repeat([CAR.body.track_front, CAR.body.track_rear], 2)
    spin = (6.0 - yaw_rate[:, None] * ys) / np.repeat([CAR.tyre_front.radius, CAR.tyre_rear.radius], 2)
    return make_table(rows, vx=6.0, yaw_rate=yaw_rate, vy=CAR.body.cg_to_rear * yaw_rate, fy=6.0 * yaw_rate, spin=spin,
                      steer_applied=steer, steer=steer, load=3300.0, drive=1.0)  # fmt: skip


def test_a_steer_that_a_game_limits_with_speed_is_found():
    table, truth = bends(0.5)
    plain = replace(table, steer_applied=truth[P.STEER] * table.wheel_angle / 0.6,
                    wheel_angle=np.full(len(table), np.nan))  # fmt: skip
    assert not find_tyres(join_tables([plain, slow_weave()]), CAR, known_lift=True).limited_steer
    limited, _ = limit_steer(table, truth)
    found = find_tyres(join_tables([limited, slow_weave()]), CAR, known_lift=True)
    assert found.limited_steer
    # Nothing was driven between 6 and 15 m/s; a gain of few speeds is a straight line between them.
    shares = np.interp([22.0, 28.0], STEER_SPEEDS, steer_shares(found.fit.value))
    assert shares == pytest.approx(np.interp([22.0, 28.0], [0.0, 15.0, 32.0], [1.0, 1.0, 0.08]), abs=0.12)


def test_fast_driving_with_a_limited_steer_leaves_the_lock_to_the_class():
    limited, _ = limit_steer(*bends(0.5))
    table, lock = limited.take(limited.vx > 20.0), 0.8
    steering = msgspec.structs.replace(CAR.steering, max_angle=lock)
    found = find_tyres(table, msgspec.structs.replace(CAR, steering=steering), known_lift=True)
    assert found.limited_steer
    assert found.deviation[P.STEER] < 0.3 * lock
    assert found.fit.value[P.STEER] == pytest.approx(lock, rel=0.3)
    gain = found.fit.value[P.STEER] * np.interp(28.0, STEER_SPEEDS, steer_shares(found.fit.value))
    assert gain == pytest.approx(0.6 * np.interp(28.0, [0.0, 15.0, 32.0], [1.0, 1.0, 0.08]), abs=0.1)


def test_gentle_bends_leave_the_limit_to_the_class():
    table, _ = bends(0.06)
    table = table.take(np.abs(table.fy) < 3.0)
    found = find_tyres(table, CAR, known_lift=True)
    assert found.used_front < 0.8
    assert found.fit.sigma[P.MU] > 0.1  # m/s^2 of force say little about its peak


def test_a_car_that_only_slid_has_no_tyres():
    """Beside a road that is not the map's no row was left, and none of them could be joined."""
    table, _ = bends(0.06)
    assert find_tyres(replace(table, vy=0.5 * table.vx), CAR, known_lift=True) is None


def test_what_tells_best_where_the_wheels_point():
    table = make_table(50, steer=np.linspace(0.0, 1.0, 50))
    assert steer_signal(table) == "steer"
    assert steer_signal(replace(table, steer_applied=table.steer)) == "steer_applied"
    assert steer_signal(replace(table, wheel_angle=table.steer)) == "wheel_angle"
    assert find_tyres(table, CAR, known_lift=True) is None


def test_a_tyre_follows_over_its_relaxation_length():
    table = make_table(200, vx=10.0)
    step = tyre_forces._lag(table, np.where(np.arange(200) < 50, 0.0, 1.0)[:, None], 0.5)[:, 0]
    assert 0.55 < step[50 + 2] < 0.75  # 0.06 s at 0.5 m over 10 m/s, in steps of 0.02 s
    assert step[-1] == pytest.approx(1.0)
