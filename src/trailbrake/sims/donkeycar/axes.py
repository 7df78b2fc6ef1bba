"""Unity's axes and the package's.

Unity's vectors are (X right, Y up, Z forward), left-handed; the package's (ISO 8855) are (X forward, Y left, Z up),
right-handed. Unity's angles and rates follow the left-hand rule. Source: protocol page formula-trend, section 10.
"""

Vector = tuple[float, float, float]


def iso_from_unity(vector: Vector) -> Vector:
    """Return a vector of Unity in ISO axes; world vectors and body vectors alike."""
    return (vector[2], -vector[0], vector[1])


def unity_from_iso(vector: Vector) -> Vector:
    """Return a vector in ISO axes as Unity has it; the inverse of `iso_from_unity`."""
    return (-vector[1], vector[2], vector[0])


def turn_from_unity(turn: Vector) -> Vector:
    """Return (roll, pitch, yaw), angles or rates, from Unity's about (X, Y, Z) = (pitch, yaw, roll)."""
    return (-turn[2], turn[0], -turn[1])


def unity_from_turn(turn: Vector) -> Vector:
    """Return Unity's turn about (X, Y, Z) from (roll, pitch, yaw); the inverse of `turn_from_unity`."""
    return (turn[1], -turn[2], -turn[0])
