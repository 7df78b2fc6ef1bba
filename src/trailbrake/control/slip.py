"""The feet of a driver in a car without traction control or anti-lock brakes: ease a pedal whose wheel runs away."""

EASE_FROM = 0.9  # slip over that of peak grip from which a pedal is eased
SPREAD = 0.9  # the same, from there to where the pedal is let go, at speed ...
SPREAD_SLOW = 2.0  # m/s, ... and on top of that: who lets go at once near standstill drops the clutch
SLOW = 4.0  # m/s: below it a wheel may slide as fast as it may here, or no car would get away


def kept(slide: float, speed: float, peak_slip_ratio: float) -> float:
    """Return the share, 0..1, of a pedal to keep.

    Args:
        slide: m/s, of the tread over the road in the pedal's direction; NaN (not known) eases nothing.
        speed: m/s, of the wheel over the road.
        peak_slip_ratio: of the tyre, at its peak of grip.
    """
    over = slide - EASE_FROM * peak_slip_ratio * max(speed, SLOW)
    share = 1.0 - over / (SPREAD * peak_slip_ratio * max(speed, 0.0) + SPREAD_SLOW)
    return min(max(share, 0.0), 1.0) if share == share else 1.0
