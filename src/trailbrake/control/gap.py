"""Keeping a distance to what drives ahead. Pure maths."""

import math

STANDING = 4.0  # m kept at rest
HEADWAY = 0.5  # s kept on top of it
BRAKING = 6.0  # m/s^2 that a car may count on, well below what the tyres hold
PEDAL = 0.3  # of the brake pedal per m/s too fast


def speed_behind(gap: float, speed: float, ahead: float) -> float:
    """Return the speed (m/s) from which braking still leaves the distance: v^2 = ahead^2 + 2 a (gap - distance).

    Args:
        gap: m between the two, bumper to bumper.
        speed: m/s, own.
        ahead: m/s, of what is ahead, along the road.
    """
    room = gap - STANDING - HEADWAY * speed
    return math.sqrt(max(ahead * abs(ahead) + 2.0 * BRAKING * room, 0.0))


def held_back(throttle: float, brake: float, speed: float, most: float) -> tuple[float, float]:
    """Return throttle and brake (0..1) of a driver who would not be faster than `most` (m/s)."""
    excess = speed - most
    if excess <= 0.0:
        return throttle, brake
    return 0.0, max(brake, min(PEDAL * excess, 1.0))
