"""The times of a link that receives one telemetry message after another: sequence, age, laps, restarts."""

import math

from trailbrake.roles import LinkCounters
from trailbrake.state import CarState, Phase


class TelemetryClock:
    """Numbers the samples of one link and times its laps.

    Args:
        counters: of the link; restarts and silences are counted there.
        stale_after_s: s of wall time without telemetry after which the simulator counts as gone.

    Attributes:
        time: simulator time of the newest sample, s.
        sequence: its number, from 0; -1 before the first.
        is_stale: whether the last state was filled in too long after the last telemetry.
        lap_start: simulator time at which the lap under way began, s.
        best_lap_time: s; NaN before the first complete lap.
    """

    def __init__(self, counters: LinkCounters, stale_after_s: float) -> None:
        self._counters, self._stale_after_s = counters, stale_after_s
        self.time, self.sequence = 0.0, -1
        self.is_stale = False
        self._arrived_at: float | None = None
        self._reset_laps()

    def _reset_laps(self) -> None:
        self.lap_start, self.best_lap_time = 0.0, math.nan

    def note_arrival(self, now: float) -> None:
        """Count age from `now`, s of any steady clock: the link has opened, or a telemetry message has arrived."""
        self._arrived_at = now

    def measure_age(self, now: float) -> float:
        """Return the time since the last arrival, s; 0 before the first."""
        return now - self._arrived_at if self._arrived_at is not None else 0.0

    def is_repeated(self, time: float) -> bool:
        """Return whether a sample of simulator time `time` (s) is the newest one again."""
        return self.sequence >= 0 and time == self.time

    def accept_sample(self, time: float) -> bool:
        """Number a new sample of simulator time `time` (s); return whether the simulator has restarted before it."""
        restarted = self.sequence >= 0 and time < self.time
        if restarted:
            self._counters.resyncs += 1
            self._reset_laps()
        self.time = time
        self.sequence += 1
        return restarted

    def start_lap(self, time: float) -> None:
        """Start the first timed lap at simulator time `time`, s."""
        self.lap_start = time

    def complete_lap(self, time: float) -> None:
        """End the lap under way and start the next at simulator time `time`, s."""
        lap_time = time - self.lap_start
        self.lap_start = time
        if not lap_time >= self.best_lap_time:  # true for NaN: the first lap
            self.best_lap_time = lap_time

    def fill_laps(self, state: CarState) -> None:
        """Fill in the lap times of a state of the newest sample."""
        state.lap_time = self.time - self.lap_start
        state.best_lap_time = self.best_lap_time

    def fill_age(self, state: CarState, now: float, *, is_connected: bool) -> None:
        """Fill in sequence and age; set the phase to LOST where the simulator is silent or not connected.

        Args:
            state: of the newest sample.
            now: s, the clock of `note_arrival`.
            is_connected: whether a connection stands.
        """
        state.sequence = self.sequence
        state.age = self.measure_age(now)
        stale = state.age > self._stale_after_s or not is_connected
        if stale:
            state.phase = Phase.LOST
            self._counters.stale += not self.is_stale
        self.is_stale = stale
