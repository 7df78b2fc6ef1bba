"""Scores a drive through a wire without positions: by the laps and the clock that it shows itself."""

import math
from collections.abc import Callable

from trailbrake.json_types import JsonObject
from trailbrake.laps import LapRecord
from trailbrake.state import CarState, Controls


class WireLapScorer:
    """A Score from `lap` and `lap_time`. Such a wire has no sectors, no line, and no road that a car could leave.

    A lap counts unless the wire shows a contact in it; most such wires show none, and then only the other end knows.

    Attributes:
        laps: finished laps; those of a session before a restart are forgotten, as the simulator forgets them.
        max_error: NaN: there is no line.
        time: s, simulator time of the last tick; 0 before the first.
    """

    max_error = math.nan
    progress = 0.0
    off_track_s = math.nan

    def __init__(self, on_lap: Callable[[LapRecord], None]) -> None:
        self._on_lap = on_lap
        self.laps: list[LapRecord] = []
        self.time = 0.0
        self.contacts = math.nan
        self._lap_began = self._lap_number = math.nan
        self._contacts_before = math.nan  # contacts when the lap began
        self._speed_sum, self._ticks = 0.0, 0

    def start(self, about: JsonObject) -> None:
        """Nothing to prepare."""

    def tick(self, state: CarState, controls: Controls) -> None:
        """Count one tick."""
        began = state.time - state.lap_time
        if state.lap > self._lap_number:
            self._finish_lap(int(self._lap_number), began - self._lap_began, state.contacts)
        elif state.lap < self._lap_number or (state.lap == self._lap_number and state.time < self.time):
            self.laps.clear()
        if state.lap != self._lap_number:
            self._contacts_before = state.contacts
        self._lap_began, self._lap_number = began, state.lap
        self.time, self.contacts = state.time, state.contacts
        self._speed_sum += state.speed
        self._ticks += 1

    def _finish_lap(self, number: int, time_s: float, contacts: float) -> None:
        touched = contacts - self._contacts_before if contacts > self._contacts_before else 0.0
        lap = LapRecord(number, time_s, not touched, (), "contact" if touched else "", 0.0, round(touched))
        self.laps.append(lap)
        self._on_lap(lap)

    def close(self) -> None:
        """Nothing to end."""

    @property
    def mean_speed(self) -> float:
        """Mean speed over time, m/s; NaN before the first tick."""
        return self._speed_sum / self._ticks if self._ticks else math.nan
