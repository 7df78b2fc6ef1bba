"""`SimCommand` as named numbers, for blocks whose outputs are numbers: FMUs.

Levels (`pause`, `time_scale`, `extra_sleep`, `collisions`, `headlights`, `mguh_mode`, `autoblip`) are requested when
they change; NaN requests nothing. `restart`, `to_pits` and `teleport` are requested by a step from 0 to 1; the place of
a teleport is `teleport_x`, `teleport_y`, `teleport_z` (NaN: the ground) and `teleport_yaw`. Lines are no numbers.
"""

import math
from collections.abc import Mapping

from trailbrake.state.commands import Pose, SimCommand

_FLAGS = ("pause", "collisions", "headlights", "autoblip")
_NUMBERS = ("time_scale", "extra_sleep", "mguh_mode")
_EDGES = ("restart", "to_pits", "teleport")
_POSE = ("x", "y", "z", "yaw")
VALUE_NAMES: Mapping[str, tuple[str, ...]] = {
    **{name: (name,) for name in (*_FLAGS, *_NUMBERS, "restart", "to_pits")},
    "teleport": ("teleport", *(f"teleport_{axis}" for axis in _POSE)),
}  # {field of SimCommand: names of its numbers}


def values_from_command(command: SimCommand | None) -> dict[str, float]:
    """Return every number of a command: NaN for levels without a request, 0 or 1 for the others."""
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
    """Turns named numbers, step by step, into commands."""

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
