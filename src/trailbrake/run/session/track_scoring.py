"""Scores a drive from what the wire shows: laps, time off the road, contacts, distance from the line."""

import math
from collections.abc import Callable
from typing import Protocol

from trailbrake.json_types import JsonObject
from trailbrake.laps import LapRecord, LapTimer
from trailbrake.state import CarState, Controls
from trailbrake.tracks.road import Road, RoadColumn
from trailbrake.tracks.track import Track

JOIN_DISTANCE = 300.0  # m from a start at rest on the centreline, which the line is not, until errors count


def lap_summary(lap: LapRecord) -> JsonObject:
    """Return a lap as a summary tells it."""
    return {
        "number": lap.number,
        "time_s": lap.time_s,
        "valid": lap.valid,
        "sectors_s": list(lap.sectors_s),
        "invalid_reason": lap.invalid_reason,
    }


class DriveScore(Protocol):
    """A Tap that keeps the score, whatever the wire shows."""

    laps: list[LapRecord]  # finished
    max_error: float  # m, largest distance from the line to the side; NaN where there is none
    time: float  # s, simulator time of the last tick; 0 before the first

    def start(self, about: JsonObject) -> None:
        """Begin."""

    def tick(self, state: CarState, controls: Controls) -> None:
        """Count one tick."""

    def close(self) -> None:
        """End."""

    @property
    def mean_speed(self) -> float:
        """Mean speed over time, m/s; NaN before the first tick."""

    @property
    def progress(self) -> float:
        """Share of the lap under way that has been driven; 0 where the wire does not show it."""

    @property
    def off_track_s(self) -> float:
        """Time off the road so far, s; NaN where the wire does not show it."""

    @property
    def contacts(self) -> float:
        """Contacts so far; NaN where the wire does not show them."""


class TrackScorer:
    """A Score from positions.

    Attributes:
        laps: finished laps.
        max_error: m, largest distance from the line to the side, once the car is JOIN_DISTANCE on its way; NaN without
            a line.
        time: s, simulator time of the last tick; 0 before the first.
    """

    def __init__(self, track: Track, line: Road | None, on_lap: Callable[[LapRecord], None]) -> None:
        self._road, self._line, self._on_lap = track.road, line, on_lap
        self.timer = LapTimer(self._road.length, self._road.closed)
        self.laps: list[LapRecord] = []
        self.max_error = math.nan if line is None else 0.0
        self.time = 0.0
        self._road_row = self._line_row = -1
        self._speed_sum, self._ticks = 0.0, 0

    def start(self, about: JsonObject) -> None:
        """Nothing to prepare."""

    def tick(self, state: CarState, controls: Controls) -> None:
        """Count one tick."""
        road, line = self._road, self._line
        s, offset, self._road_row = road.locate(state.x, state.y, self._road_row)
        # A start may be behind the line.
        joined = self.timer.number > 1 or self.timer.progress * road.length > JOIN_DISTANCE
        if line is not None:
            _, error, self._line_row = line.locate(state.x, state.y, self._line_row)
            if joined:
                self.max_error = max(self.max_error, abs(error))
        self._speed_sum += state.speed
        self._ticks += 1
        self.time = state.time
        lap = self.timer.update(state.time, s, self._count_wheels_off(state, offset), state.contacts)
        if lap is not None:
            self.laps.append(lap)
            self._on_lap(lap)

    def _count_wheels_off(self, state: CarState, offset: float) -> int:
        a, b, c, d = state.wheels
        on = a.on_track + b.on_track + c.on_track + d.on_track
        if on == on:
            return 4 - int(on)
        # The wire does not tell: a car whose centre is beyond the edge has two wheels off, and a metre on all four.
        row = self._road.table[self._road_row]
        beyond = max(offset - row[RoadColumn.WIDTH_LEFT], -offset - row[RoadColumn.WIDTH_RIGHT])
        return 4 if beyond > 1.0 else 2 if beyond > 0.0 else 0

    def close(self) -> None:
        """Nothing to end."""

    @property
    def mean_speed(self) -> float:
        """Mean speed over time, m/s; NaN before the first tick."""
        return self._speed_sum / self._ticks if self._ticks else math.nan

    @property
    def progress(self) -> float:
        """Share of the lap under way that has been driven."""
        return self.timer.progress

    @property
    def off_track_s(self) -> float:
        """Time with more than two wheels off the road so far, s."""
        return self.timer.off_track_s

    @property
    def contacts(self) -> float:
        """Contacts so far."""
        return self.timer.contacts
