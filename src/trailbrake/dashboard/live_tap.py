"""`LiveTap`: receives every tick and keeps the newest, so that each page can be served at a pace of its own.

`DriveControls`: what a page can request of the simulator and of the driver of a drive that goes on.

A page's request is checked in the server's thread and carried out in the drive's, between two ticks.
"""

import math
import sys
from array import array
from collections import deque
from collections.abc import Callable
from operator import attrgetter
from typing import Any, NamedTuple, Protocol

from trailbrake.dashboard import page_messages
from trailbrake.dashboard.coach_choice import CoachChoice
from trailbrake.dashboard.frame_source import Frame, FrameHistory, PageRequest
from trailbrake.dashboard.lap_follower import LapFollower, LapPace
from trailbrake.dashboard.live_coach import LiveCoach
from trailbrake.laps import LapRecord
from trailbrake.observe.path_curvature import find_path_bend
from trailbrake.roles import Driver, HasDebugValues, HasGains, LinkCounters
from trailbrake.state import CarState, Controls, DebugLine, Pose, SimCommand
from trailbrake.state.commands import find_command_problem
from trailbrake.state.fields import Quantity, declared_quantities
from trailbrake.tracks.road import Road, RoadColumn

PATH_SPACING = 2.0  # m driven between points of the path
MAX_PATH_POINTS = 50_000  # points kept: 100 km
RATE_WINDOW_S = 1.0  # s over which the loop's rate is counted
MAX_WAITING = 64  # requests; further ones are refused until the drive has carried some out
MAX_UNDO = 100  # changes of gains that can be taken back


class _GainChange(NamedTuple):
    name: str
    value: float


class RequestTarget(Protocol):
    """Carries out what a page requests of a simulator: the link of a drive, or a served world."""

    ACCEPTS: frozenset[str]  # names of COMMAND_FIELDS
    counters: LinkCounters

    def send_command(self, command: SimCommand) -> None:
        """Carry out a command."""


class DriveControls:
    """Requests to one car's simulator and driver.

    Args:
        link: of the car, or the world that is served; what it does not accept is not offered.
        driver: its gains can be changed, where it has any; None where another program drives.
        road: the track: a car that is put somewhere looks along it; None where it is not known.
    """

    def __init__(self, link: RequestTarget | None, driver: Driver | None, road: Road | None) -> None:
        self._link, self._road = link, road
        self._accepted = frozenset() if link is None else link.ACCEPTS
        self._gains: object = driver.gains if isinstance(driver, HasGains) else None
        self._declared: dict[str, Quantity] = {} if self._gains is None else declared_quantities(type(self._gains))
        self._waiting: deque[SimCommand | _GainChange] = deque()  # from the server's thread to the drive's
        self._undo: list[_GainChange] = []  # newest last; the values before
        self._values = {name: float(attrgetter(name)(self._gains)) for name in self._declared}  # as requested
        self._paused, self._time_scale = False, 1.0
        self._stop_after: int | None = None  # samples received, after which a step is over

    def describe(self) -> dict[str, Any]:
        """Return what is offered and what is set, as JSON values."""
        offered = sorted(self._accepted & {"pause", "time_scale", "restart", "teleport", "to_pits"})
        gains = [
            {"name": name, "value": self._values[name], "unit": q.unit, "meaning": q.meaning,
             "lo": q.lo if math.isfinite(q.lo) else None, "hi": q.hi if math.isfinite(q.hi) else None}
            for name, q in self._declared.items()
        ]  # fmt: skip
        return {"drive": {"offered": offered, "paused": self._paused, "time_scale": self._time_scale,
                          "gains": gains, "undo": len(self._undo)}}  # fmt: skip

    def execute_request(self, request: PageRequest, yaw: float) -> str:
        """Check a request and have it carried out by the drive; return why not, "" if it will be.

        Args:
            request: of a page.
            yaw: of the car (rad), for a place off a known road.
        """
        if len(self._waiting) >= MAX_WAITING:
            return f"{request.action}: the drive has not carried out the last requests yet"
        if request.action == "gain":
            return self._change_gain(request)
        if request.action == "undo":
            return self._undo_change()
        command = self._make_command(request, yaw)
        if isinstance(command, str):
            return command
        problem = find_command_problem(command, self._accepted)
        if problem:
            return problem
        if request.action == "step":
            self._stop_after = -1  # the drive's thread counts from when the simulator goes on
        if command.pause is not None:
            self._paused = command.pause or request.action == "step"
        if command.time_scale is not None:
            self._time_scale = command.time_scale
        self._waiting.append(command)
        return ""

    def _make_command(self, request: PageRequest, yaw: float) -> SimCommand | str:
        values, count = request.values, len(request.values)
        match request.action, count:
            case "pause", 1:
                return SimCommand(pause=values[0] != 0.0)
            case "step", 0:
                return SimCommand(pause=False)
            case "time_scale", 1:
                return SimCommand(time_scale=values[0])
            case "restart", 0:
                return SimCommand(restart=True)
            case "to_pits", 0:
                return SimCommand(to_pits=True)
            case "teleport", 2:
                return SimCommand(teleport=self._make_pose(values[0], values[1], yaw))
        return f"a drive takes no {request.action} with {count} numbers"

    def _make_pose(self, x: float, y: float, yaw: float) -> Pose:
        if self._road is not None:
            yaw = self._road.value_at(self._road.locate(x, y)[0], RoadColumn.YAW)
        return Pose(x, y, yaw=math.remainder(yaw, 2.0 * math.pi) if math.isfinite(yaw) else 0.0)

    def _change_gain(self, request: PageRequest) -> str:
        q = self._declared.get(request.name)
        if q is None or len(request.values) != 1:
            return f"no gain {request.name}"
        value = request.values[0]
        if not q.lo <= value <= q.hi:
            return f"{request.name}: expected {q.lo:g} to {q.hi:g} {q.unit}"
        self._undo = [*self._undo[1 - MAX_UNDO :], _GainChange(request.name, self._values[request.name])]
        self._queue_gain(_GainChange(request.name, value))
        return ""

    def _undo_change(self) -> str:
        if not self._undo:
            return "undo: no gain has been changed"
        self._queue_gain(self._undo.pop())
        return ""

    def _queue_gain(self, change: _GainChange) -> None:
        self._values[change.name] = change.value
        self._waiting.append(change)

    def execute_pending(self, say: Callable[[str], None]) -> None:
        """Carry out what is waiting. In the drive's thread; `say` takes a line for the log."""
        if self._link is None:
            return
        received = self._link.counters.received
        while self._waiting:
            job = self._waiting.popleft()
            if isinstance(job, _GainChange):
                # In place: a driver's controllers hold the same frozen record, and read it at every tick.
                object.__setattr__(self._gains, job.name, job.value)
                say(f"gain {job.name} = {job.value:g}")
                continue
            self._link.send_command(job)
            if self._stop_after is not None:
                self._stop_after = received
        if self._stop_after is not None and received > self._stop_after >= 0:
            self._stop_after = None
            self._link.send_command(SimCommand(pause=True))


class LiveTap:
    """A Tap. A tick costs some microseconds: it keeps references, and the server's thread packs them.

    Args:
        clock: steady time, s.
        link: whose counters are shown; None without one.
        driver: its `debug` image is shown, where it has one.
        road: the track; None where it is not known.
        publish: takes the kind and the value of messages for pages, in the server's thread: the corners of a finished
            lap, and how many of the last laps are undone.
        coach: what the laps are measured against; None: against the best one alone.

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
        publish: Callable[[str, Any], None] = lambda kind, value: None,
        *,
        coach: CoachChoice | None = None,
    ) -> None:
        self._clock, self._link, self._driver = clock, link, driver
        self._publish = publish
        self._controls = DriveControls(link, driver, road)
        # Of the server's thread alone:
        self._history = FrameHistory()
        self._follower = LapFollower(road) if coach is None else LiveCoach(road, coach)
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
        if undone := self._follower.add_sample(state, health.lap_clock):
            self._publish("undone_laps", undone)
        while self._finished_laps:
            record = self._finished_laps.popleft()
            if corners := self._follower.finish_lap(record):
                self._publish("corners", {"lap": record.number, "corners": corners})

    @property
    def has_frames(self) -> bool:
        """Whether a tick has come."""
        return self.newest is not None

    def make_frame(self, number: int, skipped: int, sent: float) -> Frame:
        """Return the newest frame.

        Args:
            number: of the frame, for this page.
            skipped: frames that this page was too slow for.
            sent: s since 1970.
        """
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
    def is_elsewhere(self) -> bool:
        """Whether the car has left the road of what it is coached by, as of the last `update`."""
        return isinstance(self._follower, LiveCoach) and self._follower.is_elsewhere

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
