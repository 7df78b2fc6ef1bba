"""Tables of cells as HTML, for the pages of evaluations and of suites. Names that came from files are escaped here."""

import math
from typing import Any

from trailbrake.analysis.lap_table import format_lap_time
from trailbrake.pages.rendering import escape_html

_WIDEST_BAR = 0.2  # ratio over 1 that fills a bar

JsonValues = dict[str, Any]


def build_table(heads: list[tuple[str, str]], rows: list[str]) -> str:
    """Return a table; `heads`: text and class of each column, `rows`: finished <tr>s."""
    head = "".join(f"<th scope='col' class='{name}'>{escape_html(text)}</th>" for text, name in heads)
    return (
        f"<div class='scroll'><table class='sticky'><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def build_cell_table(rows: list[JsonValues], omitted: frozenset[str] = frozenset()) -> str:
    """Return a table with a row per cell (`evaluation.build_rows`), without the columns with the heads `omitted`."""
    heads = [("car", "name"), ("track", "name"), ("driver", "name"), ("wire", "name"), ("condition", "name"),
             ("best lap", ""), ("ratio", ""), ("", "bar"), ("time lost", ""), ("laps", "name"), ("off", ""),
             ("off for", ""), ("stuck for", ""), ("contacts", ""), ("mean speed", ""), ("outcome", "name")]  # fmt: skip
    kept = [i for i, (text, _) in enumerate(heads) if text not in omitted]
    lines = []
    for row in rows:
        cells = _list_cell_texts(row)
        lines.append("<tr>" + "".join(f"<td class={cells[i][0]!r}>{cells[i][1]}</td>" for i in kept) + "</tr>")
    return build_table([heads[i] for i in kept], lines)


def _list_cell_texts(row: JsonValues) -> list[tuple[str, str]]:
    """Return class and HTML of each column of a cell's row."""
    belief = "; ".join(str(row[key]) for key in ("believed_car", "believed_track") if row[key])
    driver = escape_html(row["driver"]) + (f"<small>believes {escape_html(belief)}</small>" if belief else "")
    laps = " ".join(
        f"<span class='lap{'' if lap['valid'] else ' out'}' title='lap {lap['number']}"
        f"{': ' + escape_html(lap['reason']) if lap['reason'] else ''}'>{format_lap_time(lap['time_s'])}</span>"
        for lap in row["laps"]
    )
    outcome = escape_html(row["outcome"] + (f": {row['ended']}" if row["ended"] else ""))
    return [
        ("name", escape_html(row["car"])), ("name", escape_html(row["track"])), ("name", driver),
        ("name", escape_html(row["sim"])), ("name", escape_html(row["condition"])), ("", format_best_lap(row)),
        ("", format_ratio(row["ratio"])), ("bar", _ratio_bar(row["ratio"])),
        ("", format_number(row["time_lost_s"], "+.2f", " s")), ("name laps", laps), ("", str(row["off_track_count"])),
        ("", f"{row['off_track_s']:.1f} s"), ("", f"{row['stuck_s']:.0f} s"), ("", str(row["contacts"])),
        ("", format_number(row["mean_speed_mps"], ".1f", " m/s")),
        ("why out" if row["outcome"] in ("crash", "error") else "why", outcome),
    ]  # fmt: skip


def format_best_lap(row: JsonValues) -> str:
    """Return the best lap of a cell's row; - where it has none."""
    return format_lap_time(row["best_s"]) if math.isfinite(row["best_s"]) else "-"


def _ratio_bar(ratio: float) -> str:
    """Return a bar to the right where laps take longer than the reference's, to the left where they are quicker."""
    if not math.isfinite(ratio):
        return ""
    width = 50.0 * min(abs(ratio - 1.0) / _WIDEST_BAR, 1.0)
    x, kind = (50.0, "slower") if ratio >= 1.0 else (50.0 - width, "quicker")
    return (
        f"<svg viewBox='0 0 100 12' role='img' aria-label='{100.0 * (ratio - 1.0):+.1f} %'>"
        f"<rect class='{kind}' x='{x:.1f}' y='2' width='{width:.1f}' height='8'/>"
        "<line x1='50' x2='50' y1='0' y2='12'/></svg>"
    )


def format_number(value: float | None, form: str, unit: str) -> str:
    """Return a number in a format with its unit; - where there is none."""
    return "-" if value is None or not math.isfinite(value) else f"{value:{form}}{unit}"


def format_ratio(value: float) -> str:
    """Return a ratio of times as a difference in percent."""
    return format_number(100.0 * (value - 1.0), "+.2f", " %")
