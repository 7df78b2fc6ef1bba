import math

import msgspec
import numpy as np
import pytest
from msgspec import structs

from trailbrake.cars.car_library import car_names, load_car
from trailbrake.cars.learned import Uncertainty
from trailbrake.control.vehicle.drivetrain import (
    HYSTERESIS,
    LAUNCH_SHARE,
    LAUNCH_SPEEDS,
    LAUNCH_TIME,
    MOST_BALANCE,
    REV_MARGIN,
    ROLLING_SHARE,
    SHIFT_PATIENCE,
    SHIFT_SLIP_TIME,
    DrivetrainInverse,
    GearRequester,
    LaunchClutch,
    choose_gear,
    upshift_speeds,
)
from trailbrake.state import CarState
from trailbrake.units import RPM
from trailbrake.world.param_packing import engine_map, pack_car
from trailbrake.world.row_layout import ParamRow, WorkRow

CARS = ("gt3", "hatchback")


@pytest.mark.parametrize("name", car_names())
def test_up_shifts_come_in_order_and_before_the_limiter(name):
    car = load_car(name)
    shifts = upshift_speeds(car)
    assert len(shifts) == car.gearbox.top_gear - 1
    assert list(shifts) == sorted(shifts)
    for gear, v in enumerate(shifts, 1):
        assert car.engine_speed(v, gear) <= 1.0001 * REV_MARGIN * car.engine.limiter_rpm * RPM


@pytest.mark.parametrize("name", car_names())
def test_at_an_up_shift_the_next_gear_pulls_harder_or_the_revs_run_out(name):
    car = load_car(name)
    for gear, v in enumerate(upshift_speeds(car), 1):
        at_the_end = car.engine_speed(v, gear) > 0.999 * REV_MARGIN * car.engine.limiter_rpm * RPM
        assert at_the_end or car.drive_force(v, gear + 1) > car.drive_force(v, gear)
        assert car.drive_force(0.9 * v, gear + 1) < car.drive_force(0.9 * v, gear)


def test_a_dip_in_the_torque_is_no_reason_to_shift_early():
    car = load_car("gt3")
    torque = list(car.engine.torque)
    dip = len(torque) // 2
    torque[dip] *= 0.6
    assert upshift_speeds(structs.replace(car, engine=structs.replace(car.engine, torque=tuple(torque)))) == (
        pytest.approx(upshift_speeds(car), rel=0.02)
    )


@pytest.mark.parametrize("name", car_names())
def test_all_gears_up_and_down_one_step_at_a_time_without_hunting(name):
    car = load_car(name)
    shifts = upshift_speeds(car)
    gear, seen = 1, [1]
    fastest = 1.05 * shifts[-1] if shifts else 40.0
    for v in [*np.linspace(0.0, fastest, 900), *np.linspace(fastest, 0.0, 900)]:
        wanted = choose_gear(v, gear, shifts)
        assert abs(wanted - gear) <= 1
        assert choose_gear(v, wanted, shifts) == wanted, "hunts at a steady speed"
        if wanted != gear:
            seen.append(wanted)
        gear = wanted
    up = list(range(1, car.gearbox.top_gear + 1))
    assert seen == [*up, *up[-2::-1]]


def test_the_way_down_comes_later_than_the_way_up():
    shifts = (10.0, 20.0)
    assert choose_gear(10.1, 1, shifts) == 2
    assert choose_gear(9.9, 2, shifts) == 2
    assert choose_gear(HYSTERESIS * 10.0 - 0.1, 2, shifts) == 1
    assert choose_gear(99.0, 3, shifts) == 3


@pytest.mark.parametrize("gear", [-1, 0])
def test_out_of_gear_asks_for_first(gear):
    assert choose_gear(30.0, gear, (10.0, 20.0)) == 1


def test_a_car_with_one_gear_stays_in_it():
    assert choose_gear(50.0, 1, ()) == 1


def test_a_gear_that_the_model_of_the_car_does_not_have_leads_down():
    assert choose_gear(8.0, 5, (10.0, 20.0)) == 4
    assert choose_gear(8.0, 2, ()) == 1


def drive_late_gearbox(request, delay_s, seconds=8.0):
    """Return the gears of a car that coasts while it shifts and gets requests `delay_s` late; `request` is a function
    of speed, gear and dt."""
    dt, shift_s = 0.01, 0.08
    pending, gears = [3] * round(delay_s / dt), []
    speed, gear, target, left = 50.0, 3, 3, 0.0
    for _ in range(round(seconds / dt)):
        pending.append(request(speed, gear, dt))
        wanted = pending.pop(0)
        if left <= 0.0 and wanted != gear:
            target, left = wanted, shift_s
        if left > 0.0:
            left -= dt
            gear = target if left <= 0.0 else gear
        speed += (-2.0 if left > 0.0 else 2.0) * dt
        gears.append(gear)
    return gears


def test_a_late_gearbox_shifts_up_once():
    """With a delay the gear that is engaged is no ground for the next request: it hunts, as seen with 40 ms."""
    shifts = (20.0, 35.0, 52.0)
    hunting = drive_late_gearbox(lambda speed, gear, dt: choose_gear(speed, gear, shifts), 0.04)
    assert np.count_nonzero(np.diff(hunting)) > 4
    for delay_s in (0.0, 0.04, 0.2):
        selector = GearRequester(shifts)
        assert np.count_nonzero(np.diff(drive_late_gearbox(selector.choose, delay_s))) == 1


def test_a_gear_that_is_refused_or_put_in_by_others_is_taken_for_what_it_is():
    selector = GearRequester((20.0, 35.0, 52.0))
    assert selector.choose(40.0, 3, 0.01) == 3
    assert selector.choose(53.0, 3, 0.01) == 4
    assert selector.choose(50.0, 3, 0.9 * SHIFT_PATIENCE) == 4
    assert selector.choose(50.0, 3, 0.2 * SHIFT_PATIENCE) == 3
    assert selector.choose(45.0, 2, 2.0 * SHIFT_PATIENCE) == 3


def test_driven_wheels_slip_by_a_shift_until_a_moment_after_the_gear_is_reported():
    selector = GearRequester((20.0, 35.0, 52.0))
    for _ in range(100):
        selector.choose(40.0, 3, 0.01)
    assert not selector.is_shifting
    assert selector.choose(30.0, 3, 0.01) == 2
    selector.choose(30.0, 3, 0.01)
    assert selector.is_shifting
    selector.choose(30.0, 2, 0.9 * SHIFT_SLIP_TIME)
    assert selector.is_shifting
    selector.choose(30.0, 2, 0.2 * SHIFT_SLIP_TIME)
    assert not selector.is_shifting


def speeds(car, gear):
    """Return speeds (m/s) from well above idle to just below the limiter in `gear`."""
    per_rpm = RPM * car.driven_radius / car.gearbox.overall_ratio(gear)
    return np.linspace(1.3 * car.engine.idle_rpm, 0.98 * car.engine.limiter_rpm, 7) * per_rpm


def world_s_torque(car, speed, throttle):
    """Return the crankshaft torque (N m) that the world's own numbers give at `speed` (rad/s), without boost lag."""
    column, torques = pack_car(car, tyre_heat=False), engine_map(car)

    def value(row):
        return column[row - WorkRow.COUNT]

    full = np.interp(speed * value(ParamRow.MAP_POINTS_PER_SPEED), np.arange(len(torques)), torques)
    drag = value(ParamRow.ENGINE_DRAG) + value(ParamRow.ENGINE_DRAG_SLOPE) * speed
    return throttle * full - (1.0 - throttle) * drag


def points():
    return [(name, gear) for name in CARS for gear in (1, 3, load_car(name).gearbox.top_gear)]


@pytest.mark.parametrize(("name", "gear"), points())
def test_full_force_is_full_throttle(name, gear):
    car = load_car(name)
    pedals = DrivetrainInverse(car)
    for v in speeds(car, gear):
        most = car.drive_force(v, gear)
        assert pedals.pedals_for_force(most, v, gear) == (pytest.approx(1.0), 0.0)
        assert pedals.pedals_for_force(2.0 * most, v, gear) == (1.0, 0.0)


@pytest.mark.parametrize(("name", "gear"), points())
@pytest.mark.parametrize("share", [0.0, 0.3, 0.7])
def test_the_world_s_engine_gives_what_was_asked_for(name, gear, share):
    car = load_car(name)
    pedals = DrivetrainInverse(car)
    ratio = car.gearbox.overall_ratio(gear) * car.gearbox.efficiency / car.driven_radius
    for v in speeds(car, gear):
        wanted = share * car.drive_force(v, gear)
        throttle, brake = pedals.pedals_for_force(wanted, v, gear)
        given = world_s_torque(car, car.engine_speed(v, gear), throttle) * ratio
        assert brake == 0.0
        assert given == pytest.approx(wanted, abs=0.01 * car.drive_force(v, gear))


@pytest.mark.parametrize("name", CARS)
def test_brakes_give_what_was_asked_for_and_the_engine_does_not_drag(name):
    car = load_car(name)
    pedals = DrivetrainInverse(car)
    full = car.brakes.torque_front / car.tyre_front.radius + car.brakes.torque_rear / car.tyre_rear.radius
    for v in speeds(car, 3):
        throttle, brake = pedals.pedals_for_force(-0.4 * full, v, 3)
        assert brake == pytest.approx(0.4)
        idle = world_s_torque(car, car.engine_speed(v, 3), throttle)
        assert idle == pytest.approx(0.0, abs=0.005 * max(car.engine.torque))
    assert pedals.pedals_for_force(-3.0 * full, 30.0, 3)[1] == 1.0


@pytest.mark.parametrize("wrong", [0.7, 1.0, 1.3])
def test_beside_the_brakes_an_engine_that_is_uncertain_never_pulls(wrong):
    truth = load_car("f1")
    engine = msgspec.structs.replace(truth.engine, torque=tuple(t / wrong for t in truth.engine.torque))
    doubt = Uncertainty(source="test", lateral_grip=0.05, braking=0.05, drive_force=0.17, downforce=0.1,
                        steer_angle=0.02, delay=0.01)  # fmt: skip
    pedals = DrivetrainInverse(msgspec.structs.replace(truth, engine=engine, uncertainty=doubt))
    for v in speeds(truth, 3):
        throttle, _ = pedals.pedals_for_force(-0.3 * truth.full_brake_force, v, 3)
        assert world_s_torque(truth, truth.engine_speed(v, 3), throttle) <= 0.0


def test_a_car_file_with_an_impossible_engine_drag_does_not_make_the_brakes_fight_the_throttle():
    gt3 = load_car("gt3")
    engine = msgspec.structs.replace(gt3.engine, braking_torque_idle=400.0, braking_torque_limiter=400.0)
    pedals = DrivetrainInverse(msgspec.structs.replace(gt3, engine=engine))
    assert pedals.pedals_for_force(-5000.0, 30.0, 3)[0] == MOST_BALANCE
    assert pedals.pedals_for_force(100.0, 30.0, 3)[0] > MOST_BALANCE


@pytest.mark.parametrize("name", CARS)
@pytest.mark.parametrize("speed", [0.0, 0.5, 300.0])
def test_pedals_stay_pedals_where_no_engine_turns(name, speed):
    car = load_car(name)
    for force in (-1e6, -1.0, 0.0, 1.0, 1e6):
        throttle, brake = DrivetrainInverse(car).pedals_for_force(force, speed, 1)
        assert 0.0 <= throttle <= 1.0
        assert 0.0 <= brake <= 1.0
        assert not (force < 0.0) ^ (brake > 0.0)


def test_engine_torques_at_their_two_ends():
    engine = load_car("gt3").engine
    pedals = DrivetrainInverse(load_car("gt3"))
    assert pedals.engine_torques(0.0)[1] == engine.braking_torque_idle
    limit = engine.limiter_rpm * RPM
    assert pedals.engine_torques(limit)[1] == pytest.approx(engine.braking_torque_limiter)
    assert math.isfinite(pedals.engine_torques(10.0 * limit)[0])


def test_the_rev_counter_counts_where_it_shows_more_than_the_road_does():
    car = load_car("gt3")
    pedals = DrivetrainInverse(car)
    rolling = pedals.pedals_for_force(3000.0, 2.0, 1)
    assert pedals.pedals_for_force(3000.0, 2.0, 1, math.nan) == rolling
    assert pedals.pedals_for_force(3000.0, 2.0, 1, 0.0) == rolling  # an engine that says it stands
    fastest = car.engine.rpm[car.engine.torque.index(max(car.engine.torque))] * RPM
    assert pedals.pedals_for_force(3000.0, 2.0, 1, fastest)[0] < rolling[0]


def at_start(rpm, wheel_speed=0.0, gear=1):
    state = CarState(gear=gear, engine_speed=rpm * RPM, speed=0.0)
    for wheel in state.wheels:
        wheel.angular_velocity = wheel_speed
    return state


def test_at_the_start_the_clutch_carries_what_the_throttle_is_to_give_from_nothing_up():
    car = load_car("f1")
    launch = LaunchClutch(car)
    full, drag = DrivetrainInverse(car).engine_torques(5000.0 * RPM)
    throttle, clutch = launch.hold(0.5, at_start(5000.0), 0.0)
    assert (throttle, clutch) == (pytest.approx(drag / (full + drag)), 1.0)
    held = [launch.hold(0.5, at_start(5000.0), 0.1 * LAUNCH_TIME) for _ in range(8)]
    carried = [(1.0 - clutch) * car.gearbox.clutch_torque for _, clutch in held]
    assert carried[:2] == pytest.approx([0.1 * full, 0.2 * full])
    assert carried[-1] == carried[-2] == pytest.approx(LAUNCH_SHARE * (0.5 * (full + drag) - drag))
    assert [throttle * (full + drag) - drag for throttle, _ in held] == pytest.approx(carried)
    less = (1.0 - launch.hold(0.2, at_start(5000.0), 0.001)[1]) * car.gearbox.clutch_torque
    assert less == pytest.approx(LAUNCH_SHARE * (0.2 * (full + drag) - drag)), "falls at once"
    for speed, share in ((LAUNCH_SPEEDS[0], LAUNCH_SHARE), (LAUNCH_SPEEDS[1], ROLLING_SHARE), (15.0, ROLLING_SHARE)):
        state = at_start(5000.0)
        state.speed = speed
        rolling = [(1.0 - launch.hold(0.5, state, 0.1)[1]) * car.gearbox.clutch_torque for _ in range(8)]
        assert rolling[-1] == pytest.approx(share * (0.5 * (full + drag) - drag)), "more once it rolls"


@pytest.mark.parametrize(
    ("name", "rpm", "slips", "gear"),
    [("gt3", 5000.0, True, 1), ("kart", 5000.0, True, 1), ("f1", 5000.0, False, 1), ("f1", 5000.0, True, 2),
     ("f1", math.nan, True, 1)],
)  # fmt: skip
def test_the_clutch_is_left_alone_where_it_does_not_slip_or_the_wheels_do_not_need_it(name, rpm, slips, gear):
    car = load_car(name)
    wheel_speed = 0.0 if slips else rpm * RPM / car.gearbox.overall_ratio(1)
    assert LaunchClutch(car).hold(0.8, at_start(rpm, wheel_speed, gear), 0.1) == (0.8, 0.0)


def test_a_gear_is_kept_as_long_as_its_caller_wants_and_a_higher_one_is_not_refused():
    selector = GearRequester((20.0, 35.0, 52.0))
    assert [selector.choose(15.0, 3, 0.01, keeps_gear=keeps) for keeps in (True, True, False)] == [3, 3, 2]
    assert GearRequester((20.0, 35.0, 52.0)).choose(40.0, 2, 0.01, keeps_gear=True) == 3
