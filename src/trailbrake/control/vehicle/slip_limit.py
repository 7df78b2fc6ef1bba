"""Slip limiting by the pedals, for cars without traction control or anti-lock brakes."""

LIMIT_START = 0.9  # slip over that of peak grip above which a pedal is reduced
LIMIT_RANGE = 0.9  # the same, from there to where the pedal is 0, at speed ...
LIMIT_RANGE_SPEED = 2.0  # m/s, ... plus this: near standstill a sudden release would be like a dropped clutch
MIN_SPEED = 4.0  # m/s: below it the slide allowed is that at this speed, or no car could start


def slip_limited_share(slide: float, speed: float, peak_slip_ratio: float) -> float:
    """Return the factor, 0..1, on a pedal.

    Args:
        slide: m/s, of the tread over the road in the pedal's direction; NaN (not known) gives 1.
        speed: m/s, of the wheel over the road.
        peak_slip_ratio: of the tyre, at its peak of grip.
    """
    over = slide - LIMIT_START * peak_slip_ratio * max(speed, MIN_SPEED)
    share = 1.0 - over / (LIMIT_RANGE * peak_slip_ratio * max(speed, 0.0) + LIMIT_RANGE_SPEED)
    return min(max(share, 0.0), 1.0) if share == share else 1.0
