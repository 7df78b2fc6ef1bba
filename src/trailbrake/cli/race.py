"""`race`: a race day, from a file or from flags.

`steward`: who was at fault for the contacts of a drive of several cars.
`leaderboard`: a season's table, its days and races; on the terminal, as JSON, or as a page.
"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from trailbrake.analysis.lap_table import format_lap_time
from trailbrake.cli.output import JsonFlag, OpenFlag, answer, open_page, print_json, print_notice, print_table
from trailbrake.cli.runs import find_recording
from trailbrake.cli.terminal_progress import TaskProgress
from trailbrake.errors import UsageError
from trailbrake.race.options import DayRunOptions, RaceDayOptions


def steward(recordings: Annotated[list[str], Parameter(consume_multiple=True)], *, json: JsonFlag = False) -> None:
    """Name the contacts of a recorded drive of several cars, and who was at fault by the rules of conduct.

    Args:
        recordings: one car's recording, a file or a run by its id, `last`, `best`, with the others' beside it; or all.
        json: print one JSON object on stdout.
    """
    from trailbrake.analysis.race_motion import open_race
    from trailbrake.analysis.steward import judge_recordings, list_verdicts
    from trailbrake.record.recording_reader import Recording

    cars = [Recording.open(find_recording(name)) for name in recordings]
    cars = open_race(cars[0]) if len(cars) == 1 else cars
    judged = judge_recordings(cars)
    if json:
        print_json({"recordings": [str(car.path) for car in cars], "contacts": list_verdicts(judged)})
        return
    for contact in judged:
        print(contact.describe())
    if not judged:
        print(f"no contacts of {len(cars)} cars")


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
        file: a TOML file with entries, schedule and rules: docs/race.md; else the flags say who and where.
        options: the day in flags.
        running: how to run it.
        json: print one JSON object on stdout.
    """
    import msgspec

    from trailbrake.race.plan import plan_from_options, read_plan
    from trailbrake.race.race_day import run_day

    options = options or RaceDayOptions()
    if file is not None and replace(options, day="") != RaceDayOptions():
        raise UsageError("a race file and flags that say what stands in it", where="race",
                         hint="leave one out; --day, --db, --out, --jobs, --again, --check go with both")  # fmt: skip
    plan = read_plan(file) if file is not None else plan_from_options(options)
    plan = msgspec.structs.replace(plan, day=options.day or plan.day)
    folder = file.parent if file is not None else Path()
    with TaskProgress("racing", wanted=not json) as show:
        running = running or DayRunOptions()
        summary = run_day(plan, folder, running, show.show_message, show.show_share)
    answer(summary, _print_summary, json=json)
    for other in summary["differ"]:
        print_notice(f"trailbrake: race {other['race']}, {other['entry']}: not the result of before")
    return int(running.check and bool(summary["differ"]))


def _print_summary(summary: dict[str, Any]) -> None:
    print_leaderboard(summary)
    print(f"results {summary['db']}\nfiles   {summary['out']}\ndigest  {summary['digest']}")


def leaderboard(
    *, db: Path | None = None, season: str = "", day: str = "", html: Path | None = None, open: OpenFlag = False,
    json: JsonFlag = False,
) -> None:  # fmt: skip
    """Show a season's leaderboard.

    Args:
        db: file of the results; default races.sqlite in the folder of recordings.
        season: default: that of the newest day.
        day: only this day.
        html: also write it as a page to this file.
        open: open that page in the browser.
        json: print one JSON object on stdout.
    """
    from trailbrake.race import standings
    from trailbrake.race.race_day import default_database
    from trailbrake.race.result_store import ResultStore

    with ResultStore(db or default_database()) as store:
        board = standings.build_leaderboard(*store.read_days(season, day))
    if html is not None:
        from trailbrake.race.leaderboard_page import write_page

        board["page"] = str(write_page(board, html))
    open_page(board.get("page"), open)
    if json:
        print_json(board)
        return
    print_leaderboard(board)
    if html is not None:
        print(f"page {board['page']}")


def print_leaderboard(board: dict[str, Any]) -> None:
    """Print the season's table, and the best laps of each day."""
    days = [day["day"] for day in board["days"]]
    print_table(
        f"Season {board['season']}",
        ["", "entry", "points", *(days if len(days) > 1 else []), "wins", "finished", "laps", "contacts"],
        [[str(row["place"]), row["entry"], f"{row['points']:g}",
          *((f"{row['days'].get(day, 0):g}" for day in days) if len(days) > 1 else ()), str(row["wins"]),
          f"{row['finished']} of {row['races']}", str(row["laps"]), str(row["contacts"])]
         for row in board["standings"]],
    )  # fmt: skip
    for day in board["days"]:
        for course in day["best_laps"]:
            print_table(
                f"{day['day']}, best laps on {' '.join((course['track'], *course['host']))}",
                ["", "entry", "lap", "race"],
                [[str(row["place"]), row["entry"], format_lap_time(row["best_s"]), str(row["race"])]
                 for row in course["best"]],
            )  # fmt: skip
