"""`learn`: a map of a road from a slow drive along it."""

from collections.abc import Callable
from typing import Annotated, Any

from cyclopts import Parameter

from trailbrake.cli.output import JsonFlag, print_json, print_notice
from trailbrake.run.options import LearnOptions
from trailbrake.simulator import AnySimulator


def build_learn_command(simulator: AnySimulator) -> Callable[..., None]:
    """Return the verb with the live flags of `simulator`."""

    def learn(*, options: Any = None, live_doors: Any = None, json: JsonFlag = False) -> None:
        _run_learn(simulator, options or LearnOptions(), live_doors, json=json)

    learn.__annotations__["options"] = Annotated[LearnOptions | None, Parameter(name="*")]
    learn.__annotations__["live_doors"] = Annotated[simulator.live_options | None, Parameter(name="*")]
    learn.__doc__ = "Map a road by driving it slowly, and write a track file that `drive --track FILE` takes."
    return learn


def _run_learn(simulator: AnySimulator, options: LearnOptions, live: object, *, json: bool) -> None:
    from trailbrake.run.learn import map_road
    from trailbrake.run.session.progress import SilentListener

    class StderrListener(SilentListener):
        def show_message(self, text: str) -> None:
            print_notice(text)

    result = map_road(simulator, options, live, StderrListener())
    if json:
        print_json(result)
        return
    known = f"{100.0 * result['width_known']:.0f} % of its width told by the wire"
    kind = "circuit" if result["closed"] else "open road"
    print(f"{kind}, {result['length_m']:.0f} m long, {result['width_m']:.2f} m wide, {known}\ntrack {result['track']}")
