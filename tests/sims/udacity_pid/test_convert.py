import math

import pytest

from trailbrake.event_sims.one_pedal import UNITY_CAR, combine_pedals
from trailbrake.sims.udacity_pid import convert
from trailbrake.sims.udacity_pid.codec import UdacityPidSteer, UdacityPidTelemetry
from trailbrake.state import CarState, Controls

LOCK = 0.58  # rad, of the car in our world


def test_signs_and_units():
    # Right of the line by 1 m of 4, wheels turned 12.5 of 25 degrees to the right, 30 mph = 13.4112 m/s.
    state = convert.state_from_wire(UdacityPidTelemetry(1.0, 30.0, 12.5, 0.25), 4.0)
    assert (state.driving_line, state.steer, state.throttle) == (-0.25, -0.5, 0.25)
    assert state.speed == pytest.approx(13.4112)
    assert math.isnan(state.x)
    assert convert.state_from_wire(UdacityPidTelemetry(-9.0, 0.0, 0.0, 0.0), 4.0).driving_line == 1.0


def test_what_our_simulator_shows():
    shown = CarState(time=2.5, speed=13.4112, steer=0.5, throttle=0.25, lap=3)
    message = convert.state_to_wire(shown, 1.5, LOCK)
    assert message == pytest.approx(UdacityPidTelemetry(-1.5, 30.0, -math.degrees(0.29), 0.25, 2.5, 3))
    seen = convert.state_from_wire(message, 4.0)
    # The same angle, as a share of another lock.
    assert seen.steer * math.radians(25.0) == pytest.approx(shown.steer * LOCK)
    assert (seen.speed, seen.driving_line) == pytest.approx((shown.speed, 0.375))


@pytest.mark.parametrize(
    ("controls", "speed", "sent"),
    [
        (Controls(steer=0.5, throttle=0.5), 5.0, UdacityPidSteer(-0.5, 0.5)),
        (Controls(brake=0.75), 5.0, UdacityPidSteer(0.0, -0.75)),
        (Controls(brake=1.0), 1.0, UdacityPidSteer(0.0, 0.0)),  # below 5 mph it would reverse
        (Controls(throttle=0.4, gear=-1), 0.0, UdacityPidSteer(0.0, -0.4)),
    ],
)
def test_controls_to_wire(controls, speed, sent):
    pedal = combine_pedals(controls, speed, UNITY_CAR)
    assert convert.controls_to_wire(controls, pedal=pedal) == pytest.approx(sent)


@pytest.mark.parametrize(
    ("sent", "forward", "steer", "throttle", "brake", "gear"),
    [
        (UdacityPidSteer(-1.0, 0.5), 5.0, math.radians(25.0) / LOCK, 0.5, 0.0, None),
        (UdacityPidSteer(0.2, -0.5), 5.0, -math.radians(5.0) / LOCK, 0.0, 0.5, None),
        (UdacityPidSteer(0.0, -0.5), 0.1, 0.0, 0.5, 0.0, -1),
        (UdacityPidSteer(0.0, -0.5), -3.0, 0.0, 0.5, 0.0, -1),
    ],
)
def test_controls_from_wire(sent, forward, steer, throttle, brake, gear):
    got = convert.controls_from_wire(sent, forward, LOCK)
    assert (got.steer, got.throttle, got.brake) == pytest.approx((steer, throttle, brake))
    assert got.gear == gear


def test_the_line_of_a_car_that_reverses_or_is_far_beside_it():
    assert convert.state_from_wire(UdacityPidTelemetry(0.5, -30.0, 0.0, -0.5), 4.0).driving_line == -0.125
    assert convert.state_from_wire(UdacityPidTelemetry(9.0, 0.0, 0.0, 0.0), 4.0).driving_line == -1.0
    assert type(convert.state_to_wire(CarState(speed=1.0, steer=0.0, throttle=0.0, lap=3.0), 0.0, LOCK).lap) is int
