"""`serve SIM`: the embedded world behind a game's wire."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from trailbrake.cli.flag_names import INSTALL, choose_simulators, command_name
from trailbrake.cli.output import JsonFlag, print_json, print_notice
from trailbrake.dashboard.options import PageOptions
from trailbrake.driving.options import WorldOptions
from trailbrake.errors import UsageError
from trailbrake.simulator import AnySimulator

if TYPE_CHECKING:
    from trailbrake.driving.world_view import ServeView


def _build_command(simulator: AnySimulator) -> Callable[..., int]:
    def serve(*, world: Any = None, page: Any = None, options: Any = None, json: JsonFlag = False) -> int:
        from trailbrake.driving.serve import serve_world

        world, options = world or WorldOptions(), options or simulator.serve_options()
        page = page or PageOptions()
        if not page.watch and page != PageOptions():
            raise UsageError("flags of the live page without it", where="serve", hint="add --watch, or leave them out")
        with _open_page(page) as view:
            result = serve_world(simulator, world, options, page=view)
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
    serve.__annotations__["page"] = Annotated[PageOptions | None, Parameter(name="*")]
    serve.__annotations__["options"] = Annotated[simulator.serve_options | None, Parameter(name="*")]
    serve.__doc__ = f"Serve the embedded world as {simulator.title}, for any client."
    return serve


@contextmanager
def _open_page(options: PageOptions) -> "Iterator[ServeView | None]":
    """Open the live page of a served world, where the options want one."""
    if not options.watch:
        yield None
        return
    from trailbrake.dashboard.live_view import LiveView
    from trailbrake.driving.session.progress import MessagePrinter

    with LiveView(MessagePrinter(print_notice), options.watch_port, options) as view:
        yield view


def build_serve_app(requested: str, name: str) -> App:
    """Return the verb; where it is `requested`, with a sub-command per simulator, or for the one called `name`."""
    serve = App(name="serve", help="Run the embedded world behind a game's wire, for any client, ours or not.")
    for simulator in choose_simulators(name) if requested in ("serve", INSTALL) else ():
        serve.command(_build_command(simulator), name=command_name(simulator, name))
    return serve
