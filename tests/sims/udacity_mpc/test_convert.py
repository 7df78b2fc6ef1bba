import math

import pytest

from trailbrake.sims.udacity_mpc import convert
from trailbrake.sims.udacity_mpc.codec import UdacityMpcSteer, UdacityMpcTelemetry
from trailbrake.state import CarState, Controls

LOCK = 0.58  # rad, of the car in our world


def test_signs_and_units():
    message = UdacityMpcTelemetry(
        (1.0, 2.0), (3.0, 4.0), -40.0, 108.0, 1.5 * math.pi, math.pi, 30.0, math.radians(12.5), 0.25
    )
    state = convert.state_from_wire(message)
    assert (state.x, state.y, state.line_ahead) == (-40.0, 108.0, ((1.0, 3.0), (2.0, 4.0)))
    assert state.yaw == pytest.approx(-0.5 * math.pi)
    assert (state.speed, state.steer, state.throttle) == pytest.approx((13.4112, -0.5, 0.25))


def test_what_our_simulator_shows_is_what_the_agent_sees():
    shown = CarState(time=2.5, x=5.0, y=-3.0, yaw=-0.25 * math.pi, speed=10.0, steer=0.3, throttle=0.5, lap=2,
                     line_ahead=((6.0, -4.0), (16.0, -9.0)))  # fmt: skip
    message = convert.state_to_wire(shown, LOCK)
    assert message.psi == pytest.approx(1.75 * math.pi)
    assert message.psi_unity == pytest.approx(0.75 * math.pi)  # 90 degrees less psi
    assert message.steering_angle == pytest.approx(-0.3 * LOCK)
    seen = convert.state_from_wire(message)
    assert (seen.x, seen.y, seen.yaw, seen.speed) == pytest.approx((5.0, -3.0, -0.25 * math.pi, 10.0))
    assert seen.line_ahead == shown.line_ahead


def test_the_yellow_line_is_where_the_waypoints_are_seen_from_the_car():
    # Heading along the map's y axis: what lies 10 m up the map is 10 m ahead, 2 m down x is 2 m to the left.
    state = CarState(x=100.0, y=50.0, yaw=0.5 * math.pi, speed=5.0, line_ahead=((98.0, 60.0),))
    sent = convert.controls_to_wire(Controls(steer=0.5, throttle=0.4), state, pedal=0.4)
    assert (sent.steering_angle, sent.throttle) == (-0.5, 0.4)
    assert (*sent.next_x, *sent.next_y) == pytest.approx((10.0, 2.0))
    assert (sent.mpc_x, sent.mpc_y) == ((), ())


def test_controls_from_wire():
    got = convert.controls_from_wire(UdacityMpcSteer(0.5, -0.5), 6.0, LOCK)
    assert (got.steer, got.throttle, got.brake, got.gear) == pytest.approx((-math.radians(12.5) / LOCK, 0.0, 0.5, None))
    assert convert.controls_from_wire(UdacityMpcSteer(0.0, -0.5), 0.0, LOCK).gear == -1


def test_every_field_of_a_telemetry():
    shown = CarState(time=2.5, x=5.0, y=-3.0, yaw=0.5, speed=13.4112, steer=0.3, throttle=0.5, lap=2.0,
                     line_ahead=((6.0, -4.0), (16.0, -9.0)))  # fmt: skip
    message = convert.state_to_wire(shown, LOCK)
    assert message[:2] == ((6.0, 16.0), (-4.0, -9.0))
    assert message[2:] == pytest.approx((5.0, -3.0, 0.5, 0.5 * math.pi - 0.5, 30.0, -0.3 * LOCK, 0.5, 2.5, 2))
    assert type(message.lap) is int


def test_the_yellow_line_of_a_car_that_heads_anywhere():
    state = CarState(x=1.0, y=2.0, yaw=0.25, speed=5.0, line_ahead=((4.0, 6.0), (1.0, 3.0)))
    sent = convert.controls_to_wire(Controls(), state, pedal=0.0)
    c, s = math.cos(0.25), math.sin(0.25)
    assert sent.next_x == pytest.approx((3.0 * c + 4.0 * s, s))
    assert sent.next_y == pytest.approx((4.0 * c - 3.0 * s, c))
