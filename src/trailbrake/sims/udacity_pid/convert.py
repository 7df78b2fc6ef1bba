"""Between the messages of Udacity's PID build and our state and controls: mph, degrees to the right, its one pedal.

Source: protocol page formula-trend, section 9. The sign of `cte` is that of agents which drive: they steer against it.
"""

import math

from trailbrake.exchange.one_pedal import joined, parted
from trailbrake.sims.udacity_pid import spec
from trailbrake.sims.udacity_pid.codec import Steer, Telemetry
from trailbrake.state import CarState, Controls
from trailbrake.transport.numbers import within
from trailbrake.units import MPH

STANDING = 5.0 * MPH  # below it a pedal under 0 reverses, above it brakes: Unity's standard car


def state_from_wire(message: Telemetry, half_width: float) -> CarState:
    """Return the state behind a telemetry on a road `half_width` m wide to either side of the line."""
    return CarState(
        speed=abs(message.speed) * MPH,
        steer=-math.radians(message.steering_angle) / spec.LOCK,
        throttle=max(message.throttle, 0.0),
        driving_line=within(-message.cte / half_width, 1.0),
    )


def state_to_wire(state: CarState, offset: float, lock: float) -> Telemetry:
    """Return the telemetry that shows `state`, `offset` m left of the line, of a car whose full lock is `lock` rad."""
    angle = -math.degrees(state.steer * lock)
    return Telemetry(-offset, state.speed / MPH, angle, state.throttle, state.time, int(state.lap))


def controls_to_wire(controls: Controls, speed: float) -> Steer:
    """Return the command for `controls` of a car at `speed` m/s."""
    return Steer(-controls.steer, joined(controls, speed, STANDING))


def controls_from_wire(message: Steer, forward: float, lock: float) -> Controls:
    """Return the controls behind a command for a car that rolls at `forward` m/s and whose full lock is `lock` rad."""
    throttle, brake, reverse = parted(message.throttle, forward, STANDING)
    steer = within(-message.steering_angle * spec.LOCK / lock, 1.0)
    return Controls(steer=steer, throttle=throttle, brake=brake, gear=-1 if reverse else None)
