"""`write_page`: an evaluation as one HTML file that needs nothing else; `write_suite_page`: the scores of a suite.

Names that came from files are escaped in the tables of cells.
"""

import math
from pathlib import Path
from typing import Any

from trailbrake.analysis.lap_table import format_lap_time
from trailbrake.pages.rendering import THEME, escape_html, render_framed_page, write_page_file

PAGE = "evaluation.html"
_WIDEST_BAR = 0.2  # ratio over 1 that fills a bar

JsonValues = dict[str, Any]
SUITE_PAGE = "suite.html"
_SAME_IN_ALL = frozenset({"wire", "condition", "time lost"})  # columns of cells that a suite has no use for


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
    crashes = sum(row["outcome"] == "crash" for row in judged)
    return render_framed_page(
        "evaluation/evaluation.html",
        styles=(THEME, "leaderboard/leaderboard.css", "evaluation/evaluation.css"),
        title="Evaluation",
        subtitle=f"{len(judged)} cells, {crashes} of them with a crash; {len(compared)} to compare with",
        summary=_summary_table(result["summary"]),
        cells=build_cell_table(judged),
        files=_file_section(result["car_files"]),
        compared=build_cell_table(compared) if compared else "<p class='quiet'>None were needed.</p>",
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
        figures = [format_ratio(group["ratio"][key]) for key in ("median", "least", "most")]
        figures += [format_number(group["time_lost_s"]["median"], "+.2f", " s"),
                    format_number(group["mean_speed_mps"]["mean"], ".1f", " m/s")]  # fmt: skip
        rows.append("<tr>" + "".join(f"<td class='name'>{escape_html(text)}</td>" for text in names)
                    + "".join(f"<td>{text}</td>" for text in counts) + "".join(bad)
                    + "".join(f"<td>{text}</td>" for text in figures) + "</tr>")  # fmt: skip
    return build_table(heads, rows)


def _file_section(files: list[JsonValues]) -> str:
    if not files:
        return ""
    shares = ("lateral_grip", "braking", "drive_force", "downforce", "steer_angle")
    heads = [("file", "name"), ("car", "name"), *((name.replace("_", " "), "") for name in shares), ("delay", "")]
    rows = [
        f"<tr><td class='name'>{escape_html(row['file'])}</td><td class='name'>{escape_html(row['car'])}</td>"
        + "".join(
            f"<td>{format_number(100.0 * row[name], '+.1f', ' %')}{_mark_outside(row, name)}</td>" for name in shares
        )
        + f"<td>{1e3 * row['delay_s']:+.1f} ms{_mark_outside(row, 'delay_s')}</td></tr>"
        for row in files
    ]
    note = "<p class='quiet'>* the truth is outside of the file's own 95 % interval</p>"
    return f"<section><h2>Believed car files against the truth</h2>{build_table(heads, rows)}{note}</section>"


def _mark_outside(row: JsonValues, name: str) -> str:
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
        cells=build_cell_table(result["cells"], _SAME_IN_ALL),
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
        rows.append(f"<tr><td class='place'>{place}</td><td class='name'>{escape_html(score['driver'])}</td>"
                    + "".join(f"<td>{text}</td>" for text in figures) + "</tr>")  # fmt: skip
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
        texts = [_build_lap_cell(by_driver[driver], fastest) if driver in by_driver else "<td>-</td>"
                 for driver in drivers]  # fmt: skip
        rows.append(f"<tr><td class='name'>{escape_html(track)}<small>{escape_html(car)}</small></td>"
                    + "".join(texts) + "</tr>")  # fmt: skip
    return build_table([("track, car", "name"), *((driver, "driver") for driver in drivers)], rows)


def _has_failed(cell: JsonValues) -> bool:
    return cell["outcome"] in ("crash", "error") or not math.isfinite(cell["best_s"])


def _build_lap_cell(cell: JsonValues, fastest: float) -> str:
    kind = "out" if _has_failed(cell) else "best" if cell["best_s"] == fastest else ""
    return f"<td class='{kind}'>{format_best_lap(cell)}<small>{format_ratio(cell['ratio'])}</small></td>"
