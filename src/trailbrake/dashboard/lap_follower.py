"""`LapFollower`: the lap under way beside the best one: time gained or lost, a ghost, corner by corner."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from trailbrake.dashboard.corner_times import compare_corners, find_corner_spans
from trailbrake.dashboard.lap_path import LapPath
from trailbrake.laps import LapRecord
from trailbrake.state import CarState, OtherCar
from trailbrake.state.fields import quantity
from trailbrake.tracks.road import Road

MAX_SAMPLES = 60_000  # of one lap: half an hour
_SAME_LAP_S = 0.5  # s between a lap's last sample and its time


@dataclass(slots=True)
class LapPace:
    """The lap under way beside the best one."""

    lap_distance: float = quantity("m", "along the road since the start line")
    delta: float = quantity("s", "lost to the best lap so far, negative where gained")


class LapFollower:
    """Follows the laps of one car by samples of it. Belongs to one thread.

    Args:
        road: the track; without one the distance is the way driven.
    """

    def __init__(self, road: Road | None) -> None:
        self._road = road
        self._spans = find_corner_spans(road) if road is not None else []
        self._row = -1
        self._rows: list[tuple[float, ...]] = []
        self._earlier: list[tuple[float, ...]] = []
        self._distance = math.nan
        self._place = (math.nan, math.nan)
        self.best: LapPath | None = None
        self.pace = LapPace()

    def add_sample(self, state: CarState, clock: float) -> None:
        """Take a sample of the car, `clock` s after its lap began (NaN: not known)."""
        if not math.isfinite(clock):
            return
        if self._rows and clock < self._rows[-1][0]:
            self._earlier, self._rows = self._rows, []
        elif self._rows and clock == self._rows[-1][0]:
            return
        distance = self._measure_distance(state)
        if len(self._rows) < MAX_SAMPLES:
            self._rows.append((clock, distance, state.x, state.y, state.z, state.yaw, state.speed,
                               state.steering_wheel_angle))  # fmt: skip
        delta = clock - self.best.clock_at(distance) if self.best is not None else math.nan
        self.pace = LapPace(distance, delta)

    def _measure_distance(self, state: CarState) -> float:
        x, y = state.x, state.y
        if self._road is not None and math.isfinite(x + y):
            place, _, self._row = self._road.locate(x, y, self._row)
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
                     if len(rows) > 1 and abs(rows[-1][0] - record.time_s) < _SAME_LAP_S), None)  # fmt: skip
        if rows is None:
            return []
        lap = LapPath.from_samples(record.number, record.time_s, np.array(rows))
        corners = compare_corners(self._spans, lap, self.best)
        if record.valid and (self.best is None or record.time_s < self.best.time_s):
            self.best = lap
        return corners

    def ghosts_at(self, clock: float) -> list[OtherCar]:
        """Return the best lap's car as it was `clock` s after its start; none without a best lap."""
        ghost = self.best.ghost_at(clock) if self.best is not None and math.isfinite(clock) else None
        return [] if ghost is None else [ghost]
