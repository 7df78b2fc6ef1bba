"""`SimCommand`: a request to a simulator that is not driving: pause, teleport, time scale, lights, debug lines.

For FMUs also as named numbers.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from numbers import Real
from typing import NamedTuple

MAX_DEBUG_LINES = 585  # in a page of the usual 16 384 bytes; see the wire of Assetto Corsa
MAX_COORDINATE = 1e6  # m; farther away single precision cannot hold a place on a road
MIN_TIME_SCALE, MAX_TIME_SCALE = 1e-3, 100.0  # times real time
MAX_EXTRA_SLEEP = 0.255  # s per step of the simulator
MAX_MGUH_MODE = 255


@dataclass(slots=True)
class Pose:
    """A pose on the ground: position (m, world) and yaw (rad). `z` NaN is the height of the ground there."""

    x: float
    y: float
    z: float = math.nan
    yaw: float = 0.0


class DebugLine(NamedTuple):
    """A line drawn in the simulator's world.

    Attributes:
        start: x, y, z, m, world frame.
        end: x, y, z, m, world frame.
        color: 0xRRGGBB.
    """

    start: tuple[float, float, float]
    end: tuple[float, float, float]
    color: int = 0xFFFFFF


@dataclass(slots=True)
class SimCommand:
    """A request beside `Controls`, to a Link that declares it in ACCEPTS. None or False = no change.

    Attributes:
        pause: stop the simulation's time, or let it go on.
        restart: begin the session anew.
        teleport: put the car there, at rest.
        to_pits: put the car into the pits: repaired, refuelled, at rest.
        time_scale: speed of the simulation's time, 1 = real time.
        collisions: whether cars collide with cars.
        extra_sleep: s of wall time that the simulator sleeps after each of its steps.
        headlights: on or off.
        mguh_mode: mode of the motor at the turbocharger, 0 to 255, as the simulator numbers its modes.
        autoblip: whether the simulator opens the throttle on downshifts by itself.
        lines: what the simulator draws in its world until the next `lines`; () draws nothing.
    """

    pause: bool | None = None
    restart: bool = False
    teleport: Pose | None = None
    to_pits: bool = False
    time_scale: float | None = None
    collisions: bool | None = None
    extra_sleep: float | None = None
    headlights: bool | None = None
    mguh_mode: int | None = None
    autoblip: bool | None = None
    lines: Sequence[DebugLine] | None = None


COMMAND_FIELDS: frozenset[str] = frozenset(f.name for f in fields(SimCommand))
_IN_ORDER = tuple(f.name for f in fields(SimCommand))
_RANGES = {
    "time_scale": (MIN_TIME_SCALE, MAX_TIME_SCALE),
    "extra_sleep": (0.0, MAX_EXTRA_SLEEP),
    "mguh_mode": (0.0, float(MAX_MGUH_MODE)),
}


def requested_fields(command: SimCommand) -> list[str]:
    """Return the names of the fields that request something."""
    values = [(name, getattr(command, name)) for name in _IN_ORDER]
    idle = {"restart": False, "to_pits": False}
    return [name for name, value in values if value is not None and value is not idle.get(name)]


def find_command_problem(command: SimCommand, accepted: frozenset[str]) -> str:
    """Return why a command must not be sent, in one line; "" if it may.

    Args:
        command: what a driver, a program or a user requests.
        accepted: names of COMMAND_FIELDS that may be sent: the simulator accepts them, a driver declares them.
    """
    if not isinstance(command, SimCommand):
        return f"command: expected a SimCommand, got {type(command).__name__}"
    for name in requested_fields(command):
        if name not in accepted:
            return f"command {name}: expected one of {', '.join(sorted(accepted & COMMAND_FIELDS)) or 'none'}"
        problem = next(_find_value_problems(name, getattr(command, name)), "")
        if problem:
            return f"command {name}: {problem}"
    return ""


def _find_value_problems(name: str, value: object) -> Iterator[str]:
    if name in _RANGES:
        lo, hi = _RANGES[name]
        if isinstance(value, bool) or not isinstance(value, Real) or not lo <= float(value) <= hi:
            yield f"expected {lo:g} to {hi:g}, got {value!r}"
    elif name == "teleport":
        yield from _find_pose_problems(value)
    elif name == "lines":
        yield from _find_line_problems(value)
    elif not isinstance(value, bool):
        yield f"expected True or False, got {value!r}"


def _find_pose_problems(pose: object) -> Iterator[str]:
    if not isinstance(pose, Pose):
        yield f"expected a Pose, got {type(pose).__name__}"
        return
    for axis, value in (("x", pose.x), ("y", pose.y), ("yaw", pose.yaw)):
        if not isinstance(value, Real) or not abs(value) <= MAX_COORDINATE:
            yield f"expected {axis} within {MAX_COORDINATE:g}, got {value!r}"
    if not isinstance(pose.z, Real) or abs(pose.z) > MAX_COORDINATE:  # false for NaN: the height of the ground
        yield f"expected z within {MAX_COORDINATE:g} or NaN, got {pose.z!r}"


def _find_line_problems(lines: object) -> Iterator[str]:
    if not isinstance(lines, tuple | list) or not all(isinstance(line, DebugLine) for line in lines):
        yield f"expected a tuple of DebugLine, got {_describe_lines(lines)}"
        return
    if len(lines) > MAX_DEBUG_LINES:
        yield f"expected up to {MAX_DEBUG_LINES} lines, got {len(lines)}"
        return
    for number, line in enumerate(lines):
        if not _is_point(line.start) or not _is_point(line.end):
            yield f"expected finite x, y, z, got {line.start!r} to {line.end!r} in line {number}"
        if not isinstance(line.color, int) or not 0 <= line.color <= 0xFFFFFF:
            yield f"expected a colour 0xRRGGBB, got {line.color!r} in line {number}"


def _describe_lines(lines: object) -> str:
    if not isinstance(lines, tuple | list):
        return type(lines).__name__
    return "one of " + ", ".join(sorted({type(line).__name__ for line in lines}))


def _is_point(point: object) -> bool:
    return (
        isinstance(point, Sequence)
        and len(point) == 3
        and all(isinstance(value, Real) and abs(float(value)) <= MAX_COORDINATE for value in point)
    )


_FLAGS = ("pause", "collisions", "headlights", "autoblip")
_NUMBERS = ("time_scale", "extra_sleep", "mguh_mode")
_EDGES = ("restart", "to_pits", "teleport")
_POSE = ("x", "y", "z", "yaw")
VALUE_NAMES: Mapping[str, tuple[str, ...]] = {
    **{name: (name,) for name in (*_FLAGS, *_NUMBERS, "restart", "to_pits")},
    "teleport": ("teleport", *(f"teleport_{axis}" for axis in _POSE)),
}  # {field of SimCommand: names of its numbers}


def values_from_command(command: SimCommand | None) -> dict[str, float]:
    """Return a command as named numbers: NaN for levels without a request, 0 or 1 for the others. Lines are none."""
    command = command or SimCommand()
    values = {}
    for name in (*_FLAGS, *_NUMBERS):
        value = getattr(command, name)
        values[name] = math.nan if value is None else float(value)
    pose = command.teleport
    values |= {
        "restart": float(command.restart),
        "to_pits": float(command.to_pits),
        "teleport": float(pose is not None),
    }
    return values | {f"teleport_{axis}": getattr(pose, axis) if pose is not None else math.nan for axis in _POSE}


class CommandEdges:
    """Turns named numbers, step by step, into commands.

    Levels (`pause`, `time_scale`, ...) are requested when they change; NaN requests nothing. `restart`, `to_pits` and
    `teleport` are requested by a step from 0 to 1; a teleport leads to `teleport_x`, `_y`, `_z` (NaN: the ground) and
    `_yaw`.
    """

    def __init__(self) -> None:
        self._last: dict[str, float] = {}

    def read_command(self, values: Mapping[str, float]) -> SimCommand | None:
        """Return what the numbers of a step request beyond those of the step before; None where that is nothing."""
        changed = {
            name: value
            for name, value in values.items()
            if not math.isnan(value) and value != self._last.get(name, 0.0 if name in _EDGES else math.nan)
        }
        self._last.update({name: value for name, value in values.items() if not math.isnan(value)})
        command = SimCommand()
        for name in _FLAGS:
            if name in changed:
                setattr(command, name, changed[name] > 0.5)
        for name in ("time_scale", "extra_sleep"):
            if name in changed:
                setattr(command, name, changed[name])
        if "mguh_mode" in changed:
            command.mguh_mode = round(changed["mguh_mode"])
        command.restart = changed.get("restart", 0.0) > 0.5
        command.to_pits = changed.get("to_pits", 0.0) > 0.5
        if changed.get("teleport", 0.0) > 0.5:
            x, y, z, yaw = (values.get(f"teleport_{axis}", math.nan) for axis in _POSE)
            command.teleport = Pose(x, y, z, yaw)
        return command if command != SimCommand() else None
