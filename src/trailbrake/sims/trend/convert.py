"""Between Formula Trend's messages and our state and controls: its degrees to the right, its one pedal.

Source: protocol page formula-trend, sections 2 and 4.
"""

import math

from trailbrake.exchange.one_pedal import joined, parted
from trailbrake.sims.trend import spec
from trailbrake.sims.trend.codec import Steer, Telemetry
from trailbrake.state import CarState, Controls, Image, Phase

STANDING = 0.03  # m/s: below it a pedal under 0 reverses, above it brakes


def state_from_wire(message: Telemetry, image: Image | None) -> CarState:
    """Return the state behind a telemetry. `image`: its picture. `sequence`, `age` and lap times are the link's."""
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


def state_to_wire(state: CarState, jpeg: bytes, *, finished: bool) -> Telemetry:
    """Return the telemetry that shows `state` and the camera frame `jpeg`."""
    return Telemetry(
        math.degrees(-state.steer * spec.LOCK),
        state.throttle,
        state.brake,
        state.speed,
        state.time,
        int(state.lap),
        int(finished),
        jpeg,
    )


def controls_to_wire(controls: Controls, speed: float) -> Steer:
    """Return the command for `controls` of a car at `speed` m/s."""
    return Steer(math.degrees(-controls.steer * spec.LOCK), joined(controls, speed, STANDING))


def controls_from_wire(message: Steer, forward: float) -> Controls:
    """Return the controls behind a command for a car that rolls forward at `forward` m/s, negative in reverse."""
    throttle, brake, reverse = parted(message.throttle, forward, STANDING)
    steer = -math.radians(message.steering_angle) / spec.LOCK
    return Controls(steer=steer, throttle=throttle, brake=brake, gear=-1 if reverse else 1)
