"""Iterative learning of the steering along a line: what feedback adds lap by lap at a place becomes feed-forward.

A plan's steering angle and sideslip come from a model of the car. Where tyres or load transfer differ from it, feedback
makes up for the rest, and needs an error for that: the car is off its line by the same decimetres in each lap. After a
lap the corrections of both take over most of what was missing at a place, smoothed along the line. Iterative learning
control with a Q filter, as in Kapania and Gerdes, "Path tracking of highly dynamic autonomous vehicle trajectories via
iterative learning control", American Control Conference (2015). The sideslip is learned as well, because a law that
holds the heading at the planned sideslip holds an offset where that is wrong.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array
from trailbrake.errors import DataError

STATION = 4.0  # m between stations
GAIN = 0.7  # of what was missing in a lap
SMOOTHING = 9.0  # m along the line, standard deviation of the Gaussian
MOST_CORRECTION = 0.05  # rad
MOST_OFFSET = 1.5  # m off the line, beyond which a lap teaches nothing
SLIDING = 1.0  # slip angle over that of the peak, beyond which a car slides: ...
SLIDE_AHEAD, SLIDE_BEHIND = 40.0, 12.0  # m: the stations so far before and behind ...
KEPT_CORRECTION = 0.8  # ... keep this share of their corrections, ...
KEPT_GAIN = 0.5  # ... and this share of their gain: the correction has led to the slide, or chases it


class SteeringSample(NamedTuple):
    """What a moment of a drive shows.

    Attributes:
        offset: m, left of the line.
        steer: rad, of the steering angle that is feedback: the feed-forward lacks it.
        sideslip: rad, measured over planned.
        slip: slip angle of the axle that slips more, over that of its peak.
    """

    offset: float
    steer: float
    sideslip: float
    slip: float


class SteeringLearning:
    """Corrections of steering angle and sideslip along a line, and what the present lap leaves.

    Args:
        length: m, of the line.
        closed: whether its end is its beginning.

    Attributes:
        corrections: (2, n) rad, of the steering angle and of the sideslip, at stations STATION apart.
    """

    def __init__(self, length: float, *, closed: bool) -> None:
        count = count_stations(length)
        self.corrections = np.zeros((2, count))
        self._closed = closed
        self._gains, self._taught = np.full(count, GAIN), np.zeros(count, bool)
        self._sums, self._counts, self._slips = np.zeros((2, count)), np.zeros(count), np.zeros(count)
        self._reach = math.ceil(3.0 * SMOOTHING / STATION)
        weights = np.exp(-0.5 * (np.arange(-self._reach, self._reach + 1) * STATION / SMOOTHING) ** 2)
        self._weights = weights / np.sum(weights)

    def add_sample(self, s: float, sample: SteeringSample) -> None:
        """Take a sample at s (m) along the line."""
        station = min(max(int(s / STATION), 0), len(self._counts) - 1)
        if sample.slip > self._slips[station]:
            self._slips[station] = sample.slip
        if abs(sample.offset) < MOST_OFFSET:
            self._sums[0, station] += sample.steer
            self._sums[1, station] += sample.sideslip
            self._counts[station] += 1.0

    def finish_lap(self) -> None:
        """Update the corrections by the lap that has ended, and begin another."""
        self._taught = self._counts > 0.0
        missing = self._sums / np.maximum(self._counts, 1.0)
        slid = self._find_slides()
        wanted = np.where(slid, KEPT_CORRECTION * self.corrections, self.corrections + self._gains * missing)
        self.corrections = np.clip(self._smooth(wanted), -MOST_CORRECTION, MOST_CORRECTION)
        self._gains[slid] *= KEPT_GAIN
        self._sums[:] = 0.0
        self._counts[:] = self._slips[:] = 0.0

    def add_sideslip(self, change: Array) -> None:
        """Add an expected `change` (n,) rad of the sideslip where the lap that has ended taught something."""
        sideslip = self.corrections[1] + self._smooth(np.where(self._taught, change, 0.0)[None])[0]
        self.corrections = np.array([self.corrections[0], np.clip(sideslip, -MOST_CORRECTION, MOST_CORRECTION)])

    def corrections_at(self, rows: int, spacing: float) -> Array:
        """Return the corrections (2, rows) rad at the rows of a line `spacing` (m) apart."""
        stations, places = self.places(), spacing * np.arange(rows)
        period = STATION * len(stations) if self._closed else None
        return np.array([np.interp(places, stations, values, period=period) for values in self.corrections])

    def places(self) -> Array:
        """Return the middles (n,) m of the stations, along the line."""
        places: Array = STATION * (np.arange(self.corrections.shape[1], dtype=np.float64) + 0.5)
        return places

    def import_corrections(self, steer: Sequence[float], sideslip: Sequence[float], where: str) -> None:
        """Take up corrections (n,) rad of another day; DataError, naming `where`, where they are of another line."""
        count = self.corrections.shape[1]
        if len(steer) != count or len(sideslip) != count:
            got = f"{len(steer)} and {len(sideslip)}"
            raise DataError("the steering of another road", where=where, expected=f"{count} corrections", got=got)
        self.corrections = np.array([steer, sideslip])

    def _find_slides(self) -> NDArray[np.bool_]:
        """Return (n,) whether a station is before or behind one where the car slid in this lap."""
        slid = self._slips > SLIDING
        near = slid.copy()
        for k in range(-round(SLIDE_BEHIND / STATION), round(SLIDE_AHEAD / STATION) + 1):
            moved = np.roll(slid, -k)
            if not self._closed and k > 0:
                moved[-k:] = False
            elif not self._closed and k < 0:
                moved[:-k] = False
            near |= moved
        return near

    def _smooth(self, values: Array) -> Array:
        padded = np.pad(values, ((0, 0), (self._reach, self._reach)), mode="wrap" if self._closed else "edge")
        return np.array([np.convolve(row, self._weights, "valid") for row in padded])


def count_stations(length: float) -> int:
    """Return how many stations a line of `length` (m) has."""
    return max(math.ceil(length / STATION), 2)
