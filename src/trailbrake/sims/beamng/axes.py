"""BeamNG's axes <-> ISO 8855. World axes are the same (right-handed, z up); body vectors and the zero of yaw differ.

Source: protocol page beamng-coupling, section 7.
"""

import math

from trailbrake.frames import Vector

_QUARTER_TURN = 0.5 * math.pi  # rad: the wire's yaw is 0 when the car faces world -Y


def iso_from_beamng(vector: Vector) -> Vector:
    """Return a body vector of BeamNG (left, backward, up; right-handed) as (forward, left, up)."""
    return (-vector[1], vector[0], vector[2])


def beamng_from_iso(vector: Vector) -> Vector:
    """Return a body vector (forward, left, up) as BeamNG's (left, backward, up): the inverse of `iso_from_beamng`."""
    return (vector[1], -vector[0], vector[2])


def yaw_from_wire(yaw: float) -> float:
    """Return the wire's yaw (rad, from world -Y) as ISO 8855 yaw (rad, from world X), in [-pi, pi]."""
    turned = yaw - _QUARTER_TURN
    if -math.pi <= turned <= math.pi or not math.isfinite(turned):
        return turned
    return math.remainder(turned, 2.0 * math.pi)


def yaw_to_wire(yaw: float) -> float:
    """Return ISO 8855 yaw (rad, from world X) as the wire's yaw (rad, from world -Y), in (-pi, pi]."""
    turned = yaw + _QUARTER_TURN
    return turned - 2.0 * math.pi if turned > math.pi else turned
