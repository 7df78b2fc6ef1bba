"""`learn`: a map of a road from a slow drive along it."""

import sys
from collections.abc import Callable
from typing import Annotated, Any

from cyclopts import Parameter

from trailbrake.cli.output import Json, print_json
from trailbrake.run.options import LearnOptions
from trailbrake.sims import registry


def verb(sim: str) -> Callable[..., None]:
    """Return the verb with the live flags of `sim`."""
    live_options = registry.part(sim, "spec").LiveOptions if sim in registry.names() else None

    def learn(*, options: Any = None, live_doors: Any = None, json: Json = False) -> None:
        _learn(options or LearnOptions(), live_doors, json)

    learn.__annotations__["options"] = Annotated[LearnOptions | None, Parameter(name="*")]
    if live_options is not None:
        learn.__annotations__["live_doors"] = Annotated[live_options | None, Parameter(name="*")]
    learn.__doc__ = "Map a road by driving it slowly, and write a track file that `drive --track FILE` takes."
    return learn


def _learn(options: LearnOptions, live: Any, json: bool) -> None:
    from trailbrake.run.learn import learn as map_road
    from trailbrake.run.show import Quiet

    class Say(Quiet):
        def say(self, text: str) -> None:
            print(text, file=sys.stderr, flush=True)

    result = map_road(options, live, Say())
    if json:
        print_json(result)
        return
    known = f"{100.0 * result['width_known']:.0f} % of its width told by the wire"
    kind = "circuit" if result["closed"] else "open road"
    print(f"{kind}, {result['length_m']:.0f} m long, {result['width_m']:.2f} m wide, {known}\ntrack {result['track']}")
