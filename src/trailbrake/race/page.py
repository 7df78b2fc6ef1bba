"""`write_page`: a season's leaderboard as one HTML file that needs nothing else; recordings are linked.

Names that came from race files are escaped here.
"""

import html
import os
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import quote

from trailbrake.analysis.lap_table import clock
from trailbrake.errors import UsageError

Values = dict[str, Any]


def write_page(board: Values, out: Path) -> Path:
    """Write the page of a leaderboard (`standings.leaderboard`) to `out` and return where it is.

    Raises:
        UsageError: it cannot be written.
    """
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(page_html(board, out.resolve().parent), encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError("cannot write the page", where=str(out), got=error.strerror or str(error)) from error
    return out


def page_html(board: Values, folder: Path) -> str:
    """Return the page as HTML; links are relative to `folder`."""
    own = files("trailbrake.race") / "page"
    theme = files("trailbrake.analysis") / "page" / "theme.css"
    order = [row["entry"] for row in board["standings"]]
    races = sum(len(day["races"]) for day in board["days"])
    counts = (_count(len(board["standings"]), "entry", "entries"), _count(len(board["days"]), "race day", "race days"),
              _count(races, "race", "races"))  # fmt: skip
    return Template((own / "leaderboard.html").read_text(encoding="utf-8")).substitute(
        title=_escaped(f"{board['season']}: leaderboard"),
        subtitle=", ".join(counts),
        styles=theme.read_text(encoding="utf-8") + (own / "leaderboard.css").read_text(encoding="utf-8"),
        standings=_standings(board),
        days="".join(_day(day, order, folder) for day in reversed(board["days"])),  # the newest first
        digest=board["digest"],
    )


def _escaped(text: str) -> str:
    return html.escape(text)


def _count(number: int, one: str, more: str) -> str:
    return f"{number} {one if number == 1 else more}"


def _table(heads: list[tuple[str, str]], rows: list[str], kind: str = "") -> str:
    """Return a table; `heads`: text and class of each column, `rows`: finished <tr>s."""
    head = "".join(f"<th scope='col' class='{name}'>{_escaped(text)}</th>" for text, name in heads)
    return (
        f"<div class='scroll'><table class='{kind}'><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _standings(board: Values) -> str:
    days = [day["day"] for day in board["days"]] if len(board["days"]) > 1 else []
    heads = [("", "place"), ("entry", "name"), ("points", ""), *((day, "") for day in days), ("wins", ""),
             ("finished", ""), ("laps", ""), ("contacts", "")]  # fmt: skip
    rows = []
    for row in board["standings"]:
        about = f"<small>{_escaped(row['driver'])}</small>" if row["driver"] not in ("", row["entry"]) else ""
        cells = [f"<td class='place'>{row['place']}</td>", f"<td class='name'>{_escaped(row['entry'])}{about}</td>",
                 f"<td class='points'>{row['points']:g}</td>"]  # fmt: skip
        cells += [f"<td>{row['days'][day]:g}</td>" if day in row["days"] else "<td>-</td>" for day in days]
        cells += [f"<td>{text}</td>" for text in (row["wins"], f"{row['finished']} of {row['races']}", row["laps"],
                                                  row["contacts"])]  # fmt: skip
        rows.append(f"<tr{_first(row)}>{''.join(cells)}</tr>")
    return _table(heads, rows, "standings sticky")


def _first(row: Values) -> str:
    return " class='first'" if row["place"] == 1 else ""


def _day(day: Values, order: list[str], folder: Path) -> str:
    scored = "best laps" if day["score"] == "best_lap" else "places in each race"
    return (
        f"<section><h2>{_escaped(day['day'])}</h2>"
        f"<p class='quiet'>{_escaped(day['sim'])}, begun {_escaped(day['begun'][:16].replace('T', ' '))};"
        f" points for {scored}</p>"
        f"<div class='cards'>{''.join(_card(course) for course in day['best_laps'])}</div>"
        f"{_matrix(day, order, folder)}<h2>Races of {_escaped(day['day'])}</h2>"
        f"{''.join(_race(race, folder) for race in day['races'])}</section>"
    )


def _course(values: Values) -> str:
    tags = "".join(f"<span class='tag'>{_escaped(text.replace('=', ' '))}</span>" for text in values["host"])
    return f"{_escaped(values['track'])}{tags}"


def _card(course: Values) -> str:
    rows = [
        f"<tr{_first(row)}><td class='place'>{row['place']}</td><td class='name'>{_escaped(row['entry'])}</td>"
        f"<td title='race {row['race']}'>{clock(row['best_s'])}</td></tr>"
        for row in course["best"]
    ]
    table = f"<table><tbody>{''.join(rows)}</tbody></table>" if rows else "<p class='quiet'>No lap that counts.</p>"
    return f"<div class='card'><h3>{_course(course)}</h3>{table}</div>"


def _matrix(day: Values, order: list[str], folder: Path) -> str:
    """Return the day at a glance: a row for each entry, a column for each race, the best laps in between."""
    there = {result["entry"] for race in day["races"] for result in race["results"]}
    entries = [entry for entry in order if entry in there]
    best = {(c["track"], *c["host"]): c["best"][0]["best_s"] for c in day["best_laps"] if c["best"]}
    rows = []
    for entry in entries:
        cells = [f"<td class='name'>{_escaped(entry)}</td>"]
        for race in day["races"]:
            result = next((r for r in race["results"] if r["entry"] == entry), None)
            cells.append(_glance(result, best.get((race["track"], *race["host"])), folder))
        rows.append(f"<tr>{''.join(cells)}</tr>")
    heads = [("best lap in race", "name"), *((f"{race['number']}", "") for race in day["races"])]
    return _table(heads, rows, "sticky")


def _glance(result: Values | None, best: float | None, folder: Path) -> str:
    if result is None:
        return "<td>-</td>"
    text = clock(result["best_s"]) if result["best_s"] is not None else "out" if result["ended"] else "no lap"
    kind = "best" if result["best_s"] is not None and result["best_s"] == best else "out" if result["ended"] else ""
    title = _escaped(result["ended"] or f"{_count(len(result['laps']), 'lap', 'laps')} in {clock(result['time_s'])}")
    return f"<td class='{kind}' title='{title}'>{_link(result['report'], text, folder)}</td>"


def _race(race: Values, folder: Path) -> str:
    heads = [("", "place"), ("entry", "name"), ("laps", ""), ("time", ""), ("best lap", ""), ("contacts", ""),
             ("out because", "name"), ("files", "name")]  # fmt: skip
    rows = [_result(result, race, folder) for result in race["results"]]
    won = race["results"][0] if race["results"] and race["results"][0]["finished"] else None
    winner = f"won by {_escaped(won['entry'])} in {clock(won['time_s'])}" if won else "nobody finished"
    return (
        f"<details><summary>Race {race['number']} on {_course(race)}, {_count(race['laps'], 'lap', 'laps')}:"
        f" <span class='quiet'>{winner}</span></summary>{_table(heads, rows, 'sticky')}</details>"
    )


def _result(result: Values, race: Values, folder: Path) -> str:
    links = [_link(result[kind], kind, folder) for kind in ("report", "recording", "log") if result[kind]]
    best = clock(result["best_s"]) if result["best_s"] is not None else "-"
    laps = "; ".join(f"{lap['number']}: {clock(lap['time_s'])}" + (f" ({lap['reason']})" if lap["reason"] else "")
                     for lap in result["laps"])  # fmt: skip
    cells = (
        ("place", str(result["place"] or "")), ("name", _escaped(result["entry"])),
        ("", f"{len(result['laps'])} of {race['laps']}"), ("", clock(result["time_s"]) if result["laps"] else "-"),
        ("", f"<span title='{_escaped(laps)}'>{best}</span>"), ("", str(result["contacts"])),
        ("why out", _escaped(result["ended"])), ("name", ", ".join(links)),
    )  # fmt: skip
    first = " class='first'" if result["place"] == 1 else ""
    return f"<tr{first}>{''.join(f'<td class={kind!r}>{text}</td>' for kind, text in cells)}</tr>"


def _link(path: str, text: str, folder: Path) -> str:
    """Return `text`, as a link to the file at `path` where there is one."""
    if not path:
        return text
    try:
        target = quote(Path(os.path.relpath(path, folder)).as_posix())
    except ValueError:  # another drive
        target = Path(path).as_uri()
    return f"<a href='{_escaped(target)}'>{text}</a>"
