import math

import pytest

from trailbrake.sims.udacity import convert
from trailbrake.sims.udacity.codec import UdacitySteer, UdacityTelemetry
from trailbrake.state import CarState, Controls
from trailbrake.units import MPH

LOCK = 0.58  # rad, of the car in our world


def test_signs_and_units():
    state = convert.state_from_wire(UdacityTelemetry(12.5, 0.25, 30.0, b""), None)
    assert (state.steer, state.throttle) == (-0.5, 0.25)
    assert state.speed == pytest.approx(13.4112)
    assert math.isnan(state.driving_line)


def test_what_our_simulator_shows():
    shown = CarState(time=2.5, speed=13.4112, steer=0.5, throttle=0.25, lap=3)
    message = convert.state_to_wire(shown, b"jpeg", LOCK)
    assert message[:3] == pytest.approx((-math.degrees(0.29), 0.25, 30.0))
    assert message[3:] == (b"jpeg", 2.5, 3)


def test_the_throttle_ends_at_30_mph():
    def throttle(speed):
        return convert.controls_from_wire(UdacitySteer(0.0, 1.0), speed, LOCK).throttle

    assert throttle(20.0 * MPH) == 1.0
    assert 0.0 < throttle(30.0 * MPH - 0.5) < 1.0
    assert throttle(30.0 * MPH) == throttle(50.0 * MPH) == 0.0


def test_controls():
    assert convert.controls_to_wire(Controls(steer=0.5, brake=0.5), pedal=-0.5) == UdacitySteer(-0.5, -0.5)
    got = convert.controls_from_wire(UdacitySteer(0.5, -0.5), 6.0, LOCK)
    assert (got.steer, got.brake, got.gear) == pytest.approx((-math.radians(12.5) / LOCK, 0.5, None))


def test_reversing_and_the_picture():
    assert convert.state_from_wire(UdacityTelemetry(-25.0, -0.5, -30.0, b""), "the frame").image == "the frame"
    back = convert.controls_from_wire(UdacitySteer(0.0, -0.5), -3.0, LOCK)
    assert (back.throttle, back.brake, back.gear) == (0.5, 0.0, -1)
    assert convert.controls_from_wire(UdacitySteer(0.0, -1.0), -30.0 * MPH, LOCK).throttle == 0.0


def test_the_throttle_fades_over_the_last_metre_a_second():
    got = convert.controls_from_wire(UdacitySteer(0.0, 0.8), 30.0 * MPH - 0.25, LOCK)
    assert got.throttle == pytest.approx(0.2)
    assert convert.controls_from_wire(UdacitySteer(0.0, 0.8), 30.0 * MPH - 1.5, LOCK).throttle == 0.8
