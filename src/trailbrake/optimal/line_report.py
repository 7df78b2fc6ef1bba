"""The report of a minimum-time line: map, speed, controls, g-g and worth, as one HTML file without scripts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trailbrake.pages.rendering import THEME, escape_html, render_framed_page, write_page_file
from trailbrake.pages.svg_chart import CHART_STYLE, ChartFrame, draw_polyline, find_range
from trailbrake.planning.course import Course
from trailbrake.planning.line_file import LineFile
from trailbrake.tracks.road import Road
from trailbrake.units import G

Array = NDArray[np.float64]
Curve = tuple[str, Array, Array]  # style, x, y

WIDTH, HEIGHT = 920, 230  # pixels of a chart
MAP_SIZE = 620  # pixels


def write_line_report(path: Path, file: LineFile, course: Course, result: dict[str, Any]) -> Path:
    """Write the report of a line beside the minimum-curvature plan of `course`; UsageError where that fails."""
    columns, plan, road = file.columns, course.profile, course.track.road
    s = columns["s_m"]
    usual = course.line.locate_many(np.column_stack([columns["x_m"], columns["y_m"]]))[:, 0]
    usual_speed = np.interp(
        usual, course.line.stations(), plan.speed, period=course.line.length if road.closed else None
    )
    usual_place = road.locate_many(course.line.table[:, :2])
    page = render_framed_page(
        "line/line.html",
        styles=(THEME, CHART_STYLE, "line/line.css"),
        title=escape_html(f"{result['track']}, {result['car']}: minimum-time line"),
        summary=escape_html(
            f"{result['time_s']:.3f} s in the optimal control model; the minimum-curvature line with its profile and "
            f"margins plans {plan.lap_time:.3f} s. Steps of {result['step_m']:.2f} m on average, "
            f"{sum(result['iterations'])} iterations."
        ),
        map=_draw_map(road, course.line, columns),
        worth=_list_worth(result["worth_most"]),
        charts="".join(
            [
                _draw_chart("speed, m/s", [("two", s, usual_speed), ("one", s, columns["speed_mps"])]),
                _draw_chart(
                    "offset from the centreline, m",
                    [("two", *_sort_curve(usual_place[:, 0], usual_place[:, 1])), ("one", s, columns["offset_m"])],
                ),
                _draw_chart("steer of the front wheels, rad", [("one", s, columns["steer_rad"])]),
                _draw_chart(
                    "drive (first colour) and brake force, kN",
                    [("two", s, columns["brake_force_n"] / 1e3), ("one", s, columns["drive_force_n"] / 1e3)],
                ),
                _draw_chart(
                    "largest combined slip of a front and a rear tyre, of the peak's",
                    [
                        ("two", s, np.maximum(columns["use_rl"], columns["use_rr"])),
                        ("one", s, np.maximum(columns["use_fl"], columns["use_fr"])),
                    ],
                ),
                _draw_chart(
                    "worth of a metre at the left (first colour) and right edge, ms for 10 m of road",
                    [
                        ("two", s, 1e4 * columns["worth_right_spm2"]),
                        ("one", s, 1e4 * columns["worth_left_spm2"]),
                    ],
                ),
                _draw_chart(
                    "worth of one percent of grip, ms for 100 m of road", [("one", s, 1e3 * columns["worth_grip_spm"])]
                ),
                _draw_chart(
                    "g-g: specific force along over across, g",
                    [("dots", columns["accel_y_mps2"] / G, columns["accel_x_mps2"] / G)],
                ),
            ]
        ),
    )
    return write_page_file(path, page)


def _list_worth(stretches: Sequence[dict[str, Any]]) -> str:
    """Return the rows of the table of stretches that are worth most."""
    return "".join(
        f"<tr><td>{escape_html(row['what'])}</td><td>{row['start_m']:.0f} to {row['end_m']:.0f}</td>"
        f"<td>{1e3 * row['saved_s']:.2f}</td></tr>"
        for row in stretches
    )


def _sort_curve(x: Array, y: Array) -> tuple[Array, Array]:
    order = np.argsort(x, kind="stable")
    return x[order], y[order]


def _draw_chart(title: str, curves: Sequence[Curve]) -> str:
    """Return a chart of curves over the same axes."""
    frame = ChartFrame(find_range(x for _, x, _ in curves), find_range(y for _, _, y in curves), WIDTH, HEIGHT)
    parts = (frame.draw_points(x, y) if style == "dots" else frame.draw_curve(style, x, y) for style, x, y in curves)
    return frame.draw_figure(title, *parts)


def _draw_map(road: Road, usual: Road, columns: dict[str, Array]) -> str:
    """Return a map of the edges, the minimum-curvature line and the minimum-time line."""
    edges = road.edge_lines()
    points = np.vstack([edge[:, :2] for edge in edges])
    low, span = points.min(axis=0), float(np.ptp(points, axis=0).max()) or 1.0
    scale = MAP_SIZE / span
    height = float(np.ptp(points[:, 1])) * scale + 8.0

    def draw_line(style: str, x: Array, y: Array) -> str:
        if road.closed:
            x, y = np.append(x, x[0]), np.append(y, y[0])
        px, py = 4.0 + (x - low[0]) * scale, height - 4.0 - (y - low[1]) * scale
        return draw_polyline(style, px, py)

    body = "".join(draw_line("edge", edge[:, 0], edge[:, 1]) for edge in edges)
    body += draw_line("two", usual.table[:, 0], usual.table[:, 1])
    body += draw_line("one", columns["x_m"], columns["y_m"])
    return f'<figure><svg viewBox="0 0 {MAP_SIZE + 8} {height:.0f}" role="img" aria-label="map">{body}</svg></figure>'
