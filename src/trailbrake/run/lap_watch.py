"""`LapWatch`: when a stage of laps is over, and whether the car stayed on the road as far as wire and map tell."""

import math
from collections import deque

from trailbrake.identification.lap_fault import HISTORY_S, FaultSample, LapFault, classify_fault, measure_sideslip
from trailbrake.json_types import JsonObject
from trailbrake.state import CarState, Controls
from trailbrake.tracks.road import Road, RoadColumn

LEAVING_TIME = 0.5  # s beside the road that end a lap of learning
STANDSTILL_S = 12.0
END_MARGIN = 15.0  # m before the end of an open road
USUAL_TO_REAR = 1.4  # m, from the centre of mass of a car to its rear axle
SAMPLE_S = 0.02  # s between samples that are kept
WHEELS_OFF = 3  # beside the road, with which a lap does not count


class LapWatch:
    """A Tap that ends a stage: after so many laps, at the end of an open road, off the road, or at a standstill.

    Args:
        road: as the drivers know it.
        laps: to drive.
        seconds: of simulator time, at most.
        leaving_time: s beside the road that count as leaving it.

    Attributes:
        driven: m along the road.
        left_road, stood, late, ended: what has happened; late: the time was over before the laps.
    """

    def __init__(self, road: Road, laps: float, seconds: float, leaving_time: float = LEAVING_TIME) -> None:
        self._road, self._laps, self._seconds, self._row = road, laps, seconds, -1
        self._leaving_time = leaving_time
        self._last = self._start = self._moved_at = self._off_at = math.nan
        self._samples: deque[FaultSample] = deque(maxlen=round(HISTORY_S / SAMPLE_S) + 1)
        self.driven = 0.0
        self.left_road = self.stood = self.late = self.ended = False

    def start(self, about: JsonObject) -> None:
        """Nothing to prepare."""

    def tick(self, state: CarState, controls: Controls) -> None:
        """Follow the car."""
        road = self._road
        s, offset, self._row = road.locate(state.x, state.y, self._row)
        if math.isnan(self._start):
            self._start, self._moved_at, self._last = state.time, state.time, s
        step = s - self._last
        if road.closed:
            step -= road.length * math.floor(step / road.length + 0.5)
        self.driven, self._last = self.driven + step, s
        row = road.table[self._row]
        off = abs(offset) > float(row[RoadColumn.WIDTH_LEFT] if offset > 0.0 else row[RoadColumn.WIDTH_RIGHT])
        off = off or sum(wheel.on_track < 0.5 for wheel in state.wheels) >= WHEELS_OFF
        self._off_at = math.nan if not off else state.time if math.isnan(self._off_at) else self._off_at
        self.left_road = self.left_road or state.time - self._off_at > self._leaving_time
        if state.speed > 0.5:
            self._moved_at = state.time
        self.stood = state.time - self._moved_at > STANDSTILL_S
        at_end = not road.closed and s > road.length - END_MARGIN
        over = at_end or self.driven > self._laps * road.length
        self.late = not over and state.time - self._start > self._seconds
        self.ended = self.left_road or self.stood or over or self.late
        self._keep_sample(state, controls)

    def close(self) -> None:
        """Nothing to end."""

    def find_fault(self) -> LapFault | None:
        """Return how the drive went wrong; None where the car neither left the road nor got stuck."""
        if self.left_road:
            return classify_fault(list(self._samples))
        return LapFault("standstill", 0.0) if self.stood else None

    def _keep_sample(self, state: CarState, controls: Controls) -> None:
        if self._samples and state.time - self._samples[-1].time < SAMPLE_S:
            return
        sideslip = measure_sideslip(state.velocity_x, state.velocity_y, state.yaw_rate, USUAL_TO_REAR)
        self._samples.append(FaultSample(
            state.time, state.speed, sideslip, state.acceleration_x, controls.throttle, controls.brake
        ))  # fmt: skip


class SteadyWatch:
    """A Tap that passes everything on to a LapWatch whose leaving of the road ends nothing.

    Args:
        watch: receives everything.
    """

    def __init__(self, watch: LapWatch) -> None:
        self._watch = watch

    def start(self, about: JsonObject) -> None:
        """Nothing to prepare."""

    def tick(self, state: CarState, controls: Controls) -> None:
        """Follow the car."""
        self._watch.tick(state, controls)

    def close(self) -> None:
        """Nothing to end."""
