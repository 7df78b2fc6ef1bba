"""Conversion between the messages of Udacity's MPC build and state and controls: mph, angles to the right, one pedal.

Source: protocol page formula-trend, section 9. Its map, seen from above, is an ISO world frame already.
"""

import math

from trailbrake.event_sims.one_pedal import UNITY_CAR, split_pedal
from trailbrake.sims.udacity_mpc import spec
from trailbrake.sims.udacity_mpc.codec import UdacityMpcSteer, UdacityMpcTelemetry
from trailbrake.state import CarState, Controls
from trailbrake.transport.json_values import clamp_magnitude
from trailbrake.units import MPH, wrap_angle

_FULL_TURN = 2.0 * math.pi


def state_from_wire(message: UdacityMpcTelemetry) -> CarState:
    """Return the state of a telemetry."""
    return CarState(
        x=message.x,
        y=message.y,
        yaw=wrap_angle(message.psi),
        speed=abs(message.speed) * MPH,
        steer=-message.steering_angle / spec.LOCK,
        throttle=max(message.throttle, 0.0),
        line_ahead=tuple(zip(message.ptsx, message.ptsy, strict=True)),
    )


def state_to_wire(state: CarState, lock: float) -> UdacityMpcTelemetry:
    """Return the telemetry of `state` of a car whose full lock is `lock` rad."""
    return UdacityMpcTelemetry(
        tuple(x for x, _ in state.line_ahead),
        tuple(y for _, y in state.line_ahead),
        state.x,
        state.y,
        state.yaw % _FULL_TURN,
        (0.5 * math.pi - state.yaw) % _FULL_TURN,
        state.speed / MPH,
        -state.steer * lock,
        state.throttle,
        state.time,
        int(state.lap),
    )


def controls_to_wire(controls: Controls, state: CarState, *, pedal: float) -> UdacityMpcSteer:
    """Return the command for `controls` of a car in `state`; its waypoints are drawn as the yellow line.

    `pedal` is the throttle and the brake; see `one_pedal.combine_pedals`.
    """
    cos, sin = math.cos(state.yaw), math.sin(state.yaw)
    near = [(x - state.x, y - state.y) for x, y in state.line_ahead]
    return UdacityMpcSteer(
        -controls.steer,
        pedal,
        next_x=tuple(x * cos + y * sin for x, y in near),
        next_y=tuple(y * cos - x * sin for x, y in near),
    )


def controls_from_wire(message: UdacityMpcSteer, forward_speed: float, lock: float) -> Controls:
    """Return the controls of a command for a car at `forward_speed` m/s whose full lock is `lock` rad."""
    throttle, brake, reverse = split_pedal(message.throttle, forward_speed, UNITY_CAR.standstill_speed)
    steer = clamp_magnitude(-message.steering_angle * spec.LOCK / lock, 1.0)
    return Controls(steer=steer, throttle=throttle, brake=brake, gear=-1 if reverse else None)
