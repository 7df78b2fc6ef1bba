"""`race`: a race day, from a file or from flags."""

import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from trailbrake.cli.leaderboard import print_leaderboard
from trailbrake.cli.output import Json, print_json
from trailbrake.errors import UsageError
from trailbrake.race.options import DayOptions, RaceOptions


def race(
    file: Path | None = None,
    /,
    *,
    options: Annotated[RaceOptions | None, Parameter(name="*")] = None,
    running: Annotated[DayOptions | None, Parameter(name="*")] = None,
    json: Json = False,
) -> int:
    """Run a race day: entries over a schedule of races, unattended; results go to a database.

    Args:
        file: a TOML file with entries, schedule and rules; see docs/race.md. Without it the flags say who and where.
        options: the day in flags.
        running: how to run it.
        json: print one JSON object on stdout.
    """
    from trailbrake.race.day import run_day
    from trailbrake.race.plan import plan_of, read

    if file is not None and options is not None and options != RaceOptions():
        raise UsageError("a race file and flags that say what stands in it", where="race",
                         hint="leave one of them out; --db, --out, --jobs, --again go with both")  # fmt: skip
    plan = read(file) if file is not None else plan_of(options or RaceOptions())
    folder = file.parent if file is not None else Path()
    summary = run_day(plan, folder, running or DayOptions(), _say)
    if json:
        print_json(summary)
    else:
        _print(summary)
    for other in summary["differ"]:
        print(f"trailbrake: race {other['race']}, {other['entry']}: not the result of before", file=sys.stderr)
    return int(bool(summary["differ"]))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _print(summary: dict[str, Any]) -> None:
    print_leaderboard(summary)
    print(f"results {summary['db']}\nfiles   {summary['out']}\ndigest  {summary['digest']}")
