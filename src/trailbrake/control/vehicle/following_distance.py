"""Keeping a distance to the car ahead."""

import math

STANDSTILL_GAP = 4.0  # m, gap at rest
TIME_HEADWAY = 0.5  # s, added gap over speed
ASSUMED_DECELERATION = 6.0  # m/s^2, deceleration assumed for braking, well below the tyres' limit
BRAKE_GAIN = 0.3  # of the brake pedal per m/s too fast


def safe_following_speed(gap: float, speed: float, lead_speed: float) -> float:
    """Return the highest speed (m/s) from which braking still keeps the gap: v^2 = ahead^2 + 2 a (gap - distance).

    Args:
        gap: m between the two, bumper to bumper.
        speed: m/s, own.
        lead_speed: m/s, of the car ahead, along the road.
    """
    room = gap - STANDSTILL_GAP - TIME_HEADWAY * speed
    return math.sqrt(max(lead_speed * abs(lead_speed) + 2.0 * ASSUMED_DECELERATION * room, 0.0))


def limit_pedals_to_speed(throttle: float, brake: float, speed: float, max_speed: float) -> tuple[float, float]:
    """Return throttle and brake (0..1), changed to braking where `speed` exceeds `max_speed` (m/s)."""
    excess = speed - max_speed
    if excess <= 0.0:
        return throttle, brake
    return 0.0, max(brake, min(BRAKE_GAIN * excess, 1.0))
