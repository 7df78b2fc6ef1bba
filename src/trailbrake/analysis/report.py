"""`write_report`: a recording as one HTML file that needs no other file and no network.

The page's parts are in `pages/assets/report/`; this module fills in the numbers. Texts that came with the recording are
escaped here or set as text by the script, never as markup.
"""

import html
import json
import math
import shlex
from pathlib import Path
from typing import Any

import numpy as np

from trailbrake.analysis.corners import find_line_corners, find_recorded_track, title_corners
from trailbrake.analysis.lap_location import choose_line
from trailbrake.analysis.lap_table import LapTable, compare_laps, format_lap_time
from trailbrake.analysis.lap_traces import LapTraces, trace_laps
from trailbrake.analysis.race_motion import RACE_FILES
from trailbrake.analysis.race_report import render_race
from trailbrake.arrays import Array
from trailbrake.errors import DataError, OsErrors
from trailbrake.json_types import JsonObject
from trailbrake.pages.rendering import (
    REPORT_SCRIPTS,
    REPORT_STYLES,
    encode_data_url,
    escape_script,
    render_page,
    render_table,
)
from trailbrake.record.recording_reader import SCAN_ROWS, Recording
from trailbrake.user_files import check_result

PICTURES_PER_LAP = 120  # at most: 10 kB each in a page
MAX_PICTURES = 360


def describe_corners(recording: Recording, shown: LapTraces) -> list[JsonObject]:
    """Return the corners of the road, numbered and named as in a comparison; none where there are no positions.

    "entry", "apex" and "exit" are places on the grid of the laps (m).
    """
    try:
        line = (common := choose_line([recording])).line
    except DataError:
        return []
    paths = [shown.plan] if shown.plan is not None else [lap.channels for lap in shown.laps if lap.finished]
    if line is None or not paths or not np.isfinite(paths[0]["x"] + paths[0]["y"]).any():
        return []
    corners = title_corners(find_line_corners(line), common, find_recorded_track(recording.about.get("track")))

    def place(at: float) -> float:
        x, y = (np.interp(at, line.s, values) for values in (line.x, line.y))
        return round(float(np.nanargmin(np.hypot(paths[0]["x"] - x, paths[0]["y"] - y))) * shown.step, 2)

    return [
        {"number": corner.number, "name": corner.label, "title": corner.name, "entry": place(corner.entry),
         "apex": place(corner.apex), "exit": place(corner.exit)}
        for corner in corners
    ]  # fmt: skip


def choose_pictures(recording: Recording, shown: LapTraces) -> list[dict[str, list[int | str]]]:
    """Return pictures of each lap: "at", indices of the grid, rising, and "data", addresses that hold the picture."""
    found: list[dict[str, list[int | str]]] = [{"at": [], "data": []} for _ in shown.laps]
    time, undone = recording.race_times, recording.undone
    spacing = shown.count / min(PICTURES_PER_LAP, MAX_PICTURES / max(len(shown.laps), 1))
    due = [0.0] * len(shown.laps)
    for picture in recording.pictures():
        for i, lap in enumerate(shown.laps):
            if undone[picture.row] or not lap.rows.start <= picture.row < lap.rows.stop:
                continue
            at = _find_index(lap.channels["time"], float(time[picture.row] - time[lap.rows.start]))
            if at >= due[i]:
                due[i] = at + spacing
                found[i]["at"].append(at)
                found[i]["data"].append(encode_data_url(picture.data))
    return found


def _find_index(times: Array, at: float) -> int:
    """Return the last place of the grid that was passed at a time (s) since the lap began."""
    return max(int(np.count_nonzero(times <= at)) - 1, 0)


DECIMALS = {"time": 3, "x": 2, "y": 2, "speed": 2, "throttle": 3, "brake": 3, "steer": 4, "gear": 0, "error": 2,
            "acceleration_x": 2, "acceleration_y": 2, "curvature": 5, "driving_line": 4,
            "engine_speed": 1, "combined_slip": 3, "slip_ratio": 4, "core_temperature": 1,
            "disc_temperature": 0}  # fmt: skip
MAP_POINTS = 3000  # of each edge
EVENTS_SHOWN = 200
ABOUT_FIRST = ("sim", "driver", "track", "car", "seed")
SHOWN_ELSEWHERE = ("signals", "spec", "inputs", RACE_FILES)  # by the charts, as the drive, and as the race


def write_report(recording: str | Path | Recording, out: str | Path | None = None) -> Path:
    """Write the report of `recording` (a file or an open one) and return where it is.

    Without `out` it goes beside the recording, as .html, over an older report of the same recording.

    Raises:
        UsageError: the recording cannot be read or `out` cannot be written.
        DataError: it is not a recording, or there is no tick in it.
    """
    if not isinstance(recording, Recording):
        recording = Recording.open(recording)
    out = recording.path.with_suffix(".html") if out is None else Path(out)
    recording.check_output(out, "report")
    page = render_report(recording)
    write_page(page, out, "report")
    return out


def write_page(page: str, out: Path, what: str) -> None:
    """Write a page to `out`, a .html; its folder is made. UsageError if that fails; `what` it is, for the message."""
    check_result(out, ".html")
    with OsErrors(f"cannot write the {what}", where=str(out)):
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(page, encoding="utf-8", errors="backslashreplace", newline="\n")


def render_report(recording: Recording) -> str:
    """Return the report as HTML."""
    if not len(recording):
        raise DataError("nothing was recorded, so there is nothing to report", where=str(recording.path))
    shown, table = trace_laps(recording), compare_laps(recording.laps)
    return render_page(
        "report/report.html",
        styles=REPORT_STYLES,
        scripts=REPORT_SCRIPTS,
        title=html.escape(_report_title(recording)),
        subtitle=html.escape(_report_subtitle(recording, table)),
        notes="".join(f"<p class='note'>{html.escape(note)}</p>" for note in _report_notes(recording, shown)),
        about=_session_details(recording),
        laps=_lap_table_html(table, shown),
        events=render_race(recording) + _events_html(recording),
        drive=_drive_html(recording),
        data=escape_script(json.dumps(chart_data(recording, shown, table), separators=(",", ":"), allow_nan=False)),
    )


def chart_data(recording: Recording, shown: LapTraces, table: LapTable) -> dict[str, Any]:
    """Return the numbers behind the charts, JSON-able. Speeds in m/s, distances in m, NaN as null."""
    best = table.rows[table.best].number if table.best is not None else None
    pictures = choose_pictures(recording, shown)
    road = recording.road_map
    return {
        "step": shown.step,
        "count": shown.count,
        "basis": shown.basis,
        "best": best,
        "signals": _list_charted_signals(recording.about.get("signals")),
        "corners": describe_corners(recording, shown),
        "laps": [
            {
                "number": lap.number,
                "time_s": round_finite(lap.time_s, 3),
                "valid": lap.valid,
                "finished": lap.finished,
                "pictures": seen if seen["at"] else None,
                **{name: round_numbers(lap.channels[name], decimals) for name, decimals in DECIMALS.items()},
                "signals": {
                    name: _json_significant(values) for name, values in lap.channels.items() if name not in DECIMALS
                },
            }
            for lap, seen in zip(shown.laps, pictures, strict=True)
        ],
        "plan": None
        if shown.plan is None
        else {name: round_numbers(values, DECIMALS[name]) for name, values in shown.plan.items()},
        "map": None
        if road is None
        else {"closed": road.closed, "left": thin_points(road.left), "right": thin_points(road.right)},
    }


def _list_charted_signals(described: Any) -> list[dict[str, str]]:
    """Return name and unit of the signals of about.json, which may hold anything."""
    return [
        {"name": signal["name"], "unit": str(signal.get("unit", "1"))}
        for signal in (described if isinstance(described, list) else ())
        if isinstance(signal, dict) and isinstance(signal.get("name"), str)
    ]


def round_finite(value: float, decimals: int) -> float | None:
    """Return a number for JSON: rounded, None for NaN and infinity."""
    return round(value, decimals) if math.isfinite(value) else None


def _json_significant(values: Array) -> list[float | None]:
    """Return numbers to six significant digits: signals have no common scale."""
    return [float(f"{value:.6g}") if math.isfinite(value) else None for value in values.tolist()]


def round_numbers(values: Array, decimals: int) -> list[float | int | None] | None:
    """Return numbers for JSON: rounded, None for those that are not finite; None where none is."""
    known = np.isfinite(values)
    if not known.any():
        return None  # the page omits channels without data
    rounded: list[Any] = np.round(values, decimals).tolist()
    if decimals == 0:
        return [int(v) if k else None for v, k in zip(rounded, known.tolist(), strict=True)]
    return [v if k else None for v, k in zip(rounded, known.tolist(), strict=True)]


def thin_points(points: Array) -> dict[str, list[float | int | None] | None]:
    """Return x and y of a line's points (n, 2) for JSON, at most MAP_POINTS of them."""
    stride = max(1, math.ceil(len(points) / MAP_POINTS))
    return {"x": round_numbers(points[::stride, 0], 2), "y": round_numbers(points[::stride, 1], 2)}


def _text_of(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _report_title(recording: Recording) -> str:
    parts = [_text_of(recording.about[k]) for k in ("driver", "car", "track") if recording.about.get(k)]
    if parts and not recording.about.get("track"):
        parts.append(f"unmapped road, {_text_of(recording.about.get('sim', 'unknown simulator'))}")
    return " · ".join(parts) or recording.path.stem


def _report_subtitle(recording: Recording, table: LapTable) -> str:
    laps = len(table.rows)
    text = f"{laps} lap{'' if laps == 1 else 's'}"
    if table.best is not None:
        best = table.rows[table.best]
        text += f", {'best' if best.valid else 'none valid, quickest'} {format_lap_time(best.time_s)}"
    if math.isfinite(table.theoretical_s):
        text += f", best sectors together {format_lap_time(table.theoretical_s)}"
    tops = [_find_top(block.state["speed"][~recording.undone[number * SCAN_ROWS :][:SCAN_ROWS]])
            for number, block in enumerate(recording.iterate_rows(SCAN_ROWS, ("speed",)))]  # fmt: skip
    if not math.isnan(top := max((speed for speed in tops if speed == speed), default=math.nan)):
        text += f", top speed {top * 3.6:.0f} km/h"
    return text


def _find_top(values: Array) -> float:
    """Return the highest value where one is finite, else NaN."""
    return float(np.nanmax(values)) if np.isfinite(values).any() else math.nan


def _report_notes(recording: Recording, shown: LapTraces) -> list[str]:
    notes = []
    if recording.truncated:
        notes.append("The recording is not complete: its end or a damaged part is missing.")
    if shown.left_out:
        notes.append(f"{shown.left_out} more laps are in the table but not in the charts.")
    if shown.derived:
        names = ", ".join(name.replace("_", " ") for name in shown.derived)
        notes.append(f"Not supplied by the simulator, derived from what it did supply: {names}.")
    if shown.basis != "planned line":
        driven = shown.basis == "distance driven"
        along = "those driven" if driven else f"along the {shown.basis}"
        notes.append(f"No planned line was recorded; distances are {along}.")
    if not any(np.isfinite(lap.channels["x"]).any() for lap in shown.laps):
        notes.append("The simulator supplies no positions: there is no map.")
    return notes


def _session_details(recording: Recording) -> str:
    about = {k: v for k, v in recording.about.items() if k not in SHOWN_ELSEWHERE}
    keys = [k for k in ABOUT_FIRST if k in about] + [k for k in about if k not in ABOUT_FIRST]
    items = [(k, _text_of(about[k])) for k in keys if about[k] is not None]
    time = recording.state["time"]
    items += [
        ("ticks", f"{len(recording)}"),
        ("simulated time", format_lap_time(float(np.nanmax(time) - np.nanmin(time)))),
    ]
    items.append(("recording", ", ".join(path.name for path in recording.paths)))
    texts = [f"<div><dt>{html.escape(k.replace('_', ' '))}</dt><dd>{html.escape(v)}</dd></div>" for k, v in items]
    first = sum(key in ABOUT_FIRST for key, _ in items)
    shown, more = ("".join(part) for part in (texts[:first], texts[first:]))
    return f"<dl class='about'>{shown}</dl><details><summary>more</summary><dl class='about'>{more}</dl></details>"


def _lap_table_html(table: LapTable, shown: LapTraces) -> str:
    if not table.rows:
        return "<p class='note'>No lap was finished.</p>"
    parts = max(len(row.sectors) for row in table.rows)
    # A restart begins to count laps again: the number alone does not name a lap.
    channels = {(lap.number, lap.time_s): lap.channels for lap in shown.laps}
    lines = []
    for i, row in enumerate(table.rows):
        is_best = i == table.best and row.valid
        cells = [f"<th scope='row'>{row.number}</th>", _table_cell(format_lap_time(row.time_s), is_best)]
        cells.append(_table_cell("" if i == table.best else f"{row.gap:+.3f}"))
        for k in range(parts):
            text = format_lap_time(row.sectors[k]) if k < len(row.sectors) else "-"
            cells.append(_table_cell(text, k < len(table.sector_best) and table.sector_best[k] == i))
        lap = channels.get((row.number, row.time_s), {})
        cells.append(_table_cell(_format_extreme(lap.get("speed"), 3.6, 0)))
        cells.append(_table_cell(_format_extreme(lap.get("error"), 1.0, 2)))
        reason = f"no: {row.invalid_reason}" if row.invalid_reason else "no"
        cells.append(_table_cell("yes" if row.valid else html.escape(reason)))
        lines.append(f"<tr data-lap='{row.number}'>{''.join(cells)}</tr>")
    if math.isfinite(table.theoretical_s):
        best = [table.rows[i].sectors[k] for k, i in enumerate(table.sector_best)]
        together = [
            "<th scope='row'>best sectors</th>",
            _table_cell(format_lap_time(table.theoretical_s)),
            _table_cell(""),
        ]
        together += [_table_cell(format_lap_time(s)) for s in best] + [_table_cell("")] * (parts - len(best) + 3)
        lines.append(f"<tr class='together'>{''.join(together)}</tr>")
    heads = ["lap", "time", "gap", *(f"sector {k + 1}" for k in range(parts)), "top km/h", "off line m", "valid"]
    return render_table(heads, lines)


def _table_cell(text: str, best: bool = False) -> str:
    return f"<td class='best'>{text} <span title='best'>★</span></td>" if best else f"<td>{text}</td>"


def _format_extreme(values: Array | None, factor: float, decimals: int) -> str:
    if values is None or not np.isfinite(values).any():
        return "-"
    return f"{np.nanmax(np.abs(values)) * factor:.{decimals}f}"


def _events_html(recording: Recording) -> str:
    events = recording.events
    if not events:
        return ""
    lines = [f"<tr><td>{e.time:.3f}</td><td>{html.escape(e.text)}</td></tr>" for e in events[:EVENTS_SHOWN]]
    if len(events) > EVENTS_SHOWN:
        lines.append(f"<tr><td></td><td>and {len(events) - EVENTS_SHOWN} more</td></tr>")
    return f"<section class='events'><h2>Events</h2>{render_table(('time s', 'event'), lines)}</section>"


def _drive_html(recording: Recording) -> str:
    """Return the drive as data, with the hashes of what it was made of and the versions; "" where none stands there."""
    spec, inputs = recording.about.get("spec"), recording.about.get("inputs")
    if not isinstance(spec, dict):
        return ""
    made = {key: inputs[key] for key in ("sha256", "versions") if key in inputs} if isinstance(inputs, dict) else {}
    text = json.dumps({"spec": spec, **made}, indent=2, ensure_ascii=False)
    command = f"trailbrake drive --like {shlex.quote(recording.paths[0].name)}"
    return (
        f"<details class='drive'><summary>The drive as data</summary><p>To drive it again: <code>{html.escape(command)}"
        f"</code></p><pre>{html.escape(text)}</pre></details>"
    )
