"""The pedals against the car's own data and against the world's engine: what is asked for is what comes."""

import math

import msgspec
import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.cars.learned import Uncertainty
from trailbrake.control.vehicle.drivetrain_inverse import MOST_BALANCE, DrivetrainInverse
from trailbrake.units import RPM
from trailbrake.world.param_packing import engine_map, pack_car
from trailbrake.world.row_layout import ParamRow, WorkRow

CARS = ("gt3", "hatchback")


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
