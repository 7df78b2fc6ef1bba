"""`DriveControls`: what a page can request of the simulator and of the driver of a drive that goes on.

A page's request is checked in the server's thread and carried out in the drive's, between two ticks.
"""

import math
from collections import deque
from collections.abc import Callable
from operator import attrgetter
from typing import Any, NamedTuple, Protocol

from trailbrake.dashboard.frame_source import PageRequest
from trailbrake.roles import Driver, HasGains, LinkCounters
from trailbrake.state import Pose, SimCommand
from trailbrake.state.commands import find_command_problem
from trailbrake.state.fields import Quantity, declared_quantities
from trailbrake.tracks.road import Road, RoadColumn

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
