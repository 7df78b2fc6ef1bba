"""Friction estimated while driving: what the tyres give, against how far they slip for it.

At a slip s, over that of its peak, a tyre gives the share f(s) of its grip (Magic Formula). A car that uses the share u
of the envelope that is believed, and slips by s for it, has the capacity u / f(s): 1 where the belief is right. Below
half of the peak slip the ratio says more about the tyre's stiffness than about its friction: such samples can only
show that there is more grip than was estimated.

A believed car brakes better or worse than it corners. One average over both would plan the braking with what bends
have shown since: braking and cornering are averaged apart, and the lower one counts. Grip that falls (rain) is expected
to go on falling for a while. On straights the slip of driven wheels shows it where laps before have shown how much
there was (Gustafsson, "Slip-based tire-road friction estimation", Automatica 33:6, 1997).
"""

import math
from dataclasses import dataclass

FILTER_TIME = 0.1  # s, of the low-pass filters on use and slip: forces lag behind slips
LEAST_USE = 0.6  # of the envelope with the estimated grip, below which a sample says nothing
MARGIN_SLIP = 0.3  # over that of the peak, from which a sample counts that shows a higher grip, ...
STIFFNESS_DOUBT = 1.10  # ... if by more than this factor: at such slips a stiffer tyre looks the same
LEAST_SLIP = 0.5  # from which each sample counts; it counts fully ...
FULL_SLIP = 0.8  # ... from here on
NOISE_SLIP = 0.15  # over that of the peak, below which slips are noise; the capacity of a moment needs more ...
MOST_SHOWING_SLIP = 1.6  # ... and less than this
MOST_SLIP = 1.3  # a wheel that spins or stands is beyond the curve
AVERAGING_TIME = 2.5  # s of samples that count, over which the capacity is averaged
PRIOR_TIME = 0.3  # s of samples that the first belief counts for
CORNERED_TIME = 1.0  # s of samples, from which bends have shown something
SLIDING = 1.0  # slip angle over that of the peak: from here on ...
BRAKED = 0.8  # ... or longitudinal slip over that of the peak ...
SLIDING_TIME = 0.4  # s, ... the average is over this time
PLACE_TIME = 0.8  # s, the same where laps before have shown what the place gives: a sharp measure
PLACE_DOUBT = 0.08  # share by which a place may show less than the lap before at another slip of the tyres, ...
TRACTION_DOUBT = 0.02  # ... and of driven wheels, which slip alike from lap to lap; ...
SLIP_TIME = 0.4  # s, over which what driven wheels and steady bends show is averaged
FRICTION_DOUBT = 0.03  # share by which a steady bend may show less than the lap before
SETTLING_TIME = 0.25  # s of steady cornering, before it shows friction
MOST_TRACTION_FALL = 0.1  # below the average, of a sample: the clutch slips for some samples after a shift
SURE_LESS = 0.80  # ... at and below which all of it is less grip
BRAKED_CAPACITY = 0.97  # of a car that is as believed, braked to the peak
TOLERANCE = 0.03  # by which the estimate may be low, for a car as believed, before it counts
SURE_GRIP = 0.90  # at and below which an estimate is no such error
LEAST_GRIP, MOST_GRIP = 0.4, 1.0
FALL_MEMORY = 4.0  # s of samples, of the low-pass filter against which a fall is measured
FALL_TOLERANCE = 0.02  # of a fall that does not count
FALL_AHEAD = 1.5  # of it that is expected besides: a road that is getting wet goes on doing so
_DOUBTFUL_RANGE = 1.0 - TOLERANCE - SURE_GRIP


@dataclass
class _Capacity:
    """An average of samples: the share of the believed capacity, and the s of samples that it comes from."""

    share: float
    certainty: float

    def add_sample(self, capacity: float, weight: float, *, most_time: float) -> None:
        horizon = min(self.certainty, most_time)
        self.share += min(weight / horizon, 1.0) * (capacity - self.share)
        self.certainty = min(self.certainty + weight, AVERAGING_TIME)


class GripEstimate:
    """The grip of a car, as a factor on what is believed, from samples of its grip use and slip.

    Args:
        grip: the first estimate, a factor.
        certainty: s of samples that it counts for.
        curve: B, C and E of the tyres' Magic Formula.

    Attributes:
        use: of the believed envelope, filtered.
        slip: by the slip angles, over that of the peak, filtered.
        combined_slip: with the slip along the wheels, filtered.
        most: the highest estimate that is returned.
        expects_fall: whether a fall is taken for a beginning one, as of a road that is getting wet.
    """

    def __init__(self, grip: float, curve: tuple[float, float, float], certainty: float = PRIOR_TIME) -> None:
        self._curve = curve
        self.use = self.slip = self.combined_slip = 0.0
        self.most, self.expects_fall = MOST_GRIP, True
        self._bends = _Capacity(_without_tolerance(min(grip, MOST_GRIP)), certainty)
        self._braking = _Capacity(MOST_GRIP, certainty)  # nothing is known of it
        self._first_certainty = certainty
        self._friction = self._settled = 0.0  # of steady cornering: filtered, and s of it
        self._shows_friction = False
        self._cornered = 0.0  # s of samples of bends; the others are of wheels that spin or are braked
        self._before = self._present_grip()  # the estimate of some seconds ago, where it was higher

    @property
    def grip(self) -> float:
        """The factor on the grip that is believed, LEAST_GRIP to `most`."""
        now = self._present_grip()
        fall = max(min(self._before, self.most) - now - FALL_TOLERANCE, 0.0)
        return max(now - FALL_AHEAD * fall, LEAST_GRIP) if self.expects_fall else now

    @property
    def shown_grip(self) -> float:
        """The factor on the grip that samples show, 1 at most: `grip` without limits and expectations."""
        return min(_with_tolerance(min(self._bends.share, self._braking.share)), MOST_GRIP)

    @property
    def capacity(self) -> float:
        """The capacity over what is believed that the present slips show, NaN where they are too small or too large."""
        slip = self.combined_slip
        return self.use / self._share_of_peak(slip) if NOISE_SLIP < slip < MOST_SHOWING_SLIP else math.nan

    @property
    def past_and_present(self) -> tuple[float, float]:
        """The grip some seconds ago, where it was higher, and the one shown now, which `most` does not limit."""
        return self._before, max(self.shown_grip, LEAST_GRIP)

    def return_to(self, grip: float) -> None:
        """Take `grip`, that of before a fall, for that of the road again: the fall was that of a place."""
        for average in (self._bends, self._braking):
            average.share = max(average.share, _without_tolerance(grip))
        self._before = self._present_grip()

    @property
    def has_braked(self) -> bool:
        """Whether hard braking has said something of the grip, for as long as the first belief counts."""
        return self._braking.certainty >= min(2.0 * self._first_certainty, AVERAGING_TIME)

    def shows_in_bends(self, grip: float) -> bool:
        """Return whether bends have shown this grip, a factor on what is believed."""
        return self._cornered > CORNERED_TIME and _with_tolerance(self._bends.share) >= grip

    def _present_grip(self) -> float:
        return min(max(self.shown_grip, LEAST_GRIP), self.most)

    def add_sample(
        self,
        use: float,
        slip: float,
        angle_slip: float,
        dt: float,
        *,
        braked: bool = False,
        driven: bool = False,
        reference: float = math.nan,
    ) -> float:
        """Take one sample; return the capacity that it shows over what is believed, NaN where it shows none.

        Args:
            use: of the believed envelope, 1 at its limit.
            slip: combined slip of the axle that slips more, over that of the peak; NaN: not known.
            angle_slip: the same by the slip angle alone.
            dt: s since the last sample.
            braked: whether the car is braked.
            driven: whether it gains speed.
            reference: capacity over what is believed that laps have shown here with all the grip; NaN: not known.
        """
        if not math.isfinite(use + angle_slip):
            return math.nan
        share = min(dt / FILTER_TIME, 1.0)
        self.use += share * (use - self.use)
        self.slip += share * (angle_slip - self.slip)
        if math.isnan(slip):
            return math.nan
        self.combined_slip += share * (slip - self.combined_slip)
        combined = self.combined_slip
        if not (self.use > LEAST_USE * self.grip and MARGIN_SLIP < combined < MOST_SLIP):
            return math.nan
        shown = self.use / self._share_of_peak(combined)
        if self._shows_friction:
            return shown
        self._remember_grip(dt)
        capacity = shown if math.isnan(reference) else _compare_with_place(shown / reference)
        along = math.sqrt(max(combined * combined - self.slip * self.slip, 0.0))
        if driven and along > max(self.slip, BRAKED):  # one wheel of an axle may spin alone: their mean says nothing
            return math.nan
        average = self._braking if braked and along > self.slip else self._bends
        sliding = self.slip > SLIDING or along > BRAKED
        if combined > LEAST_SLIP:
            weight = min((combined - LEAST_SLIP) / (FULL_SLIP - LEAST_SLIP), 1.0) * dt
            if along > BRAKED and math.isnan(reference):
                capacity /= BRAKED_CAPACITY
        else:
            weight = (combined - MARGIN_SLIP) / (LEAST_SLIP - MARGIN_SLIP) * dt
            if math.isnan(reference):
                capacity = max(capacity / STIFFNESS_DOUBT, average.share)
        if sliding:  # a slide shows how much grip there is at most
            capacity = min(capacity, average.share)
        known_place = PLACE_TIME if not math.isnan(reference) else AVERAGING_TIME
        average.add_sample(capacity, weight, most_time=SLIDING_TIME if sliding else known_place)
        if self.slip > along:
            self._cornered += weight
        return shown

    def add_traction(self, share: float, dt: float) -> None:
        """Take what driven wheels show for dt (s): the share of the capacity that laps before have shown at the place.

        The force for a small slip says little of a tyre's friction by itself, but falls and rises with it.
        """
        self._remember_grip(dt)
        shown = min(_compare_with_place(share, TRACTION_DOUBT), 1.0)
        self._add_to_both(shown, dt)

    def settle_friction(self, friction: float, dt: float) -> float:
        """Return the friction over the believed one that steady cornering shows; NaN: none yet.

        Args:
            friction: by one sample, as `measure_grip_use` returns it; NaN: none.
            dt: s since the sample before.
        """
        self._shows_friction = False
        if math.isnan(friction):
            self._settled = 0.0
            return math.nan
        self._friction += min(dt / FILTER_TIME, 1.0) * (friction - self._friction) if self._settled else friction
        self._settled += dt
        return self._friction if self._settled > SETTLING_TIME else math.nan

    def add_friction(self, share: float, dt: float) -> None:
        """Take what a steady bend shows for dt (s): the share of the friction that laps before have shown at the place.

        Use and slip of the axle that slips more say less of it: they say nothing of the bend while this does.
        """
        least = 1.0 - FRICTION_DOUBT
        if min(share, self._bends.share, self._braking.share) >= least:
            return
        self._remember_grip(dt)
        self._shows_friction = True
        self._add_to_both(min(_compare_with_place(share, FRICTION_DOUBT), 1.0), dt)

    def _add_to_both(self, share: float, dt: float) -> None:
        for average in (self._bends, self._braking):
            average.add_sample(max(share, average.share - MOST_TRACTION_FALL), dt, most_time=SLIP_TIME)

    def _remember_grip(self, dt: float) -> None:
        # Without samples nothing shows that a fall has come to its end.
        now = self._present_grip()
        self._before = max(self._before + min(dt / FALL_MEMORY, 1.0) * (now - self._before), now)

    def _share_of_peak(self, slip: float) -> float:
        b, c, e = self._curve
        x = b * slip
        return math.sin(c * math.atan(x - e * (x - math.atan(x))))


def _with_tolerance(share: float) -> float:
    return share + TOLERANCE * min(max((share - SURE_GRIP) / _DOUBTFUL_RANGE, 0.0), 1.0)


def _compare_with_place(share: float, most_doubt: float = PLACE_DOUBT) -> float:
    """Return the share of the grip that a place shows, of the capacity over that of laps before."""
    doubt = most_doubt * min(max((share - SURE_LESS) / (1.0 - most_doubt - SURE_LESS), 0.0), 1.0)
    return max(share, min(share + doubt, 1.0))


def _without_tolerance(grip: float) -> float:
    """Return the share of the believed capacity for which `GripEstimate.grip` is `grip`."""
    if grip <= SURE_GRIP:
        return grip
    return SURE_GRIP + (grip - SURE_GRIP) * _DOUBTFUL_RANGE / (_DOUBTFUL_RANGE + TOLERANCE)
