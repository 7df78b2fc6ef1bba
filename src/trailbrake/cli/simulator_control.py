"""`sim SIM ACTION`: pause a running simulator, restart it, put a car somewhere, change how fast time goes."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from trailbrake.cli.output import JsonFlag, print_json
from trailbrake.cli.simulator_choice import choose_simulators, command_name
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


def _build_actions(simulator: AnySimulator, command: str) -> App:
    tool, accepts = _control_tool(simulator), simulator.accepts
    app = App(name=command, help=(tool.options.__doc__ or "").splitlines()[0])

    def add(name: str, needs: str, action: Callable[..., int]) -> None:
        if needs in accepts:
            action.__annotations__["options"] = Annotated[tool.options | None, Parameter(name="*")]
            app.command(action, name=name)

    def pause(*, options: Any = None, json: JsonFlag = False) -> int:
        """Stop the simulation's time."""
        return _send_command(simulator, SimCommand(pause=True), options, json)

    def resume(*, options: Any = None, json: JsonFlag = False) -> int:
        """Let the simulation's time go on, at its own pace."""
        return _send_command(simulator, SimCommand(pause=False, time_scale=1.0), options, json)

    def restart(*, options: Any = None, json: JsonFlag = False) -> int:
        """Begin the session anew."""
        return _send_command(simulator, SimCommand(restart=True), options, json)

    def pits(*, options: Any = None, json: JsonFlag = False) -> int:
        """Put the car into the pits: repaired, refuelled, at rest."""
        return _send_command(simulator, SimCommand(to_pits=True), options, json)

    def teleport(
        x: float, y: float, yaw: float, /, *, z: float = math.nan, options: Any = None, json: JsonFlag = False
    ) -> int:
        """Put the car somewhere, at rest.

        Args:
            x: m, our world.
            y: m.
            yaw: rad, counter-clockwise from x.
            z: m; left out: the height of the ground there.
            options: which car.
            json: as everywhere.
        """
        return _send_command(simulator, SimCommand(teleport=Pose(x, y, z, yaw)), options, json)

    def time_scale(scale: float, /, *, options: Any = None, json: JsonFlag = False) -> int:
        """Change how fast the simulation's time goes.

        Args:
            scale: 1 = real time, 2 = twice as fast.
            options: which car.
            json: as everywhere.
        """
        return _send_command(simulator, SimCommand(time_scale=scale), options, json)

    def sleep(seconds: float, /, *, options: Any = None, json: JsonFlag = False) -> int:
        """Let the simulator sleep after each of its steps, for a program that needs time to answer.

        Args:
            seconds: s of wall time, 0.255 at most; 0 = as it was.
            options: which car.
            json: as everywhere.
        """
        return _send_command(simulator, SimCommand(extra_sleep=seconds), options, json)

    def make_switch(field: str, about: str) -> Callable[..., int]:
        def switch(state: OnOff, /, *, options: Any = None, json: JsonFlag = False) -> int:
            command = SimCommand()
            setattr(command, field, state == "on")
            return _send_command(simulator, command, options, json)

        switch.__doc__ = about
        return switch

    def mguh_mode(mode: int, /, *, options: Any = None, json: JsonFlag = False) -> int:
        """Choose the mode of the motor at the turbocharger.

        Args:
            mode: 0 to 255, as the simulator numbers its modes.
            options: which car.
            json: as everywhere.
        """
        return _send_command(simulator, SimCommand(mguh_mode=mode), options, json)

    add("sleep", "extra_sleep", sleep)
    for field, about in _SWITCHES.items():
        add(field, field, make_switch(field, about))
    add("mguh-mode", "mguh_mode", mguh_mode)
    add("pause", "pause", pause)
    add("resume", "pause", resume)
    add("restart", "restart", restart)
    add("pits", "to_pits", pits)
    add("teleport", "teleport", teleport)
    add("time-scale", "time_scale", time_scale)
    return app


def build_control_app(requested: str, name: str) -> App:
    """Return the verb; where it is `requested`, with a sub-command per simulator that can be controlled."""
    verb = App(name="sim", help="Pause a running simulator, restart it, put a car somewhere.")
    for simulator in choose_simulators(name) if requested == "sim" else ():
        if "control" in simulator.tools:
            verb.command(_build_actions(simulator, command_name(simulator, name)))
    return verb
