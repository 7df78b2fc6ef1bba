"""`reference`: the quickest clean lap that a search in the embedded world finds."""

from typing import Annotated

from cyclopts import Parameter

from trailbrake.analysis.lap_table import format_lap_time
from trailbrake.cli.output import JsonFlag, print_json
from trailbrake.cli.terminal_progress import TaskProgress
from trailbrake.reference.options import ReferenceOptions


def reference(
    *, options: Annotated[ReferenceOptions | None, Parameter(name="*")] = None, json: JsonFlag = False
) -> None:
    """Search the quickest clean lap of a track and a car in the embedded world: the limit that drivers are held to."""
    from trailbrake.reference.reference_session import make_reference_lap

    options = options or ReferenceOptions()
    with TaskProgress("searching", wanted=not json) as show:

        def report(number: int, best: float, median: float) -> None:
            show.show_share((number + 1) / options.generations)
            show.show_message(f"generation {number + 1}: best {best:.3f} s, median {median:.3f} s")

        result = make_reference_lap(options, report)
    if json:
        print_json(result)
        return
    print(
        f"{result['track']}, {result['car']}: {format_lap_time(result['time_s'])} by the world; the plan to begin with "
        f"{format_lap_time(result['plan_time_s'])}\nline {result['line']}"
    )
