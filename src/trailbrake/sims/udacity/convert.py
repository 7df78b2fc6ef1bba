"""Conversion between the messages of Udacity's first term and state and controls: mph, degrees to the right, one pedal.

Source: protocol page formula-trend, section 9.
"""

import math

from trailbrake.event_sims.one_pedal import UNITY_CAR, split_pedal
from trailbrake.sims.udacity import spec
from trailbrake.sims.udacity.codec import UdacitySteer, UdacityTelemetry
from trailbrake.state import CarState, Controls, Image
from trailbrake.transport.json_values import clamp_magnitude
from trailbrake.units import MPH

_THROTTLE_FADE = 1.0  # m/s below the top speed from which the throttle is taken back


def state_from_wire(message: UdacityTelemetry, image: Image | None) -> CarState:
    """Return the state of a telemetry with its `image`."""
    return CarState(
        speed=abs(message.speed) * MPH,
        steer=-math.radians(message.steering_angle) / spec.LOCK,
        throttle=max(message.throttle, 0.0),
        image=image,
    )


def state_to_wire(state: CarState, jpeg: bytes, lock: float) -> UdacityTelemetry:
    """Return the telemetry of `state` and the frame `jpeg` of a car whose full lock is `lock` rad."""
    angle = -math.degrees(state.steer * lock)
    return UdacityTelemetry(angle, state.throttle, state.speed / MPH, jpeg, state.time, int(state.lap))


def controls_to_wire(controls: Controls, *, pedal: float) -> UdacitySteer:
    """Return the command for `controls` whose throttle and brake are `pedal`; see `one_pedal.combine_pedals`."""
    return UdacitySteer(-controls.steer, pedal)


def controls_from_wire(message: UdacitySteer, forward_speed: float, lock: float) -> Controls:
    """Return the controls of a command for a car at `forward_speed` m/s whose full lock is `lock` rad."""
    throttle, brake, reverse = split_pedal(message.throttle, forward_speed, UNITY_CAR.standstill_speed)
    throttle *= clamp_magnitude(max(spec.TOP_SPEED - abs(forward_speed), 0.0) / _THROTTLE_FADE, 1.0)
    steer = clamp_magnitude(-message.steering_angle * spec.LOCK / lock, 1.0)
    return Controls(steer=steer, throttle=throttle, brake=brake, gear=-1 if reverse else None)
