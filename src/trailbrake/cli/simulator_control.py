"""`sim SIM ACTION`: pause a running simulator, restart it, put a car somewhere, change how fast time goes."""

import inspect
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from trailbrake.cli.flag_names import INSTALL, choose_simulators_with, command_name
from trailbrake.cli.output import JsonFlag, print_json
from trailbrake.errors import UsageError
from trailbrake.simulator import AnySimulator, load_part
from trailbrake.state import Pose, SimCommand
from trailbrake.state.commands import find_command_problem, requested_fields

if TYPE_CHECKING:
    from trailbrake.simulator_tools import ControlTool

OnOff = Literal["on", "off"]
_SWITCHES = {
    "collisions": "Let cars collide with cars, or pass through each other.",
    "headlights": "Switch the headlights.",
    "autoblip": "Let the simulator open the throttle on downshifts by itself, or leave that to the driver.",
}  # {field of SimCommand: help}


def _send_command(simulator: AnySimulator, command: SimCommand, options: Any, json: bool) -> int:
    import sys

    from trailbrake.system import steady_clock

    problem = find_command_problem(command, simulator.accepts)
    if problem:
        raise UsageError(problem, where=f"sim {simulator.name}")
    tool = _control_tool(simulator)
    said: list[str] = []

    def say(text: str) -> None:
        said.append(text)
        print(text, file=sys.stderr if json else sys.stdout, flush=True)

    def idle() -> float:
        return steady_clock.sleep_until(steady_clock.now() + 0.002)

    tool.send(command, options or tool.options(), idle, say)
    if not said:
        say(f"sent to {simulator.name}: {', '.join(requested_fields(command))}")
    if json:
        print_json({"sim": simulator.name, "said": said})
    return 0


def _control_tool(simulator: AnySimulator) -> "ControlTool[Any]":
    return load_part(simulator.tools["control"])


def _pause() -> SimCommand:
    """Stop the simulation's time."""
    return SimCommand(pause=True)


def _resume() -> SimCommand:
    """Let the simulation's time go on, at its own pace."""
    return SimCommand(pause=False, time_scale=1.0)


def _restart() -> SimCommand:
    """Begin the session anew."""
    return SimCommand(restart=True)


def _enter_pits() -> SimCommand:
    """Put the car into the pits: repaired, refuelled, at rest."""
    return SimCommand(to_pits=True)


def _teleport(x: float, y: float, yaw: float, /, *, z: float = math.nan) -> SimCommand:
    """Put the car somewhere, at rest.

    Args:
        x: m, our world.
        y: m.
        yaw: rad, counter-clockwise from x.
        z: m; left out: the height of the ground there.

    Raises:
        UsageError: a yaw of more than a turn, as degrees are.
    """
    if abs(yaw) > math.tau:
        raise UsageError("yaw is an angle in rad", where="teleport", expected="-2 pi to 2 pi", got=f"{yaw:g}",
                         hint=f"{yaw:g} degrees are {math.remainder(math.radians(yaw), math.tau):.4g} rad")  # fmt: skip
    return SimCommand(teleport=Pose(x, y, z, yaw))


def _scale_time(scale: float, /) -> SimCommand:
    """Change how fast the simulation's time goes.

    Args:
        scale: 1 = real time, 2 = twice as fast.
    """
    return SimCommand(time_scale=scale)


def _sleep(seconds: float, /) -> SimCommand:
    """Let the simulator sleep after each of its steps, for a program that needs time to answer.

    Args:
        seconds: s of wall time, 0.255 at most; 0 = as it was.
    """
    return SimCommand(extra_sleep=seconds)


def _choose_mguh_mode(mode: int, /) -> SimCommand:
    """Choose the mode of the motor at the turbocharger.

    Args:
        mode: 0 to 255, as the simulator numbers its modes.
    """
    return SimCommand(mguh_mode=mode)


def _make_switch(field: str, about: str) -> Callable[..., SimCommand]:
    def switch(state: OnOff, /) -> SimCommand:
        command = SimCommand()
        setattr(command, field, state == "on")
        return command

    switch.__doc__ = about
    return switch


# (action, the field of SimCommand that the simulator has to accept, what makes the command)
_ACTIONS: list[tuple[str, str, Callable[..., SimCommand]]] = [
    ("sleep", "extra_sleep", _sleep),
    *((field, field, _make_switch(field, about)) for field, about in _SWITCHES.items()),
    ("mguh-mode", "mguh_mode", _choose_mguh_mode),
    ("pause", "pause", _pause),
    ("resume", "pause", _resume),
    ("restart", "restart", _restart),
    ("pits", "to_pits", _enter_pits),
    ("teleport", "teleport", _teleport),
    ("time-scale", "time_scale", _scale_time),
]


def _build_action(simulator: AnySimulator, make_command: Callable[..., SimCommand]) -> Callable[..., int]:
    """Return the function of a sub-command: arguments of `make_command`, options of the simulator's tool, --json."""

    def action(*words: Any, options: Any = None, json: bool = False, **named: Any) -> int:
        return _send_command(simulator, make_command(*words, **named), options, json)

    own, kind = inspect.signature(make_command), inspect.Parameter.KEYWORD_ONLY
    tool_options: Any = _control_tool(simulator).options
    added = {"options": Annotated[tool_options | None, Parameter(name="*")], "json": JsonFlag}
    flags = [inspect.Parameter("options", kind, default=None), inspect.Parameter("json", kind, default=False)]
    action.__signature__ = own.replace(parameters=[*own.parameters.values(), *flags])  # type: ignore[attr-defined]
    action.__annotations__ = make_command.__annotations__ | added | {"return": int}
    action.__doc__ = make_command.__doc__
    return action


def _build_actions(simulator: AnySimulator, command: str) -> App:
    app = App(name=command, help=(_control_tool(simulator).options.__doc__ or "").splitlines()[0])
    for name, needs, make_command in _ACTIONS:
        if needs in simulator.accepts:
            app.command(_build_action(simulator, make_command), name=name)
    return app


def build_control_app(requested: str, name: str) -> App:
    """Return the verb; where it is `requested`, with a sub-command per simulator that can be controlled."""
    verb = App(name="sim", help="Pause a running simulator, restart it, put a car somewhere.")
    for simulator in choose_simulators_with("control", name) if requested in ("sim", INSTALL) else ():
        verb.command(_build_actions(simulator, command_name(simulator, name)))
    return verb
