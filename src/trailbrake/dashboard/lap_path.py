"""`LapPath`: one lap as points over time and distance: for ghosts, and for the time gained or lost to it."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trailbrake.state import OtherCar

Array = NDArray[np.float64]

GHOST_INDEX = 1000  # `OtherCar.index` of a ghost is this plus its lap's number: no car on a wire has such a number
SAMPLE_COLUMNS = ("clock", "distance", "x", "y", "z", "yaw", "speed", "steering_wheel_angle")
_CLOCK, _DISTANCE, _X, _Y, _Z, _YAW, _SPEED, _STEERING = range(len(SAMPLE_COLUMNS))


@dataclass(frozen=True)
class LapPath:
    """A finished lap.

    Attributes:
        number: of the lap.
        time_s: of the lap, s.
        samples: (n >= 2, 8) SAMPLE_COLUMNS: s since the lap's start, ascending; m along the road since the start line,
            never falling; position (m) and yaw (rad, unwrapped), world frame; m/s; rad. NaN where not supplied.
    """

    number: int
    time_s: float
    samples: Array

    @classmethod
    def from_samples(cls, number: int, time_s: float, rows: Array) -> "LapPath":
        """Return the lap of samples as they were taken: yaw within ±pi, distance with small steps backwards."""
        samples = np.array(rows, np.float64)
        samples[:, _DISTANCE] = np.fmax.accumulate(samples[:, _DISTANCE])
        known = np.isfinite(samples[:, _YAW])
        samples[known, _YAW] = np.unwrap(samples[known, _YAW])
        return cls(number, time_s, samples)

    def ghost_at(self, clock: float) -> OtherCar | None:
        """Return the car as it was `clock` s after the lap's start; None before, after, and without positions."""
        times = self.samples[:, _CLOCK]
        if not times[0] - 0.5 <= clock <= times[-1] + 0.5:
            return None
        after = min(max(int(np.searchsorted(times, clock)), 1), len(times) - 1)
        before, span = self.samples[after - 1], times[after] - times[after - 1]
        share = min(max((clock - times[after - 1]) / span, 0.0), 1.0) if span > 0.0 else 0.0
        row = before + share * (self.samples[after] - before)
        if not math.isfinite(row[_X] + row[_Y]):
            return None
        yaw = math.remainder(float(row[_YAW]), 2.0 * math.pi)
        return OtherCar(
            index=GHOST_INDEX + self.number, x=float(row[_X]), y=float(row[_Y]), z=float(row[_Z]), yaw=yaw,
            speed=float(row[_SPEED]), steering_wheel_angle=float(row[_STEERING]),
        )  # fmt: skip

    def clock_at(self, distance: float) -> float:
        """Return the lap's clock (s) where it had come `distance` (m); NaN outside of the lap."""
        travelled = self.samples[:, _DISTANCE]
        if not travelled[0] <= distance <= travelled[-1]:
            return math.nan
        return float(np.interp(distance, travelled, self.samples[:, _CLOCK]))

    def slowest_between(self, start: float, end: float) -> float:
        """Return the lowest speed (m/s) from `start` to `end` (m along the road); NaN where there is no sample."""
        travelled = self.samples[:, _DISTANCE]
        speeds = self.samples[(travelled >= start) & (travelled <= end), _SPEED]
        return float(np.nanmin(speeds)) if np.isfinite(speeds).any() else math.nan
