"""Between the messages of Udacity's MPC build and our state and controls: mph, angles to the right, its one pedal.

Source: protocol page formula-trend, section 9. Its map seen from above is a world frame of ours as it is.
"""

import math

from trailbrake.exchange.one_pedal import joined, parted
from trailbrake.sims.udacity_mpc import spec
from trailbrake.sims.udacity_mpc.codec import Steer, Telemetry
from trailbrake.state import CarState, Controls
from trailbrake.transport.numbers import within
from trailbrake.units import MPH, wrap_angle

STANDING = 5.0 * MPH  # below it a pedal under 0 reverses, above it brakes: Unity's standard car
_TURN = 2.0 * math.pi


def state_from_wire(message: Telemetry) -> CarState:
    """Return the state behind a telemetry."""
    return CarState(
        x=message.x,
        y=message.y,
        yaw=wrap_angle(message.psi),
        speed=abs(message.speed) * MPH,
        steer=-message.steering_angle / spec.LOCK,
        throttle=max(message.throttle, 0.0),
        line_ahead=tuple(zip(message.ptsx, message.ptsy, strict=True)),
    )


def state_to_wire(state: CarState, lock: float) -> Telemetry:
    """Return the telemetry that shows `state` of a car whose full lock is `lock` rad."""
    return Telemetry(
        tuple(x for x, _ in state.line_ahead),
        tuple(y for _, y in state.line_ahead),
        state.x,
        state.y,
        state.yaw % _TURN,
        (0.5 * math.pi - state.yaw) % _TURN,
        state.speed / MPH,
        -state.steer * lock,
        state.throttle,
        state.time,
        int(state.lap),
    )


def controls_to_wire(controls: Controls, state: CarState) -> Steer:
    """Return the command for `controls` of a car in `state`; its waypoints are drawn as the yellow line."""
    cos, sin = math.cos(state.yaw), math.sin(state.yaw)
    near = [(x - state.x, y - state.y) for x, y in state.line_ahead]
    return Steer(
        -controls.steer,
        joined(controls, state.speed, STANDING),
        next_x=tuple(x * cos + y * sin for x, y in near),
        next_y=tuple(y * cos - x * sin for x, y in near),
    )


def controls_from_wire(message: Steer, forward: float, lock: float) -> Controls:
    """Return the controls behind a command for a car that rolls at `forward` m/s and whose full lock is `lock` rad."""
    throttle, brake, reverse = parted(message.throttle, forward, STANDING)
    steer = within(-message.steering_angle * spec.LOCK / lock, 1.0)
    return Controls(steer=steer, throttle=throttle, brake=brake, gear=-1 if reverse else None)
