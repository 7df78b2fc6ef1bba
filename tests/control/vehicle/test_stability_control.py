"""Stability control: signs, bounds, and that it leaves alone what does not slide."""

import math

import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.control.vehicle.slip_limit import SPIN_END
from trailbrake.control.vehicle.stability_control import StabilityControl
from trailbrake.state import CarState, Controls

CAR = load_car("gt3")
SPEED = 30.0


def sliding(slip, *, rate=0.0, speed=SPEED):
    """The state of a car whose rear axle slips by `slip` of its peak to the left, turning left at `rate` (rad/s)."""
    aside = speed * math.tan(slip * CAR.tyre_rear.peak_slip_angle) + CAR.body.cg_to_rear * rate
    return CarState(speed=speed, velocity_x=speed, velocity_y=aside, yaw_rate=rate)


@pytest.mark.parametrize("slip", [-0.99, -0.3, 0.0, 0.5, 0.99, math.nan])
def test_what_does_not_slide_is_not_touched(slip):
    control, wanted = StabilityControl(CAR), Controls(steer=-0.4, throttle=1.0)
    assert control.limit_controls(sliding(slip), wanted) is wanted
    assert control.limit_controls(sliding(3.0, speed=3.0), wanted) is wanted


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_sliding_rear_gets_less_throttle_and_less_steering_into_the_bend_and_is_countersteered(side):
    control, lock = StabilityControl(CAR), CAR.full_steer_angle(SPEED)
    state = sliding(side * 1.3, rate=-0.3 * side)  # to the left in a bend to the right
    flow = math.atan2(state.velocity_y + CAR.body.cg_to_front * state.yaw_rate, SPEED)
    limited = control.limit_controls(state, Controls(steer=-0.5 * side, throttle=0.8, brake=0.1))
    assert limited.throttle == pytest.approx(0.8 * (SPIN_END - 1.3) / (SPIN_END - 1.0))
    assert side * limited.steer * lock == pytest.approx(side * flow - 0.5 * CAR.tyre_front.peak_slip_angle)
    assert limited.brake == 0.1
    spinning = control.limit_controls(sliding(side * 2.5, rate=-0.3 * side), Controls(throttle=1.0))
    assert (spinning.throttle, side * spinning.steer > 0.0) == (0.0, True)


def test_slides_in_which_it_acts_are_counted():
    control, wanted = StabilityControl(CAR), Controls(throttle=1.0)
    for slip in (0.5, 1.2, 1.4, 0.5, 1.3, 0.2):
        control.limit_controls(sliding(slip), wanted)
    assert control.slides == 2
    control.limit_controls(sliding(1.2), Controls(steer=0.9))  # the driver countersteers: there is nothing to do
    assert control.slides == 2


def test_countersteering_stays_free_and_driven_front_wheels_keep_their_throttle():
    countered = Controls(steer=0.9, throttle=0.0)
    assert StabilityControl(CAR).limit_controls(sliding(1.5), countered) == countered
    front = StabilityControl(load_car("hatchback"))
    assert front.limit_controls(sliding(2.5), Controls(throttle=0.7)).throttle == 0.7
