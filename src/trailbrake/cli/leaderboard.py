"""`leaderboard`: a season's table, its days and races; on the terminal, as JSON, or as a page."""

from pathlib import Path
from typing import Any

from trailbrake.cli.output import JsonFlag, OpenFlag, format_lap_time, open_page, print_json, print_table


def leaderboard(
    *, db: Path | None = None, season: str = "", day: str = "", html: Path | None = None, open: OpenFlag = False,
    json: JsonFlag = False,
) -> None:  # fmt: skip
    """Show a season's leaderboard.

    Args:
        db: the file with the results; default races.sqlite in the folder of recordings.
        season: which one; default: that of the newest day.
        day: only this day.
        html: write it as a page to this file.
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
