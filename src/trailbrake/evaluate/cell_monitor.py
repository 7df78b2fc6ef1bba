"""`CellMonitor`: watches a cell by the world's own states, which the driver never sees, and knows when it is over."""

import math

from trailbrake.evaluate.cell_result import CellLap, CellResult, Outcome
from trailbrake.json_types import JsonObject
from trailbrake.laps import MAX_WHEELS_OFF
from trailbrake.roles import RoadPlant
from trailbrake.state import CarState, Controls

HEADWAY = 2.0  # m further than ever before that count as headway
HEADWAY_TIME = 5.0  # s without headway from which a car counts as stuck
STUCK_LIMIT = 120.0  # s without headway after which a cell is over
MOVING_SPEED = 0.5  # m/s above which a car has begun to drive


class CellMonitor:
    """A Tap that judges one car of a world.

    Args:
        plant: the world.
        laps: to drive; an open road is over at its end.
        seconds: s of simulator time after which the cell is over.

    Attributes:
        ended: whether it is over.
        reason: why it ended, "" = all laps driven.
    """

    def __init__(self, plant: RoadPlant, laps: int, seconds: float) -> None:
        self._plant, self._seconds = plant, seconds
        road = plant.track.road
        # A road read from a file may state its length as a NumPy number, which no result file can hold.
        self._length, self._closed = road.length, road.closed
        self._laps = laps if road.closed else 1
        self.ended, self.reason = False, ""
        self._first_time = self._time = self._moved_at = math.nan
        self._is_off = False
        self._off_count, self._off_s, self._stuck_s = 0, 0.0, 0.0
        self._furthest, self._advanced_at = -math.inf, math.nan
        self._start = math.nan
        self._contacts = 0
        self._steps = 0

    def start(self, about: JsonObject) -> None:
        """Nothing to prepare."""

    def tick(self, state: CarState, controls: Controls) -> None:
        """Look at the world; what the wire shows and what the driver answers do not matter."""
        self._steps += 1
        self.observe_state(self._plant.car_state(0), len(self._plant.laps(0)))

    def observe_state(self, truth: CarState, finished: int) -> None:
        """Process one tick of the world.

        Args:
            truth: the car's state.
            finished: number of finished laps.
        """
        now = truth.time
        if math.isnan(self._first_time):
            self._first_time = self._advanced_at = self._time = now
        dt, self._time = max(now - self._time, 0.0), now
        if math.isnan(self._moved_at) and truth.speed > MOVING_SPEED:
            self._moved_at = now
        off = 4 - sum(wheel.on_track for wheel in truth.wheels) > MAX_WHEELS_OFF
        self._off_count += off and not self._is_off
        self._is_off = off
        if off:
            self._off_s += dt
        self._contacts = int(truth.contacts)
        self._follow_headway(truth, finished, now, dt)
        if finished >= self._laps:
            self.ended = True
        elif truth.fuel <= 0.0 and truth.speed < MOVING_SPEED and not math.isnan(self._moved_at):
            self.ended, self.reason = True, f"no fuel in lap {finished + 1}, {self._place(truth):.0f} m after the line"
        elif now - self._advanced_at > STUCK_LIMIT:
            self.ended, self.reason = True, f"stuck in lap {finished + 1}, {self._place(truth):.0f} m after the line"
        elif now - self._first_time >= self._seconds:
            self.ended, self.reason = True, f"{finished} of {self._laps} laps in {self._seconds:g} s"

    def _place(self, truth: CarState) -> float:
        return truth.lap_progress * self._length

    def _follow_headway(self, truth: CarState, finished: int, now: float, dt: float) -> None:
        # At the end of an open road the lap is finished and its whole length driven: that is one length.
        way = (finished * self._length if self._closed else 0.0) + self._place(truth)
        if math.isnan(self._start):
            self._start = way
        if way >= self._furthest + HEADWAY:
            self._furthest, self._advanced_at = way, now
        elif now - self._advanced_at > HEADWAY_TIME:
            self._stuck_s += dt

    def close(self) -> None:
        """Nothing to end."""

    def build_result(self, failure: str, predicted_s: float) -> CellResult:
        """Return the verdict.

        Args:
            failure: why the drive broke off, "" where this monitor ended it.
            predicted_s: planned flying lap, s; NaN without a plan.
        """
        laps = tuple(
            CellLap(lap.number, lap.time_s, lap.valid, lap.invalid_reason, lap.off_track_s, lap.contacts)
            for lap in self._plant.laps(0)
        )
        reason = failure or self.reason
        outcome: Outcome = "clean"
        if reason or self._contacts:
            outcome = "crash"
        elif not all(lap.valid for lap in laps):
            outcome = "off"
        way = max(self._furthest - self._start, 0.0) if self._furthest > -math.inf else 0.0
        driven = self._time - self._moved_at
        return CellResult(
            outcome=outcome, ended=reason, laps=laps, closed=self._closed, time_s=self._time - self._first_time,
            distance_m=way, mean_speed_mps=way / driven if driven > 0.0 else None, off_track_count=self._off_count,
            off_track_s=self._off_s, stuck_s=self._stuck_s, contacts=self._contacts,
            predicted_s=None if math.isnan(predicted_s) else predicted_s, steps=self._steps,
        )  # fmt: skip
