"""`sim SIM ACTION`: pause a running simulator, restart it, put a car somewhere, change how fast time goes."""

import math
from collections.abc import Callable
from typing import Annotated, Any

from cyclopts import App, Parameter

from trailbrake.cli.output import Json, print_json
from trailbrake.errors import UsageError
from trailbrake.sims import registry
from trailbrake.state import Pose, SimCommand

MOST_SCALE = 100.0  # times real time


def _send(sim: str, command: SimCommand, options: Any, json: bool) -> int:
    import sys

    from trailbrake.run import rate

    module = registry.part(sim, "control")
    said: list[str] = []

    def say(text: str) -> None:
        said.append(text)
        print(text, file=sys.stderr if json else sys.stdout, flush=True)

    def idle() -> float:
        return rate.sleep_until(rate.now() + 0.002)

    module.send(command, options or module.Options(), idle, say)
    if json:
        print_json({"sim": sim, "said": said})
    return 0


def _actions(sim: str) -> App:
    module = registry.part(sim, "control")
    accepts = registry.part(sim, "spec").ACCEPTS
    app = App(name=sim, help=module.Options.__doc__.splitlines()[0])

    def add(name: str, needs: str, action: Callable[..., int]) -> None:
        if needs in accepts:
            action.__annotations__["options"] = Annotated[module.Options | None, Parameter(name="*")]
            app.command(action, name=name)

    def pause(*, options: Any = None, json: Json = False) -> int:
        """Stop the simulation's time."""
        return _send(sim, SimCommand(pause=True), options, json)

    def resume(*, options: Any = None, json: Json = False) -> int:
        """Let the simulation's time go on, at its own pace."""
        return _send(sim, SimCommand(pause=False, time_scale=1.0), options, json)

    def restart(*, options: Any = None, json: Json = False) -> int:
        """Begin the session anew."""
        return _send(sim, SimCommand(restart=True), options, json)

    def pits(*, options: Any = None, json: Json = False) -> int:
        """Put the car into the pits: repaired, refuelled, at rest."""
        return _send(sim, SimCommand(to_pits=True), options, json)

    def teleport(x: float, y: float, yaw: float, /, *, z: float = 0.0, options: Any = None, json: Json = False) -> int:
        """Put the car somewhere, at rest.

        Args:
            x: m, our world.
            y: m.
            yaw: rad, counter-clockwise from x.
            z: m, of the road there.
            options: which car.
            json: as everywhere.
        """
        for name, value in (("X", x), ("Y", y), ("YAW", yaw), ("--z", z)):
            if not math.isfinite(value):
                raise UsageError("no place", where=f"teleport {name}", expected="a number", got=f"{value:g}")
        return _send(sim, SimCommand(teleport=Pose(x, y, z, yaw)), options, json)

    def time_scale(scale: float, /, *, options: Any = None, json: Json = False) -> int:
        """Change how fast the simulation's time goes.

        Args:
            scale: 1 = real time, 2 = twice as fast.
            options: which car.
            json: as everywhere.
        """
        if not 0.0 < scale <= MOST_SCALE:
            raise UsageError("no time scale", where="time-scale", expected=f"above 0, {MOST_SCALE:g} at most",
                             got=f"{scale:g}")  # fmt: skip
        return _send(sim, SimCommand(time_scale=scale), options, json)

    add("pause", "pause", pause)
    add("resume", "pause", resume)
    add("restart", "restart", restart)
    add("pits", "to_pits", pits)
    add("teleport", "teleport", teleport)
    add("time-scale", "time_scale", time_scale)
    return app


def app(asked: str) -> App:
    """Return the verb; where it is `asked` for, with a sub-command per simulator that can be controlled."""
    verb = App(name="sim", help="Pause a running simulator, restart it, put a car somewhere.")
    for sim in registry.having("control") if asked == "sim" else ():
        verb.command(_actions(sim))
    return verb
