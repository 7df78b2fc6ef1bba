"""`line`: the minimum-time line of a track and a car; `reference`: the quickest clean lap that a search finds."""

import sys
from typing import Annotated

from cyclopts import Parameter

from trailbrake.analysis.lap_table import format_lap_time
from trailbrake.cli.output import JsonFlag, OpenFlag, open_page, print_json
from trailbrake.cli.terminal_progress import TaskProgress
from trailbrake.optimal.options import LineOptions
from trailbrake.reference.options import ReferenceOptions


def line(
    *,
    options: Annotated[LineOptions | None, Parameter(name="*")] = None,
    open: OpenFlag = False,
    json: JsonFlag = False,
) -> None:
    """Plan the minimum-time line of a track and a car: optimal control of path, speed and controls, offline."""
    from trailbrake.optimal.line_session import plan_line

    with TaskProgress("planning", wanted=not json):
        result = plan_line(options or LineOptions())
    open_page(result.get("report"), open)
    if json:
        print_json(result)
        return
    worth = result["worth"]
    kept = ", kept from an earlier call" if result["cached"] else ""
    print(
        f"{result['track']}, {result['car']}: {format_lap_time(result['time_s'])} at the limit of the model{kept}; "
        f"the minimum-curvature plan with its margins {format_lap_time(result['plan_time_s'])}\n"
        f"worth: a metre more at the left edge {worth['metre_left_s']:.2f} s, at the right edge "
        f"{worth['metre_right_s']:.2f} s; one percent more grip {worth['percent_grip_s']:.2f} s"
    )
    print(f"line {result['line']}")
    if "report" in result:
        print(f"report {result['report']}")
    print(f"drive it: trailbrake drive --track {result['track']} --car {result['car']}", file=sys.stderr)


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
