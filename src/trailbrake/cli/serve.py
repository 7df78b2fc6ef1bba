"""`serve SIM`: the embedded world behind a game's wire."""

from collections.abc import Callable
from typing import Annotated, Any

from cyclopts import App, Parameter

from trailbrake.cli.output import Json, print_json
from trailbrake.run.options import WorldOptions
from trailbrake.sims import registry


def _verb(sim: str) -> Callable[..., int]:
    spec = registry.part(sim, "spec")

    def serve(*, world: Any = None, options: Any = None, json: Json = False) -> int:
        from trailbrake.run.serve import serve as serve_world

        result = serve_world(sim, world or WorldOptions(), options or spec.ServeOptions())
        if json:
            print_json(result)
        return 0

    # The simulator's own flags come from its spec; cyclopts reads them off the annotations.
    serve.__annotations__["world"] = Annotated[WorldOptions | None, Parameter(name="*")]
    serve.__annotations__["options"] = Annotated[spec.ServeOptions | None, Parameter(name="*")]
    serve.__doc__ = f"Serve the embedded world as {spec.TITLE}, for any client."
    return serve


def app() -> App:
    """Return the verb with one sub-command per simulator."""
    serve = App(name="serve", help="Run the embedded world behind a game's wire, for any client, ours or not.")
    for sim in registry.names():
        serve.command(_verb(sim), name=sim)
    return serve
