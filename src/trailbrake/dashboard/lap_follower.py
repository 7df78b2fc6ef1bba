"""`LapFollower`: the lap under way beside the best one: time gained or lost, a ghost, corner by corner.

The corners of a road, and what each of them takes in a lap: lowest speed, time, time lost to the best lap.

`LapPath`: one lap as points over time and distance: for ghosts, and for the time gained or lost to it.
"""

import itertools
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from trailbrake.analysis.corners import find_corners
from trailbrake.arrays import Array
from trailbrake.laps import START_WINDOW, LapClock, LapRecord, Rewind
from trailbrake.state import CarState, OtherCar
from trailbrake.state.fields import quantity
from trailbrake.tracks.road import Road, RoadColumn

MAX_SAMPLES = 60_000  # of one lap: half an hour
_SAME_LAP_S = 0.5  # s between a lap's last sample and its time

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


class CornerSpan(NamedTuple):
    """A stretch of road with one corner in it: its number from 1, where it begins and ends, and its apex, m."""

    number: int
    start: float
    end: float
    apex: float


def find_corner_spans(road: Road) -> list[CornerSpan]:
    """Return the corners of a closed road in driving order; each stretch reaches to the next one, so that they add up.

    A stretch begins halfway between the end of the bend before and its own bend, the first one at the start line. The
    corners are those of `trailbrake compare`, found on the road's own curvature.
    """
    if not road.closed:
        return []
    corners = find_corners(road.stations(), road.column(RoadColumn.CURVATURE))
    limits = [0.0]
    limits += [0.5 * (one.exit + following.entry) for one, following in itertools.pairwise(corners)]
    limits.append(road.length)
    return [CornerSpan(one.number, limits[i], limits[i + 1], one.apex) for i, one in enumerate(corners)]


def compare_corners(spans: list[CornerSpan], lap: LapPath, best: LapPath | None) -> list[dict[str, Any]]:
    """Return for each corner its number, lowest speed (m/s), time (s) and time lost to `best` (s); None: not known."""
    rows = []
    for span in spans:
        took = _time_between(lap, span)
        lost = took - _time_between(best, span) if best is not None else math.nan
        slowest = lap.slowest_between(span.start, span.end)
        rows.append({
            "number": span.number, "apex_m": round(span.apex, 1), "slowest": _round_known(slowest),
            "time_s": _round_known(took), "lost_s": _round_known(lost),
        })  # fmt: skip
    return rows


def _time_between(lap: LapPath, span: CornerSpan) -> float:
    # The first and the last sample are up to one interval away from the line.
    travelled = lap.samples[:, 1]
    start, end = max(span.start, float(travelled[0])), min(span.end, float(travelled[-1]))
    if not (start - span.start < 20.0 and span.end - end < 20.0 and start < end):
        return math.nan
    begins = 0.0 if span.start == 0.0 else lap.clock_at(start)
    ends = lap.time_s if end < span.end else lap.clock_at(end)
    return ends - begins


def _round_known(value: float) -> float | None:
    return round(value, 3) if math.isfinite(value) else None


@dataclass(slots=True)
class LapPace:
    """The lap under way beside the best one, and beside those of the coach."""

    lap_distance: float = quantity("m", "along the road since the start line")
    delta: float = quantity("s", "lost to the best lap so far, negative where gained")
    delta_ideal: float = quantity("s", "lost to the best sections together so far")
    delta_limit: float = quantity("s", "lost to the limit lap so far")
    brake_best: float = quantity("s", "until the place where the best lap brakes, at this speed", lo=0.0)
    brake_limit: float = quantity("s", "until the place where the limit lap brakes, at this speed", lo=0.0)
    coach_corner: float = quantity("1", "the next of the coach's corners, from 0", lo=0.0)
    battle: float = quantity("1", "1 while another car is near", lo=0.0, hi=1.0)


class LapFollower:
    """Follows the laps of one car by samples of it. Belongs to one thread.

    Args:
        road: the track; without one the distance is the way driven.

    Attributes:
        best: the best lap; None before there is one.
        newest_lap: the path of the lap that finished last; None where it was not seen whole.
        offset: m left of the road's middle; NaN without a road.
        pace: of the lap under way.
    """

    def __init__(self, road: Road | None) -> None:
        self._road = road
        self._spans = find_corner_spans(road) if road is not None else []
        self._row = -1
        self._rows: list[tuple[float, ...]] = []
        self._earlier: list[tuple[float, ...]] = []
        self._distance = math.nan
        self._place: tuple[float, ...] = (math.nan, math.nan)
        self._lap_clock, self._lap = LapClock(), math.nan
        self._finished: list[tuple[LapRecord, LapPath | None]] = []  # each with the best one before it
        self.best: LapPath | None = None
        self.newest_lap: LapPath | None = None
        self.offset = math.nan
        self.pace = LapPace()

    def add_sample(self, state: CarState, clock: float) -> int:
        """Take a sample of the car, `clock` s after its lap began (NaN: not known); return how many laps it undoes."""
        if not math.isfinite(clock):
            return 0
        undone = self._undo_laps(state, clock)
        if self._rows and clock < self._rows[-1][0]:
            self._earlier, self._rows = self._rows, []
        elif self._rows and clock == self._rows[-1][0]:
            return undone
        distance = self._measure_distance(state)
        if len(self._rows) < MAX_SAMPLES:
            self._rows.append((clock, distance, state.x, state.y, state.z, state.yaw, state.speed,
                               state.steering_wheel_angle))  # fmt: skip
        delta = clock - self.best.clock_at(distance) if self.best is not None else math.nan
        self.pace = LapPace(distance, delta)
        return undone

    def _undo_laps(self, state: CarState, clock: float) -> int:
        """Forget what the simulator has undone where it has set the car back; return how many laps that are."""
        found, known = self._lap_clock.update(state), len(self._finished)
        back, self._lap = self._lap - state.lap, state.lap
        if not isinstance(found, Rewind):
            return 0
        if not found.samples:  # a restart undoes no lap
            self._finished.clear()
            return 0
        while self._finished and self._finished[-1][0].end > state.time - found.seconds:
            _, self.best = self._finished.pop()
        if back:
            self._rows, self._earlier = self._earlier if back == 1.0 else [], []
        self._rows = [row for row in self._rows if row[0] < clock]
        if self._rows:
            self._distance, self._place = self._rows[-1][_DISTANCE], self._rows[-1][_X:_Z]
        return known - len(self._finished)

    def _measure_distance(self, state: CarState) -> float:
        x, y = state.x, state.y
        if self._road is not None and math.isfinite(x + y):
            place, self.offset, self._row = self._road.locate(x, y, self._row)
            length = self._road.length
            if self._road.closed and not self._rows and place > 0.5 * length:
                return place - length  # before the line
            if self._road.closed and self._rows:  # near the last one: the line is passed within a lap by a hand's width
                place += length * round((self._rows[-1][1] - place) / length)
            return place
        step = math.dist((x, y), self._place)
        self._place = (x, y)
        self._distance = (self._distance + step if self._rows else 0.0) if math.isfinite(step) else 0.0
        return self._distance

    def finish_lap(self, record: LapRecord) -> list[dict[str, Any]]:
        """Take a lap that the scorer has counted; return its corners. A valid one may become the best."""
        rows = next((rows for rows in (self._rows, self._earlier)
                     if len(rows) > 1 and abs(rows[-1][0] - record.time_s) < _SAME_LAP_S
                     and abs(rows[0][_DISTANCE]) < START_WINDOW), None)  # fmt: skip
        self._finished.append((record, self.best))
        self.newest_lap = None
        if rows is None:
            return []
        self.newest_lap = lap = LapPath.from_samples(record.number, record.time_s, np.array(rows))
        corners = compare_corners(self._spans, lap, self.best)
        if record.valid and (self.best is None or record.time_s < self.best.time_s):
            self.best = lap
        return corners

    def ghosts_at(self, clock: float) -> list[OtherCar]:
        """Return the best lap's car as it was `clock` s after its start; none without a best lap."""
        ghost = self.best.ghost_at(clock) if self.best is not None and math.isfinite(clock) else None
        return [] if ghost is None else [ghost]
