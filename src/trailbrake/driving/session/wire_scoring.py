"""Scores a drive through a wire without positions: by the laps and the clock that it shows itself."""

import math
from collections.abc import Callable, Sequence

from trailbrake.driving.road_monitor import RoadMonitor
from trailbrake.laps import LapRecord
from trailbrake.state import CarState


class WireLapScorer(RoadMonitor):
    """A monitor by `lap` and `lap_time`. Such a wire has no sectors, no line, and no road that a car could leave.

    A lap counts unless the wire shows a contact in it; most such wires show none, and then only the other end knows.
    Finished laps of a session before a restart are forgotten, as the simulator forgets them.

    Args:
        on_lap: receives each finished lap.
    """

    def __init__(self, on_lap: Callable[[LapRecord], None]) -> None:
        super().__init__(None, on_lap=on_lap)
        self.off_track_s = self.contacts = math.nan
        self._lap_began = self._lap_number = math.nan
        self._contacts_before = math.nan  # contacts when the lap began

    def observe_state(self, state: CarState, laps: Sequence[LapRecord] | None = None) -> None:
        """Measure one state, and count the wire's laps."""
        began = state.time - state.lap_time
        if state.lap > self._lap_number:
            self._finish_lap(int(self._lap_number), began - self._lap_began, state.contacts)
        elif state.lap < self._lap_number or (state.lap == self._lap_number and state.time < self.time):
            self.laps.clear()
        if state.lap != self._lap_number:
            self._contacts_before = state.contacts
        self._lap_began, self._lap_number = began, state.lap
        super().observe_state(state, laps)
        self.contacts = state.contacts

    def _finish_lap(self, number: int, time_s: float, contacts: float) -> None:
        touched = contacts - self._contacts_before if contacts > self._contacts_before else 0.0
        lap = LapRecord(number, time_s, not touched, (), "contact" if touched else "", 0.0, round(touched))
        self.laps.append(lap)
        self._on_lap(lap)
