"""`ReplayPlayer`: a recording as a source of frames: play, pause, scrub, speed, loop, ghosts of other laps."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from trailbrake.dashboard import page_messages
from trailbrake.dashboard.frame_source import HISTORY_INTERVAL, HISTORY_S, Frame, PageRequest
from trailbrake.dashboard.lap_follower import SAMPLE_COLUMNS, LapPace, LapPath, compare_corners, find_corner_spans
from trailbrake.dashboard.live_coach import LocatedTarget
from trailbrake.dashboard.recorded_frames import RecordedFrames, ReplayLap
from trailbrake.state import DebugLine, OtherCar
from trailbrake.tracks.road import Road

MIN_SPEED, MAX_SPEED = 1.0 / 16.0, 16.0  # times real time
MAX_GHOSTS = 8
PATH_POINTS = 4000  # of the path driven that a page receives
_DISTANCE, _SPEED = SAMPLE_COLUMNS.index("distance"), SAMPLE_COLUMNS.index("speed")
SETTLED_S = 0.15  # s without another scrub, after which pages receive path and history of the new place


class ReplayPlayer:
    """Plays a recording; all pages see the same place. It belongs to the server's thread.

    Args:
        frames: of the recording.
        clock: steady time, s.
        road: the track; None where it is not known.
        coach: target laps that are shown beside; None for none.

    Attributes:
        restart_count: grows when the place was changed by hand.
        history_count: grows with it.
        lines: none; drawings are not recorded.
    """

    def __init__(
        self,
        frames: RecordedFrames,
        clock: Callable[[], float],
        road: Road | None = None,
        coach: LocatedTarget | None = None,
    ) -> None:
        self._frames, self._clock, self._road, self._coach = frames, clock, road, coach
        self._spans = find_corner_spans(road) if road is not None else []
        self._anchor = (clock(), 0.0)  # steady time, and the place in the recording then
        self._playing, self._speed = True, 1.0
        self._loop: tuple[float, float] | None = None
        self._ghosts: list[int] = []  # indices of `frames.laps`
        self._corners: dict[int, dict[str, Any]] = {}  # by the index of their lap; made when it is shown
        self._moved_at = math.nan  # when the place was last changed by hand; NaN: pages know it
        self.restart_count = self.history_count = 0
        self.lines: tuple[DebugLine, ...] = ()
        valid = [i for i, lap in enumerate(frames.laps) if lap.valid]
        self._best = min(valid, key=lambda i: frames.laps[i].time_s) if valid else None

    # --- the clock

    @property
    def position(self) -> float:
        """The place in the recording, s since its start."""
        since, place = self._anchor
        if not self._playing:
            return place
        place += (self._clock() - since) * self._speed
        if self._loop is not None:
            start, end = self._loop
            return start + (place - start) % (end - start) if place >= end else place
        return min(place, self._frames.duration)

    def _set_position(self, place: float) -> None:
        self._anchor = (self._clock(), min(max(place, 0.0), self._frames.duration))

    def execute_request(self, request: PageRequest) -> str:
        """Do what a page requests; return why not, "" if it is done."""
        action = {
            "play": self._play, "pause": self._pause, "seek": self._seek, "step": self._step, "speed": self._set_speed,
            "loop": self._set_loop, "ghosts": self._set_ghosts,
        }.get(request.action)  # fmt: skip
        return f"a replay knows no {request.action}" if action is None else action(request.values)

    def _play(self, values: tuple[float, ...]) -> str:
        at_end = self._loop is None and self.position >= self._frames.duration
        if at_end:
            self._mark_moved()
        self._set_position(0.0 if at_end else self.position)
        self._playing = True
        return ""

    def _pause(self, values: tuple[float, ...]) -> str:
        self._set_position(self.position)
        self._playing = False
        return ""

    def _seek(self, values: tuple[float, ...]) -> str:
        if len(values) != 1:
            return "seek: expected a time"
        if self._loop is not None and not self._loop[0] <= values[0] < self._loop[1]:
            self._loop = None
        self._set_position(values[0])
        self._mark_moved()
        return ""

    def _step(self, values: tuple[float, ...]) -> str:
        if len(values) != 1 or abs(values[0]) > 1e6:
            return "step: expected a number of rows"
        row = self._frames.row_at(self.position) + int(values[0])
        self._playing = False
        self._set_position(float(self._frames.times[min(max(row, 0), len(self._frames.times) - 1)]))
        self._mark_moved()
        return ""

    def _set_speed(self, values: tuple[float, ...]) -> str:
        if len(values) != 1 or not MIN_SPEED <= values[0] <= MAX_SPEED:
            return f"speed: expected {MIN_SPEED:g} to {MAX_SPEED:g}"
        self._set_position(self.position)
        self._speed = values[0]
        return ""

    def _set_loop(self, values: tuple[float, ...]) -> str:
        place = self.position
        if not values:
            self._set_position(place)
            self._loop = None
            return ""
        if len(values) != 2 or not 0.0 <= values[0] < values[1] <= self._frames.duration + 1e-6:
            return "loop: expected a start and a later end within the recording"
        self._loop = (values[0], values[1])
        if not values[0] <= place < values[1]:
            place = values[0]
            self._mark_moved()
        self._set_position(place)
        return ""

    def _set_ghosts(self, values: tuple[float, ...]) -> str:
        known = range(len(self._frames.laps))
        if len(values) > MAX_GHOSTS or any(value not in known for value in values):
            return f"ghosts: expected up to {MAX_GHOSTS} indices of laps"
        self._ghosts = [int(value) for value in values]
        return ""

    def _mark_moved(self) -> None:
        self._moved_at = self._clock()

    def describe_controls(self) -> dict[str, Any]:
        """Return what is set, and the corners of the lap at this place, as JSON values."""
        return {
            "replay": {"playing": self._playing and (self._loop is not None or self.position < self._frames.duration),
                       "speed": self._speed, "loop": self._loop, "ghosts": self._ghosts,
                       "corners": self._describe_corners()}
        }  # fmt: skip

    def _describe_corners(self) -> dict[str, Any] | None:
        lap = self._lap_at(self.position)
        if lap is None or not self._spans:
            return None
        index = self._frames.laps.index(lap)
        if index not in self._corners:
            path = self._lap_path(index)
            corners = compare_corners(self._spans, path, self._lap_path(self._best)) if path is not None else []
            self._corners[index] = {"lap": lap.number, "corners": corners}
        return self._corners[index]

    def describe_recording(self) -> dict[str, Any]:
        """Return what does not change: the length, s, and the laps, as JSON values."""
        laps = [
            {"number": lap.number, "time_s": lap.time_s, "valid": lap.valid, "start": round(lap.start, 3),
             "end": round(lap.end, 3)}
            for lap in self._frames.laps
        ]  # fmt: skip
        return {"duration": self._frames.duration, "laps": laps, "best": self._best}

    # --- the frames

    def update(self) -> None:
        """Have pages receive path and history anew, when scrubbing is over."""
        if self._clock() - self._moved_at >= SETTLED_S:  # false for NaN
            self._moved_at = math.nan
            self.restart_count += 1
            self.history_count += 1

    @property
    def has_frames(self) -> bool:
        """True: a recording has rows."""
        return True

    def make_frame(self, number: int, skipped: int, sent: float) -> Frame:
        """Return the frame of the present place; the arguments are those of `LiveTap.make_frame`."""
        position = self.position
        lap = self._lap_at(position)
        clock = position - (lap.start if lap is not None else self._last_end(position))
        health = page_messages.ConnectionHealth(
            frame=float(number), sent=sent, skipped=float(skipped), silent=0.0, lap_clock=clock, position=position
        )
        return Frame(self._make_row(self._frames.row_at(position), health), self._ghosts_at(clock), None)

    def _make_row(self, row: int, health: page_messages.ConnectionHealth) -> list[float]:
        car, bend = self._frames.read_row(row)
        return page_messages.frame_row(car.tolist(), health, bend, self._pace_at(float(self._frames.times[row])))

    def _lap_at(self, position: float) -> ReplayLap | None:
        return next((lap for lap in self._frames.laps if lap.start <= position < lap.end), None)

    def _last_end(self, position: float) -> float:
        return max((lap.end for lap in self._frames.laps if lap.end <= position), default=0.0)

    def _lap_path(self, index: int | None) -> LapPath | None:
        return self._frames.lap_path(index) if index is not None else None

    def _pace_at(self, position: float) -> LapPace:
        best, lap = self._lap_path(self._ghosts[0] if self._ghosts else self._best), self._lap_at(position)
        path = None if lap is None else self._lap_path(self._frames.laps.index(lap))
        if lap is None or path is None:
            return LapPace()
        clock = position - lap.start
        distance, speed = (float(np.interp(clock, path.samples[:, 0], path.samples[:, k])) for k in (_DISTANCE, _SPEED))
        pace = LapPace(distance, math.nan if best is None else clock - best.clock_at(distance))
        return pace if self._coach is None else self._coach.measure_pace(pace, clock, speed)

    def _ghosts_at(self, clock: float) -> list[OtherCar]:
        paths = [self._frames.lap_path(index) for index in self._ghosts]
        paths += [] if self._coach is None else [self._coach.paths.get("limit")]
        ghosts = [path.ghost_at(clock) for path in paths if path is not None]
        return [ghost for ghost in ghosts if ghost is not None]

    def encode_path(self) -> bytes:
        """Return the newest points driven: x, y (m), speed (m/s) as little-endian doubles."""
        return self._frames.path_before(self.position, PATH_POINTS).astype("<f8").tobytes()

    def encode_rows(self) -> bytes:
        """Return the frames of the last half minute as rows of little-endian doubles."""
        position = self.position
        rows = self._frames.rows_between(position - HISTORY_S, position, HISTORY_INTERVAL)
        health = page_messages.ConnectionHealth()
        values = [self._make_row(row, health) for row in rows]
        return np.array(values, "<f8").tobytes()

    @property
    def debug_image(self) -> None:
        """None: drivers' images are not recorded."""
        return None
