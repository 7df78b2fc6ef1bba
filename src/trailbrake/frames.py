"""Our one frame and the axis maps to each simulator's.

World frame: right-handed, Z up; X and Y are the track file's x and y, unmoved.
Body frame: ISO 8855, x forward, y left, z up. Yaw is counter-clockwise from world X.

A map is a permutation with signs and is written once, here. `convert.py` of a simulator calls it.
"""

import math

Vector = tuple[float, float, float]


def iso_from_assetto(vector: Vector) -> Vector:
    """Turn an Assetto Corsa vector (Y up, right-handed, left is +X when facing +Z) into ours.

    Holds for world vectors and for body vectors alike: (forward, left, up) = (z, x, y).
    Source: protocol page assetto-custom-ai, section 5.
    """
    return (vector[2], vector[0], vector[1])


def assetto_from_iso(vector: Vector) -> Vector:
    """Inverse of `iso_from_assetto`."""
    return (vector[1], vector[2], vector[0])


def iso_from_forza(vector: Vector) -> Vector:
    """Turn a Forza vector (X right, Y up, Z forward: left-handed) into ours: (forward, left, up) = (z, -x, y).

    Holds for positions, velocities and accelerations, of the world and of the car alike. Source: protocol page
    forza-data-out, section 3.1.
    """
    return (vector[2], -vector[0], vector[1])


def forza_from_iso(vector: Vector) -> Vector:
    """Inverse of `iso_from_forza`."""
    return (-vector[1], vector[2], vector[0])


def turn_from_forza(vector: Vector) -> Vector:
    """Turn a Forza angular velocity, or (pitch, yaw, roll) angles, into ours: about (x forward, y left, z up).

    An axial vector: as the handedness changes, it maps with the opposite sign of `iso_from_forza`.
    """
    return (-vector[2], vector[0], -vector[1])


def forza_from_turn(vector: Vector) -> Vector:
    """Inverse of `turn_from_forza`."""
    return (vector[1], -vector[2], -vector[0])


# Unity's axes are Forza's: X right, Y up, Z forward, left-handed, angles as (pitch, yaw, roll) about them.
iso_from_unity, unity_from_iso = iso_from_forza, forza_from_iso
turn_from_unity, unity_from_turn = turn_from_forza, forza_from_turn


def iso_from_beamng(vector: Vector) -> Vector:
    """Turn a body vector of BeamNG (left, backward, up; right-handed) into ours. World axes need no map.

    Source: protocol page beamng-coupling, section 7.
    """
    return (-vector[1], vector[0], vector[2])


def beamng_from_iso(vector: Vector) -> Vector:
    """Inverse of `iso_from_beamng`."""
    return (vector[1], -vector[0], vector[2])


def direction(yaw: float, pitch: float = 0.0) -> Vector:
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
