"""`learn`: a map of a road from a slow drive along it."""

import sys
from typing import Annotated

from cyclopts import Parameter

from trailbrake.cli.output import Json, print_json
from trailbrake.run.learn import LearnOptions


def learn(*, options: Annotated[LearnOptions | None, Parameter(name="*")] = None, json: Json = False) -> None:
    """Map a road by driving it slowly, and write a track file that `drive --track FILE` takes."""
    from trailbrake.run.learn import learn as map_road
    from trailbrake.run.show import Quiet

    class Say(Quiet):
        def say(self, text: str) -> None:
            print(text, file=sys.stderr, flush=True)

    result = map_road(options or LearnOptions(), None, Say())
    if json:
        print_json(result)
        return
    known = f"{100.0 * result['width_known']:.0f} % of its width told by the wire"
    kind = "circuit" if result["closed"] else "open road"
    print(f"{kind}, {result['length_m']:.0f} m long, {result['width_m']:.2f} m wide, {known}\ntrack {result['track']}")
