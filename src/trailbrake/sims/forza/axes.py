"""Forza's axes <-> ISO 8855. Forza's are X right, Y up, Z forward: left-handed, of the world and of the car alike.

Source: protocol page forza-data-out, section 3.1.
"""

from trailbrake.frames import Vector


def iso_from_forza(vector: Vector) -> Vector:
    """Return a position, velocity or acceleration of Forza as (forward, left, up) = (z, -x, y)."""
    return (vector[2], -vector[0], vector[1])


def forza_from_iso(vector: Vector) -> Vector:
    """Return a vector (forward, left, up) as Forza's (right, up, forward): the inverse of `iso_from_forza`."""
    return (-vector[1], vector[2], vector[0])


def rotation_from_forza(vector: Vector) -> Vector:
    """Return an angular velocity, or angles (pitch, yaw, roll), as (about x forward, about y left, about z up).

    An axial vector: because the handedness changes, it maps with the opposite sign of `iso_from_forza`.
    """
    return (-vector[2], vector[0], -vector[1])


def forza_from_rotation(vector: Vector) -> Vector:
    """Return (about x, about y, about z) as Forza's (pitch, yaw, roll): the inverse of `rotation_from_forza`."""
    return (vector[1], -vector[2], -vector[0])
