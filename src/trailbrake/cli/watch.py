"""`watch`: the live page of a simulator's car while another program or a person drives."""

from collections.abc import Callable
from typing import Annotated, Any

from cyclopts import Parameter

from trailbrake.cli.output import JsonFlag, print_json
from trailbrake.dashboard.options import WatchOptions
from trailbrake.simulator import AnySimulator


def build_watch_command(simulator: AnySimulator) -> Callable[..., None]:
    """Return the verb with the live flags of `simulator`."""

    def watch(*, options: Any = None, live_doors: Any = None, json: JsonFlag = False) -> None:
        from trailbrake.cli.terminal_progress import TerminalProgress
        from trailbrake.dashboard.watch_session import watch_simulator

        options = options or WatchOptions()
        with TerminalProgress(simulator.title, wanted=not json) as show:
            result = watch_simulator(simulator, options, live_doors, show)
        if json:
            print_json(result)

    watch.__annotations__["options"] = Annotated[WatchOptions | None, Parameter(name="*")]
    watch.__annotations__["live_doors"] = Annotated[simulator.live_options | None, Parameter(name="*")]
    watch.__doc__ = "Show in a browser what the car of a live simulator does, without driving it."
    return watch
