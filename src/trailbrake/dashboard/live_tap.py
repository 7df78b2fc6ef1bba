"""`LiveTap`: receives every tick and keeps the newest, so that each page can be served at a pace of its own."""

import math
import sys
from array import array
from collections import deque
from collections.abc import Callable
from typing import Any

from trailbrake.dashboard import page_messages
from trailbrake.dashboard.drive_controls import DriveControls, RequestTarget
from trailbrake.dashboard.frame_source import Frame, FrameHistory, PageRequest
from trailbrake.dashboard.lap_follower import LapFollower, LapPace
from trailbrake.laps import LapRecord
from trailbrake.observe.path_curvature import find_path_bend
from trailbrake.roles import Driver, HasDebugValues
from trailbrake.state import CarState, Controls, DebugLine
from trailbrake.tracks.road import Road

PATH_SPACING = 2.0  # m driven between points of the path
MAX_PATH_POINTS = 50_000  # points kept: 100 km
RATE_WINDOW_S = 1.0  # s over which the loop's rate is counted


class LiveTap:
    """A Tap. A tick costs some microseconds: it keeps references, and the server's thread packs them.

    Args:
        clock: steady time, s.
        link: whose counters are shown; None without one.
        driver: its `debug` image is shown, where it has one.
        road: the track; None where it is not known.
        publish_corners: takes the corners of each finished lap, in the server's thread.

    Attributes:
        newest: the newest state and controls, and when they arrived; None before the first.
        tick_count: ticks so far.
        lap_start: simulator time at which the lap under way began, for wires without a lap time.
        restart_count: how often the simulator's time ran back.
        history_count: 0; a page receives the history once.
        lines: what the driver draws in the world; replaced, never changed in place.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        link: RequestTarget | None = None,
        driver: Driver | None = None,
        road: Road | None = None,
        publish_corners: Callable[[dict[str, Any]], None] = lambda corners: None,
    ) -> None:
        self._clock, self._link, self._driver = clock, link, driver
        self._publish_corners = publish_corners
        self._controls = DriveControls(link, driver, road)
        # Of the server's thread alone:
        self._history, self._follower = FrameHistory(), LapFollower(road)
        self._finished_laps: deque[LapRecord] = deque()  # from the drive's thread to the server's
        self.history_count = 0
        self.newest: tuple[CarState, Controls, float] | None = None
        self.tick_count = 0
        self.lap_start = math.nan
        self.restart_count = 0
        self.lines: tuple[DebugLine, ...] = ()
        self._path = array("d")
        self._last_point = (math.nan, math.nan)
        self._time = math.nan
        self._rate_start = (clock(), 0)  # when, and the ticks then
        self._loop_rate = math.nan

    def start(self, about: dict[str, Any]) -> None:
        """Nothing to prepare."""

    def tick(self, state: CarState, controls: Controls) -> None:
        """Keep the tick."""
        if not state.time >= self._time:  # the first, or a restart: what was driven before is another drive
            self.restart_count += not math.isnan(self._time)
            self.lap_start = state.time
            self._path, self._last_point = array("d"), (math.nan, math.nan)
        self._time = state.time
        self.newest = (state, controls, self._clock())
        self.tick_count += 1
        if controls.command is not None and controls.command.lines is not None:
            self.lines = tuple(controls.command.lines)  # a copy of a list, which the driver may change
        x, y, speed = state.x, state.y, state.speed
        # NaN is not less: the first is kept.
        if math.dist((x, y), self._last_point) < PATH_SPACING or not math.isfinite(x + y + speed):
            return
        self._last_point = (x, y)
        if len(self._path) >= 3 * MAX_PATH_POINTS:
            self._path = self._path[3 * MAX_PATH_POINTS // 2 :]
        self._path.extend((x, y, speed))

    def mark_lap(self, record: LapRecord | None = None) -> None:
        """Start a lap at the newest state; `record` is the one that has ended."""
        self.lap_start = self._time
        if record is not None:
            self._finished_laps.append(record)

    def close(self) -> None:
        """Nothing to end."""

    def update(self) -> None:
        """Keep a frame for pages that are opened later, and follow the lap."""
        newest = self.newest
        if newest is None:
            return
        state, controls, _ = newest
        health = self.measure_health()
        self._history.add_row(self._frame_row(state, controls, health))
        self._follower.add_sample(state, health.lap_clock)
        while self._finished_laps:
            record = self._finished_laps.popleft()
            if corners := self._follower.finish_lap(record):
                self._publish_corners({"lap": record.number, "corners": corners})

    @property
    def has_frames(self) -> bool:
        """Whether a tick has come."""
        return self.newest is not None

    def make_frame(self, number: int, skipped: int, sent: float) -> Frame:
        """Return the newest frame; the arguments are those of `FrameSource`."""
        assert self.newest is not None
        state, controls, _ = self.newest
        health = self.measure_health()
        health.frame, health.skipped, health.sent = float(number), float(skipped), sent
        ghosts = self._follower.ghosts_at(health.lap_clock)
        return Frame(self._frame_row(state, controls, health), [*state.others, *ghosts], state.image)

    def _frame_row(self, state: CarState, controls: Controls, health: page_messages.ConnectionHealth) -> list[float]:
        car = page_messages.car_values(state, controls)
        return page_messages.frame_row(car, health, find_path_bend(state.speed, state.yaw_rate), self._follower.pace)

    def encode_rows(self) -> bytes:
        """Return the frames of the last half minute as rows of little-endian doubles."""
        return self._history.encode_rows()

    def describe_controls(self) -> dict[str, Any]:
        """Return what a page can request, and what is set, as JSON values."""
        return self._controls.describe()

    def execute_request(self, request: PageRequest) -> str:
        """Have the drive carry out what a page requests; return why not, "" if it will."""
        return self._controls.execute_request(request, math.nan if self.newest is None else self.newest[0].yaw)

    def execute_pending(self, say: Callable[[str], None]) -> None:
        """Carry out what pages have requested. In the drive's thread; `say` takes a line for the log."""
        self._controls.execute_pending(say)

    def encode_path(self) -> bytes:
        """Return the points driven: x, y (m), speed (m/s) as little-endian doubles."""
        points = self._path[:]  # a copy first: an array that exports its buffer cannot be extended
        if sys.byteorder == "big":
            points.byteswap()
        return points.tobytes()

    @property
    def pace(self) -> LapPace:
        """The lap under way beside the best one, as of the last `update`."""
        return self._follower.pace

    @property
    def debug_image(self) -> Any:
        """The driver's own image, (height, width, 3) uint8; None without one."""
        return self._driver.debug if isinstance(self._driver, HasDebugValues) else None

    def measure_health(self) -> page_messages.ConnectionHealth:
        """Return the state of the connection now."""
        now = self._clock()
        since, ticks = self._rate_start
        if now - since >= RATE_WINDOW_S:
            self._loop_rate = (self.tick_count - ticks) / (now - since)
            self._rate_start = (now, self.tick_count)
        health = page_messages.ConnectionHealth(loop_rate=self._loop_rate)
        if self.newest is not None:
            state, _, came = self.newest
            health.silent = now - came + state.age
            own = state.lap_time
            health.lap_clock = own if own == own else state.time - self.lap_start
        if self._link is not None:
            counters = self._link.counters
            health.received, health.lost = float(counters.received), float(counters.lost)
            health.stale, health.resyncs = float(counters.stale), float(counters.resyncs)
        return health
