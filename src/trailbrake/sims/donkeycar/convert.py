"""Conversion between the donkeycar simulator's messages and state and controls: Unity's axes, shares to the right.

Source: protocol page formula-trend, section 10. `vel` is a world vector, as in gym-donkeycar; `gyro` is in rad/s, the
unit of Unity.
"""

import math
from typing import Any

from trailbrake.frames import iso_from_left_handed, left_handed_from_iso, left_handed_from_turn, turn_from_left_handed
from trailbrake.sims.donkeycar import spec
from trailbrake.sims.donkeycar.codec import NO_HIT, CamConfig, DonkeycarControl, DonkeycarTelemetry
from trailbrake.state import CarState, Controls, Image
from trailbrake.transport.json_values import clamp_magnitude
from trailbrake.units import DEG, wrap_angle

NAN = math.nan
STANDSTILL_SPEED = 0.5  # m/s: below it a throttle under 0 reverses, above it brakes
HIT_NAME = "wall"  # what our world's car may run into


def state_from_wire(message: DonkeycarTelemetry, half_width: float, image: Image | None) -> CarState:
    """Return the state behind a telemetry on a road `half_width` m wide either side of the line. `image`: its own."""
    x, y, z = iso_from_left_handed(message.pos)
    roll = pitch = yaw = forward = left = rate = NAN
    if message.angles is not None:
        roll, pitch, yaw = (wrap_angle(angle * DEG) for angle in turn_from_left_handed(message.angles))
    if message.angles is not None and message.vel is not None:
        vx, vy, _ = iso_from_left_handed(message.vel)
        forward, left = vx * math.cos(yaw) + vy * math.sin(yaw), vy * math.cos(yaw) - vx * math.sin(yaw)
    if message.gyro is not None:
        rate = turn_from_left_handed(message.gyro)[2]
    return CarState(
        time=message.time, x=x, y=y, z=z, yaw=yaw, pitch=pitch, roll=roll, speed=abs(message.speed),
        velocity_x=forward, velocity_y=left, yaw_rate=rate, steer=-message.steering_angle,
        throttle=max(message.throttle, 0.0),
        driving_line=NAN if message.cte is None else clamp_magnitude(-message.cte / half_width, 1.0), image=image,
    )  # fmt: skip


def state_to_wire(state: CarState, offset: float, lock: float, picture: bytes, *, hit: bool) -> DonkeycarTelemetry:
    """Return the telemetry that shows `state`.

    Args:
        state: of our car.
        offset: m left of the line.
        lock: rad, wheel angle of our car at full lock.
        picture: the camera's frame, encoded.
        hit: whether the car has run into something since the last telemetry.
    """
    cos, sin = math.cos(state.yaw), math.sin(state.yaw)
    world = (state.velocity_x * cos - state.velocity_y * sin, state.velocity_x * sin + state.velocity_y * cos, 0.0)
    pitch, yaw, roll = (angle / DEG % 360.0 for angle in left_handed_from_turn((state.roll, state.pitch, state.yaw)))
    return DonkeycarTelemetry(
        -state.steer * lock / spec.LOCK,
        state.throttle,
        state.speed,
        picture,
        HIT_NAME if hit else NO_HIT,
        left_handed_from_iso((state.x, state.y, state.z)),
        state.time,
        -offset,
        left_handed_from_iso(world),
        left_handed_from_turn((state.roll_rate, state.pitch_rate, state.yaw_rate)),
        (pitch, yaw, roll),
    )


def controls_to_wire(controls: Controls) -> DonkeycarControl:
    """Return the command for `controls`."""
    reverse = controls.gear is not None and controls.gear < 0
    return DonkeycarControl(-controls.steer, -controls.throttle if reverse else controls.throttle, controls.brake)


def controls_from_wire(message: DonkeycarControl, forward_speed: float, lock: float) -> Controls:
    """Return the controls of a command for a car at `forward_speed` m/s whose full lock is `lock` rad."""
    steer = clamp_magnitude(-message.steering * spec.LOCK / lock, 1.0)
    if message.throttle >= 0.0:
        return Controls(steer=steer, throttle=message.throttle, brake=message.brake)
    if forward_speed > STANDSTILL_SPEED:
        return Controls(steer=steer, brake=max(-message.throttle, message.brake))
    return Controls(steer=steer, throttle=-message.throttle, brake=message.brake, gear=-1)


def camera_from_wire(message: CamConfig) -> dict[str, Any]:
    """Return the camera that a client requests, as fields of `world.pinhole_camera.PinholeCamera`; 0 = the default."""
    requested: dict[str, Any] = {
        "width": round(message.img_w), "height": round(message.img_h), "fov": message.fov, "right": message.offset_x,
        "up": message.offset_y, "ahead": message.offset_z, "down": message.rot_x, "aside": message.rot_y,
    }  # fmt: skip
    return spec.pinhole_camera(spec.CameraPlace(**{key: value for key, value in requested.items() if value}))
