"""`write_report`: a recording as one HTML file that needs nothing else, not even a network.

The page's parts lie in `page/`; this fills them with the numbers. Texts that came with the recording are
escaped here or set as text by the script, never as markup.
"""

import html
import json
import math
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from trailbrake.analysis.along import Array
from trailbrake.analysis.lap_table import LapTable, clock, lap_table
from trailbrake.analysis.traces import Traces, traces
from trailbrake.errors import DataError, UsageError
from trailbrake.record.reader import Recording

DECIMALS = {"time": 3, "x": 2, "y": 2, "speed": 2, "throttle": 3, "brake": 3, "steer": 4, "gear": 0, "error": 2,
            "acceleration_x": 2, "acceleration_y": 2}  # fmt: skip
MAP_POINTS = 3000  # of each edge
EVENTS_SHOWN = 200
ABOUT_FIRST = ("sim", "driver", "track", "car", "seed")
SCRIPTS = ("vendor/uPlot.iife.min.js", "basics.js", "common.js", "charts.js", "map.js", "main.js")
STYLES = ("vendor/uPlot.min.css", "theme.css", "report.css")


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
    if out.resolve() == recording.path.resolve():
        raise UsageError("the report would overwrite the recording", where=str(out), hint="give another --out")
    page = report_html(recording)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(page, encoding="utf-8", errors="backslashreplace", newline="\n")
    except OSError as error:
        raise UsageError("cannot write the report", where=str(out), got=error.strerror or str(error)) from error
    return out


def report_html(recording: Recording) -> str:
    """Return the report as HTML."""
    if not len(recording):
        raise DataError("nothing was recorded, so there is nothing to report", where=str(recording.path))
    shown, table = traces(recording), lap_table(recording.laps)
    page = files("trailbrake.analysis") / "page"
    read = {name: (page / name).read_text(encoding="utf-8") for name in (*SCRIPTS, *STYLES, "report.html")}
    return Template(read["report.html"]).substitute(
        title=html.escape(_title(recording)),
        subtitle=html.escape(_subtitle(recording, table)),
        notes="".join(f"<p class='note'>{html.escape(note)}</p>" for note in _notes(recording, shown)),
        about=_about(recording),
        laps=_lap_rows(table, shown),
        events=_events(recording),
        styles="\n".join(read[name] for name in STYLES),
        scripts="\n".join(f"<script>\n{read[name]}\n</script>" for name in SCRIPTS),
        data=_script_safe(json.dumps(payload(recording, shown, table), separators=(",", ":"), allow_nan=False)),
    )


def payload(recording: Recording, shown: Traces, table: LapTable) -> dict[str, Any]:
    """Return the numbers behind the charts, JSON-able. Speeds in m/s, distances in m, NaN as null."""
    best = table.rows[table.best].number if table.best is not None else None
    road = recording.road_map
    return {
        "step": shown.step,
        "count": shown.count,
        "basis": shown.basis,
        "best": best,
        "laps": [
            {
                "number": lap.number,
                "time_s": _rounded(lap.time_s, 3),
                "valid": lap.valid,
                "finished": lap.finished,
                **{name: _list(values, DECIMALS[name]) for name, values in lap.channels.items()},
            }
            for lap in shown.laps
        ],
        "plan": None
        if shown.plan is None
        else {name: _list(values, DECIMALS[name]) for name, values in shown.plan.items()},
        "map": None
        if road is None
        else {"closed": road.closed, "left": _points(road.left), "right": _points(road.right)},
    }


def _rounded(value: float, decimals: int) -> float | None:
    return round(value, decimals) if math.isfinite(value) else None


def _list(values: Array, decimals: int) -> list[float | int | None] | None:
    known = np.isfinite(values)
    if not known.any():
        return None  # the page leaves out what nobody supplied
    rounded: list[Any] = np.round(values, decimals).tolist()
    if decimals == 0:
        return [int(v) if k else None for v, k in zip(rounded, known.tolist(), strict=True)]
    return [v if k else None for v, k in zip(rounded, known.tolist(), strict=True)]


def _points(points: Array) -> dict[str, list[float | int | None] | None]:
    stride = max(1, math.ceil(len(points) / MAP_POINTS))
    return {"x": _list(points[::stride, 0], 2), "y": _list(points[::stride, 1], 2)}


def _script_safe(text: str) -> str:
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _title(recording: Recording) -> str:
    parts = [_text(recording.about[k]) for k in ("driver", "car", "track") if recording.about.get(k)]
    return " · ".join(parts) or recording.path.stem


def _subtitle(recording: Recording, table: LapTable) -> str:
    laps = len(table.rows)
    text = f"{laps} lap{'' if laps == 1 else 's'}"
    if table.best is not None:
        text += f", best {clock(table.rows[table.best].time_s)}"
        if not table.rows[table.best].valid:
            text += " (not valid)"
    if math.isfinite(table.theoretical_s):
        text += f", best sectors together {clock(table.theoretical_s)}"
    speed = recording.state["speed"]
    if np.isfinite(speed).any():
        text += f", top speed {np.nanmax(speed) * 3.6:.0f} km/h"
    return text


def _notes(recording: Recording, shown: Traces) -> list[str]:
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
        notes.append("The simulator tells no positions: there is no map.")
    return notes


def _about(recording: Recording) -> str:
    about = recording.about
    keys = [k for k in ABOUT_FIRST if k in about] + [k for k in about if k not in ABOUT_FIRST]
    items = [(k, _text(about[k])) for k in keys if about[k] is not None]
    time = recording.state["time"]
    items += [("ticks", f"{len(recording)}"), ("simulated time", clock(float(np.nanmax(time) - np.nanmin(time))))]
    items.append(("recording", recording.path.name))
    return "".join(f"<div><dt>{html.escape(k.replace('_', ' '))}</dt><dd>{html.escape(v)}</dd></div>" for k, v in items)


def _lap_rows(table: LapTable, shown: Traces) -> str:
    if not table.rows:
        return "<p class='note'>No lap was finished.</p>"
    parts = max(len(row.sectors) for row in table.rows)
    # A restart begins to count laps again: the number alone does not name a lap.
    channels = {(lap.number, lap.time_s): lap.channels for lap in shown.laps}
    lines = []
    for i, row in enumerate(table.rows):
        cells = [f"<th scope='row'>{row.number}</th>", _cell(clock(row.time_s), i == table.best)]
        cells.append(_cell("" if i == table.best else f"{row.gap:+.3f}"))
        for k in range(parts):
            text = clock(row.sectors[k]) if k < len(row.sectors) else "-"
            cells.append(_cell(text, k < len(table.sector_best) and table.sector_best[k] == i))
        lap = channels.get((row.number, row.time_s), {})
        cells.append(_cell(_extreme(lap.get("speed"), 3.6, 0)))
        cells.append(_cell(_extreme(lap.get("error"), 1.0, 2)))
        reason = f"no: {row.invalid_reason}" if row.invalid_reason else "no"
        cells.append(_cell("yes" if row.valid else html.escape(reason)))
        lines.append(f"<tr data-lap='{row.number}'>{''.join(cells)}</tr>")
    if math.isfinite(table.theoretical_s):
        best = [table.rows[i].sectors[k] for k, i in enumerate(table.sector_best)]
        together = ["<th scope='row'>best sectors</th>", _cell(clock(table.theoretical_s)), _cell("")]
        together += [_cell(clock(s)) for s in best] + [_cell("")] * (parts - len(best) + 3)
        lines.append(f"<tr class='together'>{''.join(together)}</tr>")
    heads = ["lap", "time", "gap", *(f"sector {k + 1}" for k in range(parts)), "top km/h", "off line m", "valid"]
    head = "".join(f"<th scope='col'>{h}</th>" for h in heads)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _cell(text: str, best: bool = False) -> str:
    return f"<td class='best'>{text} <span title='best'>★</span></td>" if best else f"<td>{text}</td>"


def _extreme(values: Array | None, factor: float, decimals: int) -> str:
    if values is None or not np.isfinite(values).any():
        return "-"
    return f"{np.nanmax(np.abs(values)) * factor:.{decimals}f}"


def _events(recording: Recording) -> str:
    events = recording.events
    if not events:
        return ""
    lines = [f"<tr><td>{e.time:.3f}</td><td>{html.escape(e.text)}</td></tr>" for e in events[:EVENTS_SHOWN]]
    if len(events) > EVENTS_SHOWN:
        lines.append(f"<tr><td></td><td>and {len(events) - EVENTS_SHOWN} more</td></tr>")
    head = "<thead><tr><th scope='col'>time s</th><th scope='col'>event</th></tr></thead>"
    return f"<section class='events'><h2>Events</h2><table>{head}<tbody>{''.join(lines)}</tbody></table></section>"
