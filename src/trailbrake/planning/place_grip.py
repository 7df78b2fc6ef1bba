"""Grip that a place of the road has for itself: a patch of oil, a puddle, a joint.

A fall of the estimate that ends again within PLACE_LENGTH belongs to the place, and the road before and behind it keeps
its own; one that lasts (rain) belongs to the road. That it has ended is shown by tyres that give more for their slip
than halfway between the grip before and now: at small slips, too, compared with what they gave at such slips before
the fall. The next lap plans the place with the share that it has shown, which rises only with evidence of that place.
"""

import math
from typing import NamedTuple

import numpy as np

from trailbrake.arrays import Ints

LEAST_FALL = 0.10  # of the grip, within the memory of the estimate, that may be a place's
ENDED_FALL = 0.05  # below which a fall that belongs to the road is over
PLACE_LENGTH = 200.0  # m, after which a fall belongs to the road
PLACE_DISTANCE = 300.0  # m behind a place, within which the next fall belongs to the road: the end was a false one
GOOD_SHARE = 0.9  # of the grip before, down to which a sample is of the road before the place, ...
ONSET_LENGTH = 20.0  # m before a fall is noticed, where it begins at most
RETURN_TIME = 0.25  # s of samples, that show the end of a place
LEAST_TIME = 0.1  # s of samples, that show what a place has
FIRM_SLIP = 0.3  # over that of the peak, below which a sample says something only beside others at such slips ...
USUAL_TIME = 2.0  # ... and is averaged over this many s of them
PLACE_RESERVE = 0.9  # of the share that a slide has shown: it says how much grip there is at most
LEAST_PLACE = 0.3  # share that is planned with at least
SURE_MORE = 1.15  # factor on what a place is planned with, from which evidence raises it, ...
KEPT_MORE = 0.9  # ... by this share of what it shows


class TyreSample(NamedTuple):
    """What tyres show at a moment.

    Attributes:
        capacity: over what is believed of the road and the place; NaN: the tyres slip too little.
        slip: combined, over that of the peak.
        past, now: grip that is estimated, of the road before a fall and now: factors on what is believed.
        dt: s since the sample before.
    """

    capacity: float
    slip: float
    past: float
    now: float
    dt: float


class PlaceGrip:
    """The shares of the road's grip that places have, by station.

    Args:
        count: of the stations.
        station: m between them.
        length: m, of the line.

    Attributes:
        shares: (count,) of the road's grip; 1 where the place is as the road.
        level: grip that was estimated before the fall that is looked at.
    """

    def __init__(self, count: int, station: float, length: float) -> None:
        self.shares, self.level = np.ones(count), 1.0
        self._station, self._length = station, length
        self._began, self._ended = math.nan, math.nan  # m, where a fall began; where the last place was left
        self._good_end, self._usual = math.nan, 1.0
        self._poor_end, self._poor_time, self._poor_capacity, self._return_time = 0.0, 0.0, 0.0, 0.0
        self._is_of_road = False  # whether the present fall is
        self._shown = np.zeros((2, count))  # of places in the present lap: s, and the capacity times s

    def share_at(self, s: float) -> float:
        """Return the share of the road's grip that is believed at s (m)."""
        return float(self.shares[self._station_at(s)])

    def observe(self, s: float, sample: TyreSample) -> bool:
        """Take a sample at s (m); return whether a place has ended, so that `level` is the grip."""
        capacity, slip, past, now, dt = sample
        fall = past - now
        if slip > FIRM_SLIP and self.share_at(s) < 1.0 and not math.isnan(capacity):
            self._shown[:, self._station_at(s)] += dt, dt * capacity
        if math.isnan(self._began):
            if capacity > GOOD_SHARE * past:
                self._good_end = s
            if slip < FIRM_SLIP and fall < ENDED_FALL and not math.isnan(capacity):
                self._usual += min(dt / USUAL_TIME, 1.0) * (capacity / now - self._usual)
            self._is_of_road = self._is_of_road and fall > ENDED_FALL
            if fall > LEAST_FALL and not self._is_of_road:
                self._is_of_road = self._measure_way(self._ended, s) < PLACE_DISTANCE
                if not self._is_of_road:
                    self._began = s - min(self._measure_way(self._good_end, s), ONSET_LENGTH)
                    self._poor_end, self.level = s, past
                    self._poor_time = self._poor_capacity = self._return_time = 0.0
            return False
        if self._measure_way(self._began, s) > PLACE_LENGTH:
            self._began, self._is_of_road = math.nan, True
            return False
        if math.isnan(capacity):
            return False
        shown = capacity / self._usual if slip < FIRM_SLIP else capacity
        if shown > 0.5 * (self.level + now):
            self._return_time += dt
            return self._return_time > RETURN_TIME
        self._return_time, self._poor_end = 0.0, s
        self._poor_time, self._poor_capacity = self._poor_time + dt, self._poor_capacity + dt * capacity
        return False

    def end_place(self, s: float) -> Ints:
        """Keep the place that has ended before s (m); return the stations (n,) from its beginning to there."""
        if self._poor_time > LEAST_TIME:
            share = PLACE_RESERVE * self._poor_capacity / self._poor_time / self.level
            place = self._find_stations(self._began, self._poor_end)
            self.shares[place] = np.clip(np.minimum(share, 1.0) * self.shares[place], LEAST_PLACE, 1.0)
        passed = self._find_stations(self._began, s)
        self._shown[:, passed] = 0.0
        self._began, self._ended = math.nan, s
        return passed

    def finish_lap(self) -> None:
        """Raise the places whose tyres have shown more in the lap that has ended."""
        time, shown = self._shown
        mean = np.divide(shown, time, out=np.ones_like(time), where=time > LEAST_TIME)
        raised = np.where(mean > SURE_MORE, self.shares * np.maximum(KEPT_MORE * mean, 1.0), self.shares)
        self.shares = np.minimum(raised, 1.0)
        self._shown[:] = 0.0

    def _measure_way(self, start: float, end: float) -> float:
        return math.inf if math.isnan(start) else (end - start) % self._length

    def _find_stations(self, start: float, end: float) -> Ints:
        last = math.ceil((start + self._measure_way(start, end)) / self._station)
        stations: Ints = np.arange(math.floor(start / self._station), last + 1) % len(self.shares)
        return stations

    def _station_at(self, s: float) -> int:
        return min(int(s / self._station), len(self.shares) - 1)
