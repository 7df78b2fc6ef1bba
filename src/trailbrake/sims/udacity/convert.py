"""Between the messages of Udacity's first term and our state and controls: mph, degrees to the right, its one pedal.

Source: protocol page formula-trend, section 9.
"""

import math

from trailbrake.exchange.one_pedal import joined, parted
from trailbrake.sims.udacity import spec
from trailbrake.sims.udacity.codec import Steer, Telemetry
from trailbrake.state import CarState, Controls, Image
from trailbrake.transport.numbers import within
from trailbrake.units import MPH

STANDING = 5.0 * MPH  # below it a pedal under 0 reverses, above it brakes: Unity's standard car
_EASE = 1.0  # m/s below the top speed from which the throttle is taken back


def state_from_wire(message: Telemetry, image: Image | None) -> CarState:
    """Return the state behind a telemetry. `image`: its picture."""
    return CarState(
        speed=abs(message.speed) * MPH,
        steer=-math.radians(message.steering_angle) / spec.LOCK,
        throttle=max(message.throttle, 0.0),
        image=image,
    )


def state_to_wire(state: CarState, jpeg: bytes, lock: float) -> Telemetry:
    """Return the telemetry that shows `state` and the frame `jpeg` of a car whose full lock is `lock` rad."""
    angle = -math.degrees(state.steer * lock)
    return Telemetry(angle, state.throttle, state.speed / MPH, jpeg, state.time, int(state.lap))


def controls_to_wire(controls: Controls, speed: float) -> Steer:
    """Return the command for `controls` of a car at `speed` m/s."""
    return Steer(-controls.steer, joined(controls, speed, STANDING))


def controls_from_wire(message: Steer, forward: float, lock: float) -> Controls:
    """Return the controls behind a command for a car that rolls at `forward` m/s and whose full lock is `lock` rad."""
    throttle, brake, reverse = parted(message.throttle, forward, STANDING)
    throttle *= within(max(spec.TOP_SPEED - abs(forward), 0.0) / _EASE, 1.0)
    steer = within(-message.steering_angle * spec.LOCK / lock, 1.0)
    return Controls(steer=steer, throttle=throttle, brake=brake, gear=-1 if reverse else None)
