"""The report of a minimum-time line: the report of a drive, with the minimum-curvature line as the other lap."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from trailbrake.arrays import Array
from trailbrake.pages.rendering import (
    REPORT_SCRIPTS,
    REPORT_STYLES,
    escape_html,
    escape_script,
    render_page,
    render_table,
    write_page_file,
)
from trailbrake.planning.course import Course
from trailbrake.planning.line_file import LineFile
from trailbrake.tracks.track import Track

STEP = 1.0  # m between points of the charts
MAX_POINTS = 12_000
_SIGNALS: tuple[tuple[str, str, Callable[[Mapping[str, Array]], Array]], ...] = (  # name, unit, of the file's columns
    ("front steer", "°", lambda c: np.degrees(c["steer_rad"])),
    ("drive force", "kN", lambda c: c["drive_force_n"] / 1e3),
    ("brake force", "kN", lambda c: c["brake_force_n"] / 1e3),
    ("front slip", "of a tyre, 1 is the peak of its grip", lambda c: np.maximum(c["use_fl"], c["use_fr"])),
    ("rear slip", "of a tyre, 1 is the peak of its grip", lambda c: np.maximum(c["use_rl"], c["use_rr"])),
    ("left edge worth", "ms a metre, on 10 m of road", lambda c: 1e4 * c["worth_left_spm2"]),
    ("right edge worth", "ms a metre, on 10 m of road", lambda c: 1e4 * c["worth_right_spm2"]),
    ("grip worth", "ms a percent, on 100 m of road", lambda c: 1e3 * c["worth_grip_spm"]),
)


def write_line_report(path: Path, file: LineFile, course: Course, result: dict[str, Any]) -> Path:
    """Write the report of a line beside the minimum-curvature plan of `course`; UsageError where that fails."""
    columns, plan, road = file.columns, course.profile, course.track.road
    place = road.locate_many(course.line.table[:, :2])
    x, y = course.line.table[:, 0], course.line.table[:, 1]
    usual = {"s_m": place[:, 0], "x_m": x, "y_m": y, "offset_m": place[:, 1], "speed_mps": plan.speed}
    step = max(STEP, road.length / MAX_POINTS)
    grid = np.arange(0.0, road.length, step)
    around = road.length if road.closed else None
    laps = [
        _describe_lap("minimum time", grid, around, {**columns}, result["time_s"]),
        _describe_lap("minimum curvature", grid, around, usual, plan.lap_time),
    ]
    data = {
        "step": step, "count": len(grid), "basis": "centre line", "best": None, "reference": 1, "plan": None,
        "signals": [{"name": name, "unit": unit} for name, unit, _ in _SIGNALS],
        "corners": _name_corners(course.track), "laps": laps, "map": _describe_edges(course.track),
    }  # fmt: skip
    page = render_page(
        "report/report.html",
        styles=REPORT_STYLES,
        scripts=REPORT_SCRIPTS,
        title=escape_html(f"{result['track']}, {result['car']}: minimum-time line"),
        subtitle=escape_html(
            f"{result['time_s']:.3f} s in the optimal control model; the minimum-curvature line with its profile and "
            f"margins plans {plan.lap_time:.3f} s. Steps of {result['step_m']:.2f} m on average, "
            f"{sum(result['iterations'])} iterations."
        ),
        notes="",
        laps=_list_times(result["time_s"], plan.lap_time),
        about="",
        events=_list_worth(result["worth_most"]),
        drive="",
        data=escape_script(json.dumps(data, separators=(",", ":"), allow_nan=False)),
    )
    return write_page_file(path, page)


def _describe_lap(
    name: str, grid: Array, around: float | None, columns: Mapping[str, Array], time_s: float
) -> dict[str, Any]:
    """Return a line as a lap of the report's scripts: its columns on the grid, by the distance along the centreline.

    `around` is the length of a circuit, m.
    """
    s = columns["s_m"]
    order = np.argsort(s, kind="stable")

    def resample(values: Array) -> Array:
        known: Array = np.interp(grid, s[order], values[order], period=around)
        return known

    speed = resample(columns["speed_mps"])
    way = np.hypot(np.gradient(resample(columns["x_m"])), np.gradient(resample(columns["y_m"])))
    spent = way / np.maximum(speed, 0.5)
    time = (np.cumsum(spent) - spent) * (time_s / spent.sum())
    channels = {"speed": speed, "x": resample(columns["x_m"]), "y": resample(columns["y_m"]),
                "error": resample(columns["offset_m"]), "time": time}  # fmt: skip
    for channel, column in (("acceleration_x", "accel_x_mps2"), ("acceleration_y", "accel_y_mps2"),
                            ("curvature", "curvature_1pm")):  # fmt: skip
        if column in columns:
            channels[channel] = resample(columns[column])
    signals = {title: resample(value(columns)) for title, _, value in _SIGNALS} if "steer_rad" in columns else {}
    return {
        "name": name, "number": 1, "time_s": round(time_s, 3), "valid": True, "finished": True, "pictures": None,
        "signals": {title: _round(values, 4) for title, values in signals.items()},
        **{channel: _round(values, 5 if channel == "curvature" else 3) for channel, values in channels.items()},
    }  # fmt: skip


def _round(values: Array, decimals: int) -> list[float]:
    rounded: list[float] = np.round(values, decimals).tolist()
    return rounded


def _name_corners(track: Track) -> list[dict[str, Any]]:
    return [
        {"number": number, "name": f"T{number}", "title": f"T{number} {bend.name}", "entry": bend.start,
         "apex": 0.5 * (bend.start + bend.end), "exit": bend.end}
        for number, bend in enumerate(track.bends, 1)
    ]  # fmt: skip


def _describe_edges(track: Track) -> dict[str, Any]:
    stride = max(1, len(track.road.table) // 3000)
    left, right = ({"x": _round(e[::stride, 0], 2), "y": _round(e[::stride, 1], 2)} for e in track.road.edge_lines())
    return {"closed": track.road.closed, "left": left, "right": right}


def _list_times(fast_s: float, usual_s: float) -> str:
    rows = (
        f"<tr><th>minimum time</th><td>{fast_s:.3f}</td><td>{fast_s - usual_s:+.3f}</td></tr>",
        f"<tr><th>minimum curvature</th><td>{usual_s:.3f}</td><td></td></tr>",
    )
    return render_table(("line", "time s", "gap s"), rows)


def _list_worth(stretches: Sequence[dict[str, Any]]) -> str:
    """Return the table of the stretches on which width and grip are worth most."""
    rows = (
        f"<tr><td>{escape_html(row['what'])}</td><td>{row['start_m']:.0f} to {row['end_m']:.0f}</td>"
        f"<td>{1e3 * row['saved_s']:.2f}</td></tr>"
        for row in stretches
    )
    return (
        "<section class='events'><h2>Where width and grip are worth most</h2>"
        "<p>Lap time saved by a metre more width at one edge, or by one percent more grip, on 50 m of road alone.</p>"
        f"{render_table(('what', 'from the start, m', 'saved, ms'), rows)}</section>"
    )
