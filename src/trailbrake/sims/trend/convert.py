"""Conversion between Formula Trend's messages and state and controls: degrees to the right, one pedal.

Source: protocol page formula-trend, sections 2 and 4.
"""

import math

from trailbrake.event_sims.one_pedal import PedalCar, split_pedal
from trailbrake.sims.trend import spec
from trailbrake.sims.trend.codec import TrendSteer, TrendTelemetry
from trailbrake.state import CarState, Controls, Image, Phase

STANDSTILL_SPEED = 0.03  # m/s: below it a pedal under 0 reverses, above it brakes
PEDAL_CAR = PedalCar(STANDSTILL_SPEED, spec.MAX_DECELERATION)


def state_from_wire(message: TrendTelemetry, image: Image | None) -> CarState:
    """Return the state of a telemetry with its `image`. The link fills in `sequence`, `age` and lap times."""
    return CarState(
        time=message.time,
        phase=Phase.DRIVING if message.status == 0 else Phase.FINISHED,
        speed=message.speed,
        steer=-math.radians(message.steering_angle) / spec.LOCK,
        throttle=max(message.throttle, 0.0),
        brake=max(message.brakes, -message.throttle, 0.0),
        lap=message.lap,
        image=image,
    )


def state_to_wire(state: CarState, jpeg: bytes, *, finished: bool) -> TrendTelemetry:
    """Return the telemetry of `state` and the camera frame `jpeg`."""
    return TrendTelemetry(
        math.degrees(-state.steer * spec.LOCK),
        state.throttle,
        state.brake,
        state.speed,
        state.time,
        int(state.lap),
        int(finished),
        jpeg,
    )


def controls_to_wire(controls: Controls, *, pedal: float) -> TrendSteer:
    """Return the command for `controls` whose throttle and brake are `pedal`; see `one_pedal.combine_pedals`."""
    return TrendSteer(math.degrees(-controls.steer * spec.LOCK), pedal)


def controls_from_wire(message: TrendSteer, forward_speed: float) -> Controls:
    """Return the controls of a command for a car that rolls forward at `forward_speed` m/s, negative in reverse."""
    throttle, brake, reverse = split_pedal(message.throttle, forward_speed, STANDSTILL_SPEED)
    steer = -math.radians(message.steering_angle) / spec.LOCK
    return Controls(steer=steer, throttle=throttle, brake=brake, gear=-1 if reverse else 1)
