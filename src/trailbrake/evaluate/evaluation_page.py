"""`write_page`: an evaluation as one HTML file that needs nothing else; `write_suite_page`: the scores of a suite.

Names that came from files are escaped in the tables of cells.
"""

import math
from pathlib import Path
from typing import Any

from trailbrake.analysis.lap_table import format_lap_time, format_number, format_ratio
from trailbrake.pages.rendering import THEME, escape_html, render_framed_page, render_table, write_page_file

PAGE = "evaluation.html"
_WIDEST_BAR = 0.2  # ratio over 1 that fills a bar

JsonValues = dict[str, Any]
SUITE_PAGE = "suite.html"
_SILENT_AT_ZERO = ("stuck for", "contacts", "error")  # columns that say nothing where all are 0
_SILENT_IF_EQUAL = ("wire", "believes", "condition")  # and where all are the same
OUTCOMES = (
    "clean: all laps were driven and count; off: all were driven, some do not count, because the car left the road; "
    "crash: a contact, a car that got stuck, or laps that were not driven; error: no drive came about."
)
RATIO = (
    "Ratio: best valid flying lap against the same driver's with the world's own car and track, in percent of time. "
    "Time lost: all laps against the same cell without its condition."
)

Cell = tuple[str, str]  # class and finished HTML


def build_table(heads: list[tuple[str, str]], rows: list[list[Cell]]) -> str:
    """Return a table without the columns that say nothing; `heads`: text and class of each column."""
    kept = [i for i, (text, _) in enumerate(heads) if not rows or _says(text, {row[i][1] for row in rows})]
    lines = (f"<tr>{''.join(f'<td class={row[i][0]!r}>{row[i][1]}</td>' for i in kept)}</tr>" for row in rows)
    return f"<div class='scroll'>{render_table([heads[i] for i in kept], lines, 'sticky')}</div>"


def _says(head: str, values: set[str]) -> bool:
    """Return whether a column with these different values is worth its place."""
    if values <= {"", "-"} or (head in _SILENT_AT_ZERO and values <= {"0", "0 s"}):
        return False
    return len(values) > 1 or head not in _SILENT_IF_EQUAL


def build_cell_table(rows: list[JsonValues]) -> str:
    """Return a table with a row per cell (`evaluation.build_rows`), its outcome first."""
    heads = [("outcome", "name"), ("car", "name"), ("track", "name"), ("driver", "name"), ("wire", "name"),
             ("condition", "name"), ("best lap", ""), ("ratio", ""), ("", "bar"), ("time lost", ""), ("laps", "name"),
             ("off", ""), ("off for", ""), ("stuck for", ""), ("contacts", ""), ("mean progress", "")]  # fmt: skip
    return build_table(heads, [_list_cell_texts(row) for row in rows])


def _list_cell_texts(row: JsonValues) -> list[Cell]:
    """Return each column of a cell's row."""
    belief = "; ".join(str(row[key]) for key in ("believed_car", "believed_track") if row[key])
    driver = escape_html(row["driver"]) + (f"<small>believes {escape_html(belief)}</small>" if belief else "")
    laps = " ".join(
        f"<span class='lap{'' if lap['valid'] else ' out'}' title='lap {lap['number']}"
        f"{': ' + escape_html(lap['reason']) if lap['reason'] else ''}'>{format_lap_time(lap['time_s'])}</span>"
        for lap in row["laps"]
    )
    ended = f"<small>{escape_html(row['ended'])}</small>" if row["ended"] else ""
    return [
        (f"name outcome {row['outcome']}", f"<b>{escape_html(row['outcome'])}</b>{ended}"),
        ("name", escape_html(row["car"])), ("name", escape_html(row["track"])), ("name", driver),
        ("name", escape_html(row["sim"])), ("name", escape_html(row["condition"])),
        ("", format_lap_time(row["best_s"])),
        ("", format_ratio(row["ratio"])), ("bar", _ratio_bar(row["ratio"])),
        ("", format_number(row["time_lost_s"], "+.2f", " s")), ("name laps", laps),
        ("", f"{row['off_track_count']} times"),
        ("", f"{row['off_track_s']:.1f} s"), ("", f"{row['stuck_s']:.0f} s"), ("", str(row["contacts"])),
        ("", format_number(row["mean_progress_mps"], ".1f", " m/s")),
    ]  # fmt: skip


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


def write_page(result: JsonValues) -> Path:
    """Write the page of an evaluation (`evaluation.evaluate`) into its folder and return where it is.

    Raises:
        UsageError: it cannot be written.
    """
    return write_page_file(Path(result["folder"]) / PAGE, build_page(result))


def build_page(result: JsonValues) -> str:
    """Return the page as HTML."""
    rows = result["cells"]
    judged = [row for row in rows if row["role"] == "judged"]
    compared = [row for row in rows if row["role"] != "judged"]
    found = [row["outcome"] for row in judged]
    counts = ", ".join(f"{found.count(name)} {name}" for name in ("clean", "off", "crash", "error") if name in found)
    return render_framed_page(
        "evaluation/evaluation.html",
        styles=(THEME, "leaderboard/leaderboard.css", "evaluation/evaluation.css"),
        title="Evaluation",
        subtitle=f"{len(judged)} cells: {counts or 'none'}"
        + (f"; {len(compared)} to compare with" if compared else ""),
        ratio=RATIO if compared else "",
        outcomes=OUTCOMES,
        summary=_summary_table(result["summary"]),
        cells=build_cell_table(judged),
        files=_file_section(result["car_files"]),
        compared=f"<section><h2>Compared with</h2>{build_cell_table(compared)}</section>" if compared else "",
    )


def _summary_table(groups: list[JsonValues]) -> str:
    heads = [("driver", "name"), ("wire", "name"), ("believes", "name"), ("condition", "name"), ("cells", ""),
             ("clean", ""), ("off", ""), ("crash", ""), ("error", ""), ("ratio: median", ""), ("least", ""),
             ("most", ""), ("time lost: median", ""), ("mean progress", "")]  # fmt: skip
    rows = [
        [
            *(("name", escape_html(group[key])) for key in ("driver", "sim", "believes", "condition")),
            *(("", str(group[key])) for key in ("cells", "clean", "off")),
            *(("out" if group[key] else "", str(group[key])) for key in ("crash", "error")),
            *(("", format_ratio(group["ratio"][key])) for key in ("median", "least", "most")),
            ("", format_number(group["time_lost_s"]["median"], "+.2f", " s")),
            ("", format_number(group["mean_progress_mps"]["mean"], ".1f", " m/s")),
        ]
        for group in groups
    ]
    return build_table(heads, rows)


def _file_section(files: list[JsonValues]) -> str:
    if not files:
        return ""
    shares = ("lateral_grip", "braking", "drive_force", "downforce", "steer_angle")
    heads = [("file", "name"), ("car", "name"), *((name.replace("_", " "), "") for name in shares), ("delay", "")]
    rows = [
        [
            ("name", escape_html(row["file"])), ("name", escape_html(row["car"])),
            *(("", format_number(100.0 * row[name], "+.1f", " %") + mark_outside(row, name)) for name in shares),
            ("", f"{1e3 * row['delay_s']:+.1f} ms{mark_outside(row, 'delay_s')}"),
        ]
        for row in files
    ]  # fmt: skip
    note = "<p class='quiet'>* the truth is outside of the file's own 95 % interval</p>"
    return f"<section><h2>Believed car files against the truth</h2>{build_table(heads, rows)}{note}</section>"


def mark_outside(row: JsonValues, name: str) -> str:
    """Return a star where the truth is outside of a believed number's interval."""
    return "*" if row["within"].get(name) is False else ""


def write_suite_page(result: JsonValues) -> Path:
    """Write the page of a suite (`suite_evaluation.evaluate_suite`) into its folder and return where it is.

    Raises:
        UsageError: it cannot be written.
    """
    return write_page_file(Path(result["folder"]) / SUITE_PAGE, build_suite_page(result))


def build_suite_page(result: JsonValues) -> str:
    """Return the page as HTML."""
    return render_framed_page(
        "evaluation/suite.html",
        styles=(THEME, "leaderboard/leaderboard.css", "evaluation/evaluation.css"),
        title=escape_html(f"suite/{result['suite']}"),
        subtitle=escape_html(result["text"]),
        scores=build_score_table(result["scores"]),
        laps=build_lap_table(result["cells"], [score["driver"] for score in result["scores"]]),
        cells=build_cell_table(result["cells"]),
    )


def build_score_table(scores: list[JsonValues]) -> str:
    """Return a table with a row per score (`suite.score_drivers`), in their order."""
    heads = [("", "place"), ("driver", "name"), ("cells", ""), ("crash", ""), ("error", ""), ("valid laps", ""),
             ("over the reference: mean", ""), ("median", ""), ("least", ""), ("most", ""), ("steps", ""),
             ("simulated", ""), ("processor", "")]  # fmt: skip
    rows = []
    for place, score in enumerate(scores, 1):
        figures = [
            f"{score['cells']} of {score['of']}", f"{100.0 * score['crash_rate']:.0f} %", str(score["error"]),
            f"{score['valid_laps']} of {score['laps_to_drive']}",
            *(format_ratio(score[f"ratio_{key}"]) for key in ("mean", "median", "least", "most")),
            f"{score['steps']}", format_number(score["simulated_h"], ".3f", " h"),
            format_number(score["processor_h"], ".3f", " h"),
        ]  # fmt: skip
        rows.append([("place", str(place)), ("name", escape_html(score["driver"])), *(("", text) for text in figures)])
    return build_table(heads, rows)


def build_lap_table(cells: list[JsonValues], drivers: list[str]) -> str:
    """Return a table of best laps, a row per track and car and a column per driver; the fastest is marked.

    Args:
        cells: `evaluation.build_rows`.
        drivers: in the order of the columns.
    """
    found: dict[tuple[str, str], dict[str, JsonValues]] = {}
    for cell in cells:
        found.setdefault((cell["track"], cell["car"]), {})[cell["driver"]] = cell
    rows = []
    for (track, car), by_driver in found.items():
        fastest = min((cell["best_s"] for cell in by_driver.values() if not _has_failed(cell)), default=math.inf)
        rows.append([
            ("name", f"{escape_html(track)}<small>{escape_html(car)}</small>"),
            *(_build_lap_cell(by_driver[driver], fastest) if driver in by_driver else ("", "-") for driver in drivers),
        ])  # fmt: skip
    return build_table([("track, car", "name"), *((driver, "driver") for driver in drivers)], rows)


def _has_failed(cell: JsonValues) -> bool:
    return cell["outcome"] in ("crash", "error") or not math.isfinite(cell["best_s"])


def _build_lap_cell(cell: JsonValues, fastest: float) -> Cell:
    kind = "out" if _has_failed(cell) else "best" if cell["best_s"] == fastest else ""
    return kind, f"{format_lap_time(cell['best_s'])}<small>{format_ratio(cell['ratio'])}</small>"
