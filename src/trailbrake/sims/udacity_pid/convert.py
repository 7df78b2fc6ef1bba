"""Conversion between the messages of Udacity's PID build and state and controls: mph, degrees to the right, one pedal.

Source: protocol page formula-trend, section 9. The sign of `cte` is that of agents which drive: they steer against it.
"""

import math

from trailbrake.event_sims.one_pedal import UNITY_CAR, split_pedal
from trailbrake.sims.udacity_pid import spec
from trailbrake.sims.udacity_pid.codec import UdacityPidSteer, UdacityPidTelemetry
from trailbrake.state import CarState, Controls
from trailbrake.transport.json_values import clamp_magnitude
from trailbrake.units import MPH


def state_from_wire(message: UdacityPidTelemetry, half_width: float) -> CarState:
    """Return the state of a telemetry on a road `half_width` m wide to either side of the line."""
    return CarState(
        speed=abs(message.speed) * MPH,
        steer=-math.radians(message.steering_angle) / spec.LOCK,
        throttle=max(message.throttle, 0.0),
        driving_line=clamp_magnitude(-message.cte / half_width, 1.0),
    )


def state_to_wire(state: CarState, offset: float, lock: float) -> UdacityPidTelemetry:
    """Return the telemetry of `state`, `offset` m left of the line, of a car whose full lock is `lock` rad."""
    angle = -math.degrees(state.steer * lock)
    return UdacityPidTelemetry(-offset, state.speed / MPH, angle, state.throttle, state.time, int(state.lap))


def controls_to_wire(controls: Controls, *, pedal: float) -> UdacityPidSteer:
    """Return the command for `controls` whose throttle and brake are `pedal`; see `one_pedal.combine_pedals`."""
    return UdacityPidSteer(-controls.steer, pedal)


def controls_from_wire(message: UdacityPidSteer, forward_speed: float, lock: float) -> Controls:
    """Return the controls of a command for a car at `forward_speed` m/s whose full lock is `lock` rad."""
    throttle, brake, reverse = split_pedal(message.throttle, forward_speed, UNITY_CAR.standstill_speed)
    steer = clamp_magnitude(-message.steering_angle * spec.LOCK / lock, 1.0)
    return Controls(steer=steer, throttle=throttle, brake=brake, gear=-1 if reverse else None)
