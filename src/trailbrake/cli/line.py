"""`line`: the minimum-time line of a track and a car."""

import sys
from typing import Annotated

from cyclopts import Parameter

from trailbrake.cli.output import JsonFlag, format_lap_time, print_json
from trailbrake.optimal.options import LineOptions


def line(*, options: Annotated[LineOptions | None, Parameter(name="*")] = None, json: JsonFlag = False) -> None:
    """Plan the minimum-time line of a track and a car: optimal control of path, speed and controls, offline."""
    from trailbrake.optimal.line_session import plan_line

    result = plan_line(options or LineOptions())
    if json:
        print_json(result)
        return
    worth = result["worth"]
    print(
        f"{result['track']}, {result['car']}: {format_lap_time(result['time_s'])} at the limit of the model; "
        f"the minimum-curvature plan with its margins {format_lap_time(result['plan_time_s'])}\n"
        f"worth: a metre more at the left edge {worth['metre_left_s']:.2f} s, at the right edge "
        f"{worth['metre_right_s']:.2f} s; one percent more grip {worth['percent_grip_s']:.2f} s\n"
        f"line {result['line']}"
    )
    if "report" in result:
        print(f"report {result['report']}")
    print(f"drive it: trailbrake drive --track {result['track']} --car {result['car']} --line {result['line']}",
          file=sys.stderr)  # fmt: skip
