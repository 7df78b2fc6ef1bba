"""`write_suite_page`: the scores of a suite as one HTML file that needs nothing else."""

import math
from pathlib import Path
from typing import Any

from trailbrake.evaluate.page_tables import build_cell_table, build_table, format_best_lap, format_number, format_ratio
from trailbrake.pages.rendering import THEME, escape_html, render_framed_page, write_page_file

SUITE_PAGE = "suite.html"
_SAME_IN_ALL = frozenset({"wire", "condition", "time lost"})  # columns of cells that a suite has no use for

JsonValues = dict[str, Any]


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
