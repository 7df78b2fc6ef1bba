"""The package's frames, and conversions between angles and axes.

World frame: right-handed, Z up; X and Y are the track file's x and y, unmoved.
Body frame: ISO 8855, x forward, y left, z up. Yaw is counter-clockwise from world X.

A simulator's axis map, a permutation with signs, is in `axes.py` of its folder.
"""

import math

Vector = tuple[float, float, float]


def nose_direction(yaw: float, pitch: float = 0.0) -> Vector:
    """Return the unit vector of the car's nose for ISO 8855 `yaw` and `pitch` (rad, positive pitch = nose down)."""
    c = math.cos(pitch)
    return (math.cos(yaw) * c, math.sin(yaw) * c, -math.sin(pitch))


def up_vector(yaw: float, pitch: float, roll: float) -> Vector:
    """Return the body's z axis in the world frame for ISO 8855 yaw-pitch-roll (rad)."""
    cy, sy, cp, sp, cr, sr = (
        math.cos(yaw), math.sin(yaw), math.cos(pitch), math.sin(pitch), math.cos(roll), math.sin(roll),
    )  # fmt: skip
    return (cy * sp * cr + sy * sr, sy * sp * cr - cy * sr, cp * cr)


def angles_from_axes(look: Vector, up: Vector) -> Vector:
    """Return (yaw, pitch, roll) in rad from the nose and up unit vectors in the world frame (ISO 8855)."""
    yaw = math.atan2(look[1], look[0])
    pitch = -math.asin(max(-1.0, min(1.0, look[2])))
    # The level left vector for this yaw; the body's up vector leans away from it by the roll.
    left_x, left_y = -math.sin(yaw), math.cos(yaw)
    roll = math.atan2(-(up[0] * left_x + up[1] * left_y), up[2] / max(1e-9, math.cos(pitch)))
    return (yaw, pitch, roll)
