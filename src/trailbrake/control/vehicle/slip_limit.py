"""Slip limiting: by the pedals, for cars without traction control or anti-lock brakes; by the steering, in a slide."""

LIMIT_START = 0.9  # slip over that of peak grip above which a pedal is reduced
LIMIT_RANGE = 0.9  # the same, from there to where the pedal is 0, at speed ...
LIMIT_RANGE_SPEED = 2.0  # m/s, ... plus this: near standstill a sudden release would be like a dropped clutch
PEDAL_FALL = (
    6.0  # 1/s, rate at which the pedal that holds the wheels falls while a wheel has lost all of its pedal, ...
)
PEDAL_RISE = 0.8  # 1/s, ... and at which it rises while none slips
MIN_SPEED = 4.0  # m/s: below it the slide allowed is that at this speed, or no car could start
SPIN_START, SPIN_END = 1.0, 1.6  # rear slip over that of the peak above which the front turns in less, to not at all


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


def turn_in_share(rear_slip: float) -> float:
    """Return the share, 0..1, of the front tyres' slip that may turn a car further in: a sliding rear needs it back.

    Args:
        rear_slip: slip angle of the rear axle over that of its peak, >= 0.
    """
    return min(max((SPIN_END - rear_slip) / (SPIN_END - SPIN_START), 0.0), 1.0)


class HeldPedal:
    """The pedal at which the wheels just hold, found from the slips while a pedal is pressed.

    The share of `slip_limited_share` alone lets a wheel lock, releases it, and locks it again: with the delays of a car
    without anti-lock brakes the mean of the pedal is then far below what the tyres would hold.
    """

    def __init__(self) -> None:
        self._most = 1.0

    def limit_pedal(self, pedal: float, share: float, dt: float) -> float:
        """Return the pedal, 0..1, to press.

        Args:
            pedal: 0..1, that is wanted; 0 forgets what was found.
            share: the least of the wheels' `slip_limited_share`.
            dt: s since the last call.
        """
        if pedal <= 0.0:
            self._most = 1.0
        elif share < 1.0:
            self._most = min(self._most, pedal) * (1.0 - min(PEDAL_FALL * (1.0 - share) * dt, 0.5))
        else:
            self._most = min(self._most * (1.0 + PEDAL_RISE * dt), 1.0)
        return share * min(pedal, self._most)
