"""`serve SIM`: the embedded world behind a game's wire."""

import sys
from collections.abc import Callable
from typing import Annotated, Any

from cyclopts import App, Parameter

from trailbrake.cli.output import JsonFlag, print_json
from trailbrake.cli.simulator_choice import choose_simulators, command_name
from trailbrake.run.options import WorldOptions
from trailbrake.simulator import AnySimulator


def _build_command(simulator: AnySimulator) -> Callable[..., int]:
    def serve(*, world: Any = None, options: Any = None, json: JsonFlag = False) -> int:
        from trailbrake.run.serve import serve_world

        world, options = world or WorldOptions(), options or simulator.serve_options()
        result = serve_world(simulator, world, options)
        if json:
            print_json(result)
        laps = getattr(options, "laps", 0)
        if laps and result["ended"] == "out of time":
            driven = max((len(car) for car in result["laps"]), default=0)
            print(f"trailbrake: {driven} of {laps} laps driven in {world.seconds:g} s", file=sys.stderr)
            return 1
        return 0

    # The simulator's own flags come from its serve options; cyclopts reads them off the annotations.
    serve.__annotations__["world"] = Annotated[WorldOptions | None, Parameter(name="*")]
    serve.__annotations__["options"] = Annotated[simulator.serve_options | None, Parameter(name="*")]
    serve.__doc__ = f"Serve the embedded world as {simulator.title}, for any client."
    return serve


def build_serve_app(requested: str, name: str) -> App:
    """Return the verb; where it is `requested`, with a sub-command per simulator, or for the one called `name`."""
    serve = App(name="serve", help="Run the embedded world behind a game's wire, for any client, ours or not.")
    for simulator in choose_simulators(name) if requested == "serve" else ():
        serve.command(_build_command(simulator), name=command_name(simulator, name))
    return serve
