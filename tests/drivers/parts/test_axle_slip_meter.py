"""Slips of the axles: by the single-track model, without wheel speeds, and in a shift."""

import math

import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.drivers.parts.axle_slip_meter import AxleSlipMeter
from trailbrake.state import CarState, WheelState

SPEED = 40.0


def braked(car, **more):
    """Return a state whose wheels all turn by a fifth too slowly."""
    spins = [0.8 * SPEED / tyre.radius for tyre in (car.tyre_front, car.tyre_rear) for _ in range(2)]
    wheels = tuple(WheelState(angular_velocity=spin) for spin in spins)
    return CarState(time=1.0, sequence=1, velocity_x=SPEED, **{"yaw_rate": 0.0, "wheels": wheels} | more)


def test_slip_angles_are_those_of_the_single_track_model():
    car = load_car("gt3")
    slips = AxleSlipMeter(car).measure(braked(car, velocity_y=-1.0, yaw_rate=0.5), 0.1, is_shifting=False)
    front, rear = -1.0 + car.body.cg_to_front * 0.5, -1.0 - car.body.cg_to_rear * 0.5
    assert slips.front_angle == pytest.approx(0.1 - math.atan2(front, SPEED))
    assert slips.rear_angle == pytest.approx(-math.atan2(rear, SPEED))


def test_without_wheel_speeds_the_slips_along_the_wheels_are_none():
    car = load_car("gt3")
    state = CarState(time=1.0, sequence=1, velocity_x=SPEED, yaw_rate=0.0)
    slips = AxleSlipMeter(car).measure(state, 0.0, is_shifting=False)
    assert (slips.front_ratio, slips.rear_ratio) == (0.0, 0.0)


@pytest.mark.parametrize(("name", "ratios"), [("gt3", (-0.2, 0.0)), ("hatchback", (0.0, -0.2)),
                                              ("sports_awd", (-0.2, -0.2))])  # fmt: skip
def test_in_a_shift_the_only_driven_axle_says_nothing(name, ratios):
    car = load_car(name)
    meter = AxleSlipMeter(car)
    always = meter.measure(braked(car), 0.0, is_shifting=False)
    assert (always.front_ratio, always.rear_ratio) == pytest.approx((-0.2, -0.2))
    slips = meter.measure(braked(car), 0.0, is_shifting=True)
    assert (slips.front_ratio, slips.rear_ratio) == pytest.approx(ratios)


def locking(meter, state, *, is_shifting=False):
    return meter.measure_locking(state, meter.measure(state, 0.0, is_shifting=is_shifting), is_shifting=is_shifting)


def test_the_wheel_that_locks_first_is_seen_where_no_abs_holds_it():
    car, yaw_rate = load_car("f1"), -0.5
    front, half = car.tyre_front, 0.5 * car.body.track_front
    inner = (SPEED + yaw_rate * half) * (1.0 - 0.9 * front.peak_slip_ratio) / front.radius
    spins = (SPEED / front.radius, inner, SPEED / car.tyre_rear.radius, SPEED / car.tyre_rear.radius)
    wheels = tuple(WheelState(angular_velocity=spin) for spin in spins)
    state = braked(car, yaw_rate=yaw_rate, velocity_y=0.0, wheels=wheels)
    assert locking(AxleSlipMeter(car), state) == pytest.approx(0.9, abs=0.03)
    unknown = braked(car, velocity_y=0.0, wheels=CarState(time=1.0, sequence=1).wheels)
    assert locking(AxleSlipMeter(car), unknown) == 0.0
    assert load_car("gt3").brakes.abs
    assert locking(AxleSlipMeter(load_car("gt3")), state) == 0.0


def test_what_driven_wheels_slip_in_a_shift_is_no_slip_of_braking():
    car = load_car("f1")
    assert car.drive.front_share == 0.0
    meter, all_braked = AxleSlipMeter(car), braked(car, velocity_y=0.0)
    rolling = WheelState(angular_velocity=SPEED / car.tyre_front.radius)
    only_rear = braked(car, velocity_y=0.0, wheels=(rolling, rolling, *all_braked.wheels[2:]))
    assert locking(meter, only_rear) > 1.0
    assert locking(meter, only_rear, is_shifting=True) == pytest.approx(0.0, abs=1e-12)
    assert locking(meter, all_braked, is_shifting=True) > 1.0
