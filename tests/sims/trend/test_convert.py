import math

import pytest

from trailbrake.sims.trend import convert
from trailbrake.sims.trend.codec import Steer, Telemetry
from trailbrake.state import CarState, Controls, Phase


def test_right_on_the_wire_is_negative_here():
    state = convert.state_from_wire(Telemetry(20.0, 0.5, 0.0, 1.5, 12.5, 3, 0, b""), None)
    assert (state.steer, state.throttle, state.brake) == (-0.5, 0.5, 0.0)
    assert (state.speed, state.time, state.lap, state.phase) == (1.5, 12.5, 3, Phase.DRIVING)
    assert math.isnan(state.x)


def test_a_negative_throttle_is_a_brake_and_another_status_is_the_end():
    state = convert.state_from_wire(Telemetry(0.0, -0.6, 0.0, 1.5, 12.5, 3, 1, b""), None)
    assert (state.throttle, state.brake, state.phase) == (0.0, 0.6, Phase.FINISHED)
    assert convert.state_from_wire(Telemetry(0.0, 0.0, 0.25, 1.5, 12.5, 3, 0, b""), None).brake == 0.25


@pytest.mark.parametrize(
    ("controls", "speed", "sent"),
    [
        (Controls(steer=1.0, throttle=0.5), 1.0, Steer(-40.0, 0.5)),
        (Controls(steer=-0.25, brake=0.75), 1.0, Steer(10.0, -0.75)),
        (Controls(brake=1.0), 0.0, Steer(0.0, 0.0)),  # held at rest: -1 would reverse
        (Controls(throttle=0.4, gear=-1), 0.0, Steer(0.0, -0.4)),
        (Controls(throttle=0.4, gear=2), 0.0, Steer(0.0, 0.4)),
    ],
)
def test_controls_to_wire(controls, speed, sent):
    assert convert.controls_to_wire(controls, speed) == pytest.approx(sent)


@pytest.mark.parametrize(
    ("sent", "forward", "controls"),
    [
        (Steer(-40.0, 0.5), 1.0, Controls(steer=1.0, throttle=0.5, gear=1)),
        (Steer(20.0, -0.5), 1.0, Controls(steer=-0.5, brake=0.5, gear=1)),
        (Steer(0.0, -0.5), 0.0, Controls(throttle=0.5, gear=-1)),
        (Steer(0.0, -0.5), -0.4, Controls(throttle=0.5, gear=-1)),
        (Steer(0.0, 0.0), -0.4, Controls(gear=1)),
    ],
)
def test_controls_from_wire(sent, forward, controls):
    got = convert.controls_from_wire(sent, forward)
    assert (got.steer, got.throttle, got.brake, got.gear) == pytest.approx(
        (controls.steer, controls.throttle, controls.brake, controls.gear)
    )


def test_what_the_simulator_shows_is_what_the_agent_sees():
    shown = CarState(time=3.25, speed=1.25, steer=-0.5, throttle=0.75, brake=0.0, lap=2)
    message = convert.state_to_wire(shown, b"jpeg", finished=False)
    assert message == pytest.approx(Telemetry(20.0, 0.75, 0.0, 1.25, 3.25, 2, 0, b"jpeg"))
    seen = convert.state_from_wire(message, None)
    assert (seen.steer, seen.speed, seen.lap) == pytest.approx((shown.steer, shown.speed, shown.lap))
