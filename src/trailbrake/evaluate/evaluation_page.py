"""`write_page`: an evaluation as one HTML file that needs nothing else."""

import math
from pathlib import Path
from typing import Any

from trailbrake.analysis.lap_table import format_lap_time
from trailbrake.errors import UsageError
from trailbrake.pages.rendering import THEME, escape_html, render_page

PAGE = "evaluation.html"
_WIDEST_BAR = 0.2  # ratio over 1 that fills a bar

JsonValues = dict[str, Any]


def write_page(result: JsonValues) -> Path:
    """Write the page of an evaluation (`evaluation.evaluate`) into its folder and return where it is.

    Raises:
        UsageError: it cannot be written.
    """
    out = Path(result["folder"]) / PAGE
    try:
        out.write_text(build_page(result), encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError("cannot write the page", where=str(out), got=error.strerror or str(error)) from error
    return out


def build_page(result: JsonValues) -> str:
    """Return the page as HTML."""
    rows = result["cells"]
    judged = [row for row in rows if row["role"] == "judged"]
    compared = [row for row in rows if row["role"] != "judged"]
    crashes = sum(row["outcome"] == "crash" for row in judged)
    return render_page(
        "evaluation/evaluation.html",
        styles=(THEME, "leaderboard/leaderboard.css", "evaluation/evaluation.css"),
        title="Evaluation",
        subtitle=f"{len(judged)} cells, {crashes} of them with a crash; {len(compared)} to compare with",
        summary=_summary_table(result["summary"]),
        cells=_cell_table(judged),
        files=_file_section(result["car_files"]),
        compared=_cell_table(compared) if compared else "<p class='quiet'>None were needed.</p>",
    )


def _build_table(heads: list[tuple[str, str]], rows: list[str]) -> str:
    head = "".join(f"<th scope='col' class='{name}'>{escape_html(text)}</th>" for text, name in heads)
    return (
        f"<div class='scroll'><table class='sticky'><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _summary_table(groups: list[JsonValues]) -> str:
    heads = [("driver", "name"), ("wire", "name"), ("believes", "name"), ("condition", "name"), ("cells", ""),
             ("clean", ""), ("off", ""), ("crash", ""), ("error", ""), ("ratio: median", ""), ("least", ""),
             ("most", ""), ("time lost: median", ""), ("mean speed", "")]  # fmt: skip
    rows = []
    for group in groups:
        names = [group[key] for key in ("driver", "sim", "believes", "condition")]
        counts = [str(group["cells"]), str(group["clean"]), str(group["off"])]
        bad = [f"<td class='{'out' if group[key] else ''}'>{group[key]}</td>" for key in ("crash", "error")]
        figures = [_format_ratio(group["ratio"][key]) for key in ("median", "least", "most")]
        figures += [_format_number(group["time_lost_s"]["median"], "+.2f", " s"),
                    _format_number(group["mean_speed_mps"]["mean"], ".1f", " m/s")]  # fmt: skip
        rows.append("<tr>" + "".join(f"<td class='name'>{escape_html(text)}</td>" for text in names)
                    + "".join(f"<td>{text}</td>" for text in counts) + "".join(bad)
                    + "".join(f"<td>{text}</td>" for text in figures) + "</tr>")  # fmt: skip
    return _build_table(heads, rows)


def _cell_table(rows: list[JsonValues]) -> str:
    heads = [("car", "name"), ("track", "name"), ("driver", "name"), ("wire", "name"), ("condition", "name"),
             ("best lap", ""), ("ratio", ""), ("", "bar"), ("time lost", ""), ("laps", "name"), ("off", ""),
             ("off for", ""), ("stuck for", ""), ("contacts", ""), ("mean speed", ""), ("outcome", "name")]  # fmt: skip
    return _build_table(heads, [_cell_row(row) for row in rows])


def _cell_row(row: JsonValues) -> str:
    belief = "; ".join(str(row[key]) for key in ("believed_car", "believed_track") if row[key])
    driver = escape_html(row["driver"]) + (f"<small>believes {escape_html(belief)}</small>" if belief else "")
    laps = " ".join(
        f"<span class='lap{'' if lap['valid'] else ' out'}' title='lap {lap['number']}"
        f"{': ' + escape_html(lap['reason']) if lap['reason'] else ''}'>{format_lap_time(lap['time_s'])}</span>"
        for lap in row["laps"]
    )
    best = format_lap_time(row["best_s"]) if math.isfinite(row["best_s"]) else "-"
    outcome = escape_html(row["outcome"] + (f": {row['ended']}" if row["ended"] else ""))
    cells = [
        ("name", escape_html(row["car"])), ("name", escape_html(row["track"])), ("name", driver),
        ("name", escape_html(row["sim"])), ("name", escape_html(row["condition"])), ("", best),
        ("", _format_ratio(row["ratio"])), ("bar", _ratio_bar(row["ratio"])),
        ("", _format_number(row["time_lost_s"], "+.2f", " s")), ("name laps", laps), ("", str(row["off_track_count"])),
        ("", f"{row['off_track_s']:.1f} s"), ("", f"{row['stuck_s']:.0f} s"), ("", str(row["contacts"])),
        ("", _format_number(row["mean_speed_mps"], ".1f", " m/s")),
        ("why out" if row["outcome"] in ("crash", "error") else "why", outcome),
    ]  # fmt: skip
    return f"<tr>{''.join(f'<td class={name!r}>{text}</td>' for name, text in cells)}</tr>"


def _file_section(files: list[JsonValues]) -> str:
    if not files:
        return ""
    shares = ("lateral_grip", "braking", "drive_force", "downforce", "steer_angle")
    heads = [("file", "name"), ("car", "name"), *((name.replace("_", " "), "") for name in shares), ("delay", "")]
    rows = [
        f"<tr><td class='name'>{escape_html(row['file'])}</td><td class='name'>{escape_html(row['car'])}</td>"
        + "".join(
            f"<td>{_format_number(100.0 * row[name], '+.1f', ' %')}{_mark_outside(row, name)}</td>" for name in shares
        )
        + f"<td>{1e3 * row['delay_s']:+.1f} ms{_mark_outside(row, 'delay_s')}</td></tr>"
        for row in files
    ]
    note = "<p class='quiet'>* the truth is outside of the file's own 95 % interval</p>"
    return f"<section><h2>Believed car files against the truth</h2>{_build_table(heads, rows)}{note}</section>"


def _mark_outside(row: JsonValues, name: str) -> str:
    return "*" if row["within"].get(name) is False else ""


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


def _format_number(value: float | None, form: str, unit: str) -> str:
    return "-" if value is None or not math.isfinite(value) else f"{value:{form}}{unit}"


def _format_ratio(value: float) -> str:
    return _format_number(100.0 * (value - 1.0), "+.2f", " %")
