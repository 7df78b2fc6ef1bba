"""`race`: a race day, from a file or from flags."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from trailbrake.cli.leaderboard import print_leaderboard
from trailbrake.cli.output import JsonFlag, print_json, print_notice
from trailbrake.cli.terminal_progress import TaskProgress
from trailbrake.errors import UsageError
from trailbrake.race.options import DayRunOptions, RaceDayOptions


def race(
    file: Path | None = None,
    /,
    *,
    options: Annotated[RaceDayOptions | None, Parameter(name="*")] = None,
    running: Annotated[DayRunOptions | None, Parameter(name="*")] = None,
    json: JsonFlag = False,
) -> int:
    """Run a race day: entries over a schedule of races, unattended; results go to a database.

    Args:
        file: a TOML file with entries, schedule and rules; see docs/race.md. Without it the flags say who and where.
        options: the day in flags.
        running: how to run it.
        json: print one JSON object on stdout.
    """
    from trailbrake.race.plan import plan_from_options, read_plan
    from trailbrake.race.race_day import run_day

    if file is not None and options is not None and options != RaceDayOptions():
        raise UsageError("a race file and flags that say what stands in it", where="race",
                         hint="leave one of them out; --db, --out, --jobs, --again, --check go with both")  # fmt: skip
    plan = read_plan(file) if file is not None else plan_from_options(options or RaceDayOptions())
    folder = file.parent if file is not None else Path()
    with TaskProgress("racing", wanted=not json) as show:
        running = running or DayRunOptions()
        summary = run_day(plan, folder, running, show.show_message, show.show_share)
    if json:
        print_json(summary)
    else:
        _print_summary(summary)
    for other in summary["differ"]:
        print_notice(f"trailbrake: race {other['race']}, {other['entry']}: not the result of before")
    return int(running.check and bool(summary["differ"]))


def _print_summary(summary: dict[str, Any]) -> None:
    print_leaderboard(summary)
    print(f"results {summary['db']}\nfiles   {summary['out']}\ndigest  {summary['digest']}")
