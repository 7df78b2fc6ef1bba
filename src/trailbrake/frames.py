"""The package's frames, and conversions between angles and axes.

World frame: right-handed, Z up; X and Y are the track file's x and y, unmoved.
Body frame: ISO 8855, x forward, y left, z up. Yaw is counter-clockwise from world X.

A simulator's axis map, a permutation with signs, is in its folder, in `axes.py` or `convert.py`; the map of Unity and
of Forza, whose axes are X right, Y up, Z forward (left-handed), of the world and of the car alike, is here.
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


def iso_from_left_handed(vector: Vector) -> Vector:
    """Return a position, velocity or acceleration (right, up, forward) of left-handed axes as (forward, left, up)."""
    return (vector[2], -vector[0], vector[1])


def left_handed_from_iso(vector: Vector) -> Vector:
    """Return a vector (forward, left, up) as (right, up, forward): the inverse of `iso_from_left_handed`."""
    return (-vector[1], vector[2], vector[0])


def turn_from_left_handed(turn: Vector) -> Vector:
    """Return (roll, pitch, yaw), angles or rates, from those about left-handed (right, up, forward).

    An axial vector: because the handedness changes, it maps with the opposite sign of `iso_from_left_handed`.
    """
    return (-turn[2], turn[0], -turn[1])


def left_handed_from_turn(turn: Vector) -> Vector:
    """Return (pitch, yaw, roll) about left-handed axes from (roll, pitch, yaw): inverse of `turn_from_left_handed`."""
    return (turn[1], -turn[2], -turn[0])
