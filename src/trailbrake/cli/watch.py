"""`watch`: the live page of a simulator's car while somebody else drives."""

import sys
from collections.abc import Callable
from typing import Annotated, Any

from cyclopts import Parameter

from trailbrake.cli.output import Json, print_json
from trailbrake.dashboard.options import WatchOptions
from trailbrake.sims import registry


def verb(sim: str) -> Callable[..., None]:
    """Return the verb with the live flags of `sim`."""
    live_options = registry.part(sim, "spec").LiveOptions if sim in registry.names() else None

    def watch(*, options: Any = None, live_doors: Any = None, json: Json = False) -> None:
        from trailbrake.dashboard.watch import watch as show

        result = show(
            options or WatchOptions(sim=sim), live_doors, lambda text: print(text, file=sys.stderr, flush=True)
        )
        if json:
            print_json(result)

    watch.__annotations__["options"] = Annotated[WatchOptions | None, Parameter(name="*")]
    if live_options is not None:
        watch.__annotations__["live_doors"] = Annotated[live_options | None, Parameter(name="*")]
    watch.__doc__ = "Show in a browser what the car of a live simulator does, whoever drives it."
    return watch
