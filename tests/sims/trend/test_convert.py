import math

import pytest

from trailbrake.event_sims.one_pedal import combine_pedals
from trailbrake.sims.trend import convert
from trailbrake.sims.trend.codec import TrendSteer, TrendTelemetry
from trailbrake.state import CarState, Controls, Phase


def test_a_negative_throttle_is_a_brake_and_another_status_is_the_end():
    state = convert.state_from_wire(TrendTelemetry(0.0, -0.6, 0.0, 1.5, 12.5, 3, 1, b""), None)
    assert (state.throttle, state.brake, state.phase) == (0.0, 0.6, Phase.FINISHED)
    assert convert.state_from_wire(TrendTelemetry(0.0, 0.0, 0.25, 1.5, 12.5, 3, 0, b""), None).brake == 0.25


@pytest.mark.parametrize(
    ("controls", "speed", "sent"),
    [
        (Controls(steer=1.0, throttle=0.5), 1.0, TrendSteer(-40.0, 0.5)),
        (Controls(steer=-0.25, brake=0.75), 1.0, TrendSteer(10.0, -0.75)),
        (Controls(brake=1.0), 0.0, TrendSteer(0.0, 0.0)),  # held at rest: -1 would reverse
        (Controls(throttle=0.4, gear=-1), 0.0, TrendSteer(0.0, -0.4)),
        (Controls(throttle=0.4, gear=2), 0.0, TrendSteer(0.0, 0.4)),
    ],
)
def test_controls_to_wire(controls, speed, sent):
    pedal = combine_pedals(controls, speed, convert.PEDAL_CAR)
    assert convert.controls_to_wire(controls, pedal=pedal) == pytest.approx(sent)


@pytest.mark.parametrize(
    ("sent", "forward", "controls"),
    [
        (TrendSteer(-40.0, 0.5), 1.0, Controls(steer=1.0, throttle=0.5, gear=1)),
        (TrendSteer(20.0, -0.5), 1.0, Controls(steer=-0.5, brake=0.5, gear=1)),
        (TrendSteer(0.0, -0.5), 0.0, Controls(throttle=0.5, gear=-1)),
        (TrendSteer(0.0, -0.5), -0.4, Controls(throttle=0.5, gear=-1)),
        (TrendSteer(0.0, 0.0), -0.4, Controls(gear=1)),
    ],
)
def test_controls_from_wire(sent, forward, controls):
    got = convert.controls_from_wire(sent, forward)
    assert (got.steer, got.throttle, got.brake, got.gear) == pytest.approx(
        (controls.steer, controls.throttle, controls.brake, controls.gear)
    )


def test_every_field_of_a_telemetry():
    shown = CarState(time=3.25, speed=1.25, steer=0.25, throttle=0.75, brake=0.5, lap=2.0)
    message = convert.state_to_wire(shown, b"jpeg", finished=True)
    assert message == pytest.approx(TrendTelemetry(-10.0, 0.75, 0.5, 1.25, 3.25, 2, 1, b"jpeg"))
    assert type(message.lap) is int
    assert type(message.status) is int
    seen = convert.state_from_wire(message, "the frame")
    assert (seen.time, seen.phase, seen.speed, seen.lap, seen.image) == (3.25, Phase.FINISHED, 1.25, 2, "the frame")
    assert (seen.steer, seen.throttle, seen.brake) == pytest.approx((0.25, 0.75, 0.5))  # right is the wire's positive
    assert math.isnan(seen.x)


@pytest.mark.parametrize(("speed", "pedal"), [(0.03, 0.0), (0.0301, -1.0)])
def test_a_car_stands_below_three_centimetres_a_second(speed, pedal):
    assert combine_pedals(Controls(brake=1.0), speed, convert.PEDAL_CAR) == pedal
    assert convert.controls_from_wire(TrendSteer(0.0, -1.0), speed).gear == (-1 if pedal == 0.0 else 1)
