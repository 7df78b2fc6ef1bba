"""`write_page`: a season's leaderboard as one HTML file that needs nothing else; recordings are linked.

Names that came from race files are escaped here.
"""

import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from trailbrake.analysis.lap_table import format_lap_time
from trailbrake.pages.rendering import THEME, escape_html, render_framed_page, render_table, write_page_file

JsonValues = dict[str, Any]


def write_page(board: JsonValues, out: Path) -> Path:
    """Write the page of a leaderboard (`standings.build_leaderboard`) to `out` and return where it is.

    Raises:
        UsageError: it cannot be written.
    """
    return write_page_file(out, build_page(board, out.resolve().parent))


def build_page(board: JsonValues, folder: Path) -> str:
    """Return the page as HTML; links are relative to `folder`."""
    order = [row["entry"] for row in board["standings"]]
    races = sum(len(day["races"]) for day in board["days"])
    counts = (
        _count_noun(len(board["standings"]), "entry", "entries"),
        _count_noun(len(board["days"]), "race day", "race days"),
        _count_noun(races, "race", "races"),
    )
    return render_framed_page(
        "leaderboard/leaderboard.html",
        styles=(THEME, "leaderboard/leaderboard.css"),
        title=escape_html(f"{board['season']}: leaderboard"),
        subtitle=", ".join(counts),
        standings=_standings_table(board),
        days="".join(_day_section(day, order, folder) for day in reversed(board["days"])),  # the newest first
        digest=board["digest"],
    )


def _count_noun(number: int, one: str, more: str) -> str:
    return f"{number} {one if number == 1 else more}"


def _scrolled_table(heads: list[tuple[str, str]], rows: list[str], kind: str = "sticky") -> str:
    return f"<div class='scroll'>{render_table(heads, rows, kind)}</div>"


def _standings_table(board: JsonValues) -> str:
    days = [day["day"] for day in board["days"]] if len(board["days"]) > 1 else []
    heads = [("", "place"), ("entry", "name"), ("points", ""), *((day, "") for day in days), ("wins", ""),
             ("finished", ""), ("laps", ""), ("contacts", "")]  # fmt: skip
    rows = []
    for row in board["standings"]:
        about = f"<small>{escape_html(row['driver'])}</small>" if row["driver"] not in ("", row["entry"]) else ""
        cells = [f"<td class='place'>{row['place']}</td>", f"<td class='name'>{escape_html(row['entry'])}{about}</td>",
                 f"<td class='points'>{row['points']:g}</td>"]  # fmt: skip
        cells += [f"<td>{row['days'][day]:g}</td>" if day in row["days"] else "<td>-</td>" for day in days]
        cells += [f"<td>{text}</td>" for text in (row["wins"], f"{row['finished']} of {row['races']}", row["laps"],
                                                  row["contacts"])]  # fmt: skip
        rows.append(f"<tr{_first_class(row)}>{''.join(cells)}</tr>")
    return _scrolled_table(heads, rows, "standings sticky")


def _first_class(row: JsonValues) -> str:
    return " class='first'" if row["place"] == 1 else ""


def _day_section(day: JsonValues, order: list[str], folder: Path) -> str:
    scored = "best laps" if day["score"] == "best_lap" else "places in each race"
    return (
        f"<section><h2>{escape_html(day['day'])}</h2>"
        f"<p class='quiet'>{escape_html(day['sim'])}, begun {escape_html(day['begun'][:16].replace('T', ' '))};"
        f" points for {scored}</p>"
        f"<div class='cards'>{''.join(_course_card(course) for course in day['best_laps'])}</div>"
        f"{_best_lap_matrix(day, order, folder)}<h2>Races of {escape_html(day['day'])}</h2>"
        f"{''.join(_race_section(race, folder) for race in day['races'])}</section>"
    )


def _course_title(values: JsonValues) -> str:
    tags = "".join(f"<span class='tag'>{escape_html(text.replace('=', ' '))}</span>" for text in values["host"])
    return f"{escape_html(values['track'])}{tags}"


def _course_card(course: JsonValues) -> str:
    rows = [
        f"<tr{_first_class(row)}><td class='place'>{row['place']}</td><td class='name'>{escape_html(row['entry'])}</td>"
        f"<td title='race {row['race']}'>{format_lap_time(row['best_s'])}</td></tr>"
        for row in course["best"]
    ]
    table = f"<table><tbody>{''.join(rows)}</tbody></table>" if rows else "<p class='quiet'>No lap that counts.</p>"
    return f"<div class='card'><h3>{_course_title(course)}</h3>{table}</div>"


def _best_lap_matrix(day: JsonValues, order: list[str], folder: Path) -> str:
    """Return the day at a glance: a row for each entry, a column for each race, the best laps in between."""
    there = {result["entry"] for race in day["races"] for result in race["results"]}
    entries = [entry for entry in order if entry in there]
    best = {(c["track"], *c["host"]): c["best"][0]["best_s"] for c in day["best_laps"] if c["best"]}
    rows = []
    for entry in entries:
        cells = [f"<td class='name'>{escape_html(entry)}</td>"]
        for race in day["races"]:
            result = next((r for r in race["results"] if r["entry"] == entry), None)
            cells.append(_matrix_cell(result, best.get((race["track"], *race["host"])), folder))
        rows.append(f"<tr>{''.join(cells)}</tr>")
    heads = [("best lap in race", "name"), *((f"{race['number']}", "") for race in day["races"])]
    return _scrolled_table(heads, rows)


def _matrix_cell(result: JsonValues | None, best: float | None, folder: Path) -> str:
    if result is None:
        return "<td>-</td>"
    text = format_lap_time(result["best_s"]) if result["best_s"] is not None else "out" if result["ended"] else "no lap"
    kind = "best" if result["best_s"] is not None and result["best_s"] == best else "out" if result["ended"] else ""
    title = escape_html(
        result["ended"] or f"{_count_noun(len(result['laps']), 'lap', 'laps')} in {format_lap_time(result['time_s'])}"
    )
    return f"<td class='{kind}' title='{title}'>{_file_link(result['report'], text, folder)}</td>"


def _race_section(race: JsonValues, folder: Path) -> str:
    heads = [("", "place"), ("entry", "name"), ("laps", ""), ("time", ""), ("best lap", ""), ("contacts", ""),
             ("out because", "name"), ("files", "name")]  # fmt: skip
    rows = [_result_row(result, race, folder) for result in race["results"]]
    won = [result for result in race["results"] if result["place"] == 1]
    names = " and ".join(escape_html(result["entry"]) for result in won)
    winner = f"won by {names} in {format_lap_time(won[0]['time_s'])}" if won else "no entry finished"
    return (
        f"<details><summary>Race {race['number']} on {_course_title(race)}, {_count_noun(race['laps'], 'lap', 'laps')}:"
        f" <span class='quiet'>{winner}</span></summary>{_scrolled_table(heads, rows)}</details>"
    )


def _result_row(result: JsonValues, race: JsonValues, folder: Path) -> str:
    links = [_file_link(result[kind], kind, folder) for kind in ("report", "recording", "log") if result[kind]]
    best = format_lap_time(result["best_s"])
    laps = "; ".join(
        f"{lap['number']}: {format_lap_time(lap['time_s'])}" + (f" ({lap['reason']})" if lap["reason"] else "")
        for lap in result["laps"]
    )
    time = format_lap_time(result["time_s"]) if result["laps"] else "-"
    cells = (
        ("place", str(result["place"] or "")), ("name", escape_html(result["entry"])),
        ("", f"{len(result['laps'])} of {race['laps']}"), ("", time),
        ("", f"<span title='{escape_html(laps)}'>{best}</span>"), ("", str(result["contacts"])),
        ("why out", escape_html(result["ended"])), ("name", ", ".join(links)),
    )  # fmt: skip
    first = " class='first'" if result["place"] == 1 else ""
    return f"<tr{first}>{''.join(f'<td class={kind!r}>{text}</td>' for kind, text in cells)}</tr>"


def _file_link(path: str, text: str, folder: Path) -> str:
    """Return `text`, as a link to the file at `path` where there is one."""
    if not path:
        return text
    try:
        target = quote(Path(os.path.relpath(path, folder)).as_posix())
    except ValueError:  # another drive
        target = Path(path).as_uri()
    return f"<a href='{escape_html(target)}'>{text}</a>"
