"""`write_comparison`: a comparison of laps as one HTML file that needs no network, and as JSON values.

Texts that came with the recordings are escaped here or set as text by the script, never as markup.
"""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from trailbrake.analysis.comparison import Comparison, CornerLoss
from trailbrake.analysis.corner_advice import subtract_shown
from trailbrake.analysis.corner_figures import CornerFigures
from trailbrake.analysis.lap_table import format_lap_time
from trailbrake.analysis.report import DECIMALS, round_finite, round_numbers, thin_points, write_page
from trailbrake.arrays import Array
from trailbrake.json_types import JsonObject
from trailbrake.pages.rendering import (
    REPORT_SCRIPTS,
    REPORT_STYLES,
    escape_html,
    escape_script,
    render_page,
    render_table,
)
from trailbrake.units import KMH

SCRIPTS = (*REPORT_SCRIPTS, "compare/main.js")
_STEPPED = ("gear",)
_HEADS = ("corner", "lost s", "what to change", "brake at m", "turn in m", "slowest km/h", "throttle m", "exit km/h")
CORNER_FIGURES = (("brake_point", 1.0), ("turn_in", 1.0), ("min_speed", 1.0 / KMH), ("throttle_point", 1.0),
            ("exit_speed", 1.0 / KMH))  # fmt: skip


def write_comparison(comparison: Comparison, out: str | Path) -> Path:
    """Write the page to `out` and return where it is.

    Raises:
        UsageError: `out` cannot be written, or is one of the recordings.
    """
    out = Path(out)
    for drive in comparison.drives:
        drive.recording.check_output(out, "page")
    write_page(render_comparison(comparison), out, "comparison")
    return out


def render_comparison(comparison: Comparison) -> str:
    """Return the page."""
    data = json.dumps(make_chart_data(comparison), separators=(",", ":"), allow_nan=False)
    return render_page(
        "compare/compare.html",
        styles=(*REPORT_STYLES, "compare/compare.css"),
        scripts=SCRIPTS,
        title=escape_html(_title(comparison)),
        subtitle=escape_html(_summarise(comparison)),
        summary="".join(f"<p class='note'>{escape_html(note)}</p>" for note in comparison.notes)
        + f"<section class='tables'><div class='laps'>{_lap_rows(comparison)}</div></section>",
        corners=_corner_tables(comparison),
        diagram="",
        details=_consistency_table(comparison),
        data=escape_script(data),
    )


def describe_comparison(comparison: Comparison) -> JsonObject:
    """Return the comparison as JSON values: m, s, m/s; what is not known is None."""
    return {
        "basis": comparison.line.basis,
        "length_m": comparison.line.length,
        "reference": comparison.reference,
        "theoretical_s": known_or_none(comparison.theoretical_s),
        "notes": list(comparison.notes),
        "corners": [
            {"name": c.name, "side": _side(c.sign), "start_m": c.start, "entry_m": c.entry, "apex_m": c.apex,
             "exit_m": c.exit, "end_m": c.end}
            for c in comparison.corners
        ],
        "laps": [
            {
                "name": comparison.name_lap(i),
                "recording": str(comparison.drives[lap.source].recording.path),
                "number": lap.number,
                "time_s": lap.time_s,
                "valid": lap.valid,
                "finished": lap.finished,
                "from_rest": lap.from_rest,
                "clock_error_s": known_or_none(lap.clock_error_s),
                "gap_s": known_or_none(_find_gap(comparison, i)),
                "corners": [_describe_loss(loss) for loss in comparison.losses[i]],
            }
            for i, lap in enumerate(comparison.laps)
        ],
        "drives": [
            {
                "recording": str(drive.recording.path),
                "label": drive.label,
                "laps": even.laps,
                "best_s": known_or_none(even.best_s),
                "mean_s": known_or_none(even.mean_s),
                "deviation_s": known_or_none(even.deviation_s),
                "theoretical_s": known_or_none(even.theoretical_s),
                "corner_deviation_s": [known_or_none(value) for value in even.corner_deviations_s],
                "brake_point_deviation_m": [known_or_none(value) for value in even.brake_deviations_m],
            }
            for drive, even in zip(comparison.drives, comparison.consistency, strict=True)
        ],
    }  # fmt: skip


def known_or_none(value: float) -> float | None:
    """Return a number as JSON has it: None for NaN and infinity."""
    return value if math.isfinite(value) else None


def _side(sign: float) -> str:
    return {1.0: "left", -1.0: "right"}.get(sign, "")


def _find_gap(comparison: Comparison, index: int) -> float:
    """Return how far a lap is behind the reference, s: by the lap clock."""
    lap, reference = comparison.laps[index], comparison.laps[comparison.reference]
    if lap.finished and reference.finished:
        return lap.time_s - reference.time_s
    known = comparison.compute_delta(index)
    known = known[np.isfinite(known)]
    return float(known[-1]) if len(known) else math.nan


def _describe_loss(loss: CornerLoss) -> JsonObject:
    return {
        "name": loss.corner.name,
        "lost_s": known_or_none(loss.lost_s),
        "lost_entry_s": known_or_none(loss.phases.entry),
        "lost_middle_s": known_or_none(loss.phases.middle),
        "lost_exit_s": known_or_none(loss.phases.exit),
        "command_difference": known_or_none(loss.command_difference),
        "advice": loss.advice,
        "lap": describe_figures(loss.figures),
        "reference": describe_figures(loss.reference),
    }


def describe_figures(figures: CornerFigures) -> JsonObject:
    """Return the figures of a lap in a corner as JSON values."""
    return {name: known_or_none(value) for name, value in vars(figures).items()}


def _title(comparison: Comparison) -> str:
    tracks = {str(d.recording.about["track"]) for d in comparison.drives if d.recording.about.get("track")}
    place = " on " + ", ".join(sorted(tracks)) if tracks else ""
    labels = list(dict.fromkeys(drive.label for drive in comparison.drives))
    return f"{' against '.join(labels)}{place}" if len(labels) < 4 else f"{len(labels)} drives{place}"


def _summarise(comparison: Comparison) -> str:
    best = comparison.laps[comparison.reference]
    text = f"Reference: {comparison.name_lap(comparison.reference)}, {format_lap_time(best.time_s)}"
    if math.isfinite(comparison.theoretical_s):
        text += f"; the best of every corner together {format_lap_time(comparison.theoretical_s)}"
    return f"{text}; distances along the {comparison.line.basis}"


def _lap_rows(comparison: Comparison) -> str:
    rows = []
    for i, lap in enumerate(comparison.laps):
        worst = next((loss for loss in comparison.losses[i] if loss.lost_s >= 0.0), None)
        gap = _find_gap(comparison, i)
        dearest = "" if worst is None else escape_html(f"{worst.corner.name} {worst.lost_s:+.3f}")
        cells = [
            f"<th scope='row'>{escape_html(comparison.name_lap(i))}</th>",
            f"<td>{format_lap_time(lap.time_s)}</td>",
            "<td>reference</td>" if i == comparison.reference else f"<td>{gap:+.3f}</td>",
            f"<td>{'yes' if lap.valid else 'no'}</td>",
            f"<td>{dearest}</td>",
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return render_table(("lap", "time", "gap s", "valid", "costs most"), rows)


def _corner_tables(comparison: Comparison) -> str:
    parts: list[str] = []
    for i, losses in enumerate(comparison.losses):
        if not losses:
            continue
        table = f"<div class='scroll'>{render_table(_HEADS, [_corner_row(loss, i) for loss in losses])}</div>"
        name = escape_html(comparison.name_lap(i))
        if not parts:
            parts.append(f"<h2>Where {name} loses time, most expensive first</h2>{table}")
        else:
            parts.append(f"<details><summary>Where {name} loses time</summary>{table}</details>")
    return "".join(parts)


def _corner_row(loss: CornerLoss, index: int) -> str:
    mine, best = loss.figures, loss.reference
    kind = "loss" if loss.lost_s >= 0.01 else "gain" if loss.lost_s <= -0.01 else ""
    cells = [
        f"<th scope='row'>{escape_html(loss.corner.name)}</th>",
        f"<td class='{kind}'>{f'{loss.lost_s:+.3f}' if math.isfinite(loss.lost_s) else '-'}</td>",
        f"<td class='advice'>{escape_html(loss.advice)}</td>",
        *(
            make_figure_cell(head, getattr(mine, name), getattr(best, name), factor)
            for head, (name, factor) in zip(_HEADS[3:], CORNER_FIGURES, strict=True)
        ),
    ]
    return f"<tr data-index='{index}' data-corner='{loss.corner.number}' tabindex='0'>{''.join(cells)}</tr>"


def make_figure_cell(head: str, mine: float, best: float, factor: float) -> str:
    """Return a cell with a figure and its difference from the reference's; a phone shows its column's head in it."""
    if not math.isfinite(mine):
        return f"<td data-head='{head}'>-</td>"
    difference = subtract_shown(mine, best, 1.0 / factor) * factor
    text = " (-)" if math.isnan(best) else f" ({difference:+.0f})" if abs(difference) >= 0.5 else ""
    return f"<td data-head='{head}'>{mine * factor:.0f}{text}</td>"


def _consistency_table(comparison: Comparison) -> str:
    rows = []
    for drive, even in zip(comparison.drives, comparison.consistency, strict=True):
        spread = [
            (value, corner.name)
            for value, corner in zip(even.corner_deviations_s, comparison.corners, strict=True)
            if math.isfinite(value) and corner.number
        ]
        wildest = f"{max(spread)[1]}, {max(spread)[0]:.3f} s" if spread else "-"
        texts = (str(even.laps), format_lap_time(even.best_s), format_lap_time(even.mean_s),
                 format_lap_time(even.deviation_s), format_lap_time(even.theoretical_s), wildest)  # fmt: skip
        cells = "".join(f"<td>{escape_html(text)}</td>" for text in texts)
        rows.append(f"<tr><th scope='row'>{escape_html(drive.label)}</th>{cells}</tr>")
    heads = ("drive", "valid laps", "best", "mean", "deviation", "best of every corner", "least even corner")
    return f"<h2>Consistency</h2><div class='consistency'>{render_table(heads, rows)}</div>"


def make_chart_data(comparison: Comparison) -> JsonObject:
    """Return what the scripts of the report's page draw, with the corners and the reference."""
    grid = comparison.grid
    road = next((d.recording.road_map for d in comparison.drives if d.recording.road_map is not None), None)
    return {
        "step": float(grid[1] - grid[0]),
        "count": len(grid),
        "basis": comparison.line.basis,
        "best": None,
        "reference": comparison.reference,
        "signals": [],
        "plan": None,
        "corners": [
            {"number": c.number, "name": c.label, "title": c.name, "entry": round(c.entry, 2), "apex": round(c.apex, 2),
             "exit": round(c.exit, 2), "start": round(c.start, 2), "end": round(c.end, 2)}
            for c in comparison.corners
        ],
        "laps": [
            {
                "name": comparison.name_lap(i),
                "number": lap.number,
                "time_s": round_finite(lap.time_s, 3),
                "valid": lap.valid,
                "finished": lap.finished,
                "signals": {},
                **{name: round_numbers(values, DECIMALS[name]) for name, values in _trace_lap(comparison, i).items()},
            }
            for i, lap in enumerate(comparison.laps)
        ],
        "map": None
        if road is None
        else {"closed": road.closed, "left": thin_points(road.left), "right": thin_points(road.right)},
    }  # fmt: skip


def _trace_lap(comparison: Comparison, index: int) -> dict[str, Array]:
    """Return a lap's channels on the grid, by the names of the report's page."""
    lap, grid = comparison.laps[index], comparison.grid
    traces: dict[str, Any] = {}
    for name in DECIMALS:
        source = "offset" if name == "error" else name
        if name in _STEPPED:
            after = np.clip(np.searchsorted(lap.s, grid, side="right") - 1, 0, len(lap.s) - 1)
            traces[name] = np.where((grid < lap.s[0]) | (grid > lap.s[-1]), math.nan, lap.channels[source][after])
        else:
            traces[name] = lap.interpolate(source, grid)
    return traces
