"""`trailbrake line`: a minimum-time line from names of a track and a car to files.

Sensitivity of the lap time to a road's width and grip, from the multipliers of the optimal control problem.

The report of a minimum-time line: map, speed, controls, g-g and worth, as one HTML file without scripts.
"""

import contextlib
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trailbrake.cars.car_library import load_car
from trailbrake.cars.params import CarParams
from trailbrake.errors import DataError, UsageError
from trailbrake.optimal.interior_point import LEVELS, MeshSolution, solve_mesh
from trailbrake.optimal.mesh import guess_motion, mesh_road
from trailbrake.optimal.minimum_time import MAX_STEP, MIN_STEP, START_WEIGHTS, find_start_offsets, plan_minimum_time
from trailbrake.optimal.options import LineOptions
from trailbrake.optimal.replay import replay_solution
from trailbrake.optimal.transcription import scale_unknowns
from trailbrake.optimal.vehicle_model import VehicleModel, import_casadi, vehicle_from_car
from trailbrake.pages.rendering import THEME, escape_html, render_framed_page, write_page_file
from trailbrake.pages.svg_chart import CHART_STYLE, ChartFrame, draw_polyline, find_range
from trailbrake.planning.course import Course
from trailbrake.planning.line_file import LineFile, cached_line_path, car_digest, prune_cache, read_line, write_line
from trailbrake.planning.path_room import PathRoom
from trailbrake.tracks.road import Road
from trailbrake.tracks.track import Track
from trailbrake.tracks.track_library import load_track
from trailbrake.units import G

MODEL_VERSION = 5  # of the car's model and of the method; lines of another version are solved again
MAX_MARGIN = 5.0  # m

STRETCH = 50.0  # m of road whose sensitivities are added up
RANKED = 5  # stretches that are named
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


def stage_lengths(s: Array, closed: bool, length: float) -> Array:
    """Return the length of road (n,) m that each stage at s (n,) m stands for, on a road of `length` m."""
    steps = np.diff(s)
    if closed:
        steps = np.append(steps, length - s[-1])
        around: Array = 0.5 * (steps + np.roll(steps, 1))
        return around
    halves: Array = 0.5 * (np.append(0.0, steps) + np.append(steps, 0.0))
    return halves


def sum_sensitivities(columns: dict[str, Array], lengths: Array) -> dict[str, float]:
    """Return the lap time (s) saved by a metre more width along each edge, and by one percent more grip everywhere."""
    return {
        "metre_left_s": float(np.sum(columns["worth_left_spm2"] * lengths)),
        "metre_right_s": float(np.sum(columns["worth_right_spm2"] * lengths)),
        "percent_grip_s": float(np.sum(columns["worth_grip_spm"] * lengths)) / 100.0,
    }


def rank_sensitivities(columns: dict[str, Array], lengths: Array) -> list[dict[str, Any]]:
    """Return the stretches of `STRETCH` m where width and grip are worth most, the most first, `RANKED` of each kind.

    Each has `what` ("left edge", "right edge" or "grip"), `start_m`, `end_m` and `saved_s`: lap time saved by a metre
    more width at that edge, or by one percent more grip, on this stretch alone.
    """
    s = columns["s_m"]
    place = (s / STRETCH).astype(int)
    rows: list[dict[str, Any]] = []
    for what, name, unit in (
        ("left edge", "worth_left_spm2", 1.0),
        ("right edge", "worth_right_spm2", 1.0),
        ("grip", "worth_grip_spm", 0.01),
    ):
        saved = np.bincount(place, unit * columns[name] * lengths)
        rows += [
            {"what": what, "start_m": k * STRETCH, "end_m": (k + 1) * STRETCH, "saved_s": round(float(saved[k]), 5)}
            for k in np.argsort(saved)[::-1][:RANKED].tolist()
            if saved[k] > 0.0
        ]
    return rows


def plan_line(options: LineOptions) -> dict[str, Any]:
    """Return what was planned and written, with the lap times of the new line and of the minimum-curvature plan.

    The line is also kept in the cache, where drives find it; a kept one with the same settings is not solved again.

    Raises:
        UsageError: CasADi is missing, an option out of range, no such track or car, or a file that cannot be written.
        DataError: a broken file of a track or car, or no start that converges.
    """
    _check_options(options)
    import_casadi()
    track, car = load_track(options.track), load_car(options.car)
    kept = cached_line_path(track.road, car)
    settings: dict[str, Any] = {
        "model": MODEL_VERSION,
        "target_step_m": options.step,
        "margin_m": options.margin,
        "kerbs": options.kerbs,
        "starts": options.starts,
        "checked": options.check,
    }
    file = None if options.fresh else _read_kept(kept, settings)
    cached = file is not None
    if file is None:
        file = _solve_line(track, car, settings)
        with contextlib.suppress(UsageError):  # without a cache the file of the user is written all the same
            write_line(kept, file)
            prune_cache()
    path = options.out or Path(f"line-{track.name}-{car.name}.csv".replace(":", "-"))
    write_line(path, file)
    course = Course(track, car)
    result = {**file.about, "plan_time_s": course.profile.lap_time, "cached": cached, "line": str(path)}
    if options.report:
        result["report"] = str(write_line_report(path.with_suffix(".html"), file, course, result))
    return result


def _read_kept(path: Path, settings: dict[str, Any]) -> LineFile | None:
    """Return the kept line if it was made with these settings; None otherwise."""
    try:
        file = read_line(path) if path.is_file() else None
    except DataError:
        return None
    return file if file is not None and settings.items() <= file.about.items() else None


def _solve_line(track: Track, car: CarParams, settings: dict[str, Any]) -> LineFile:
    """Return the line of a track and a car, checked where the settings say so."""
    vehicle, room = vehicle_from_car(car), (settings["margin_m"], settings["kerbs"])
    began = time.perf_counter()
    line = plan_minimum_time(
        track.road, vehicle, step=settings["target_step_m"], margin=room[0], kerbs=room[1], starts=settings["starts"]
    )
    seconds = time.perf_counter() - began
    lengths = stage_lengths(line.columns["s_m"], line.closed, track.road.length)
    about: dict[str, Any] = {
        "track": track.name,
        "car": car.name,
        "car_sha256": car_digest(car),
        "closed": line.closed,
        "time_s": round(line.time, 4),
        "step_m": round(line.step, 4),
        **settings,
        "seconds": round(seconds, 2),
        "iterations": list(line.iterations),
        "status": line.status,
        "start": line.start + 1,
        "worth": sum_sensitivities(line.columns, lengths),
        "worth_most": rank_sensitivities(line.columns, lengths),
    }
    if settings["checked"]:
        replay = replay_solution(track.road, vehicle, line.solution)
        usual = solve_curvature_line(track.road, vehicle, line.step, vehicle.path_room(*room))
        about["replay"] = asdict(replay)
        about["curvature_line_s"] = round(usual.time, 4) if usual.converged else None
    return LineFile(about, line.columns)


def _check_options(options: LineOptions) -> None:
    for name, value, low, high in (
        ("--step", options.step, MIN_STEP, MAX_STEP),
        ("--margin", options.margin, 0.0, MAX_MARGIN),
        ("--starts", options.starts, 1, len(START_WEIGHTS)),
    ):
        if not low <= value <= high:
            raise UsageError("out of range", where=name, expected=f"{low:g} .. {high:g}", got=f"{value:g}")


TUBE = 0.1  # m to either side of the line: an offset that is given exactly leaves a programme without an inside
TUBE_SMOOTHING = 0.02  # s m, of the coarse solution


def solve_curvature_line(road: Road, car: VehicleModel, step: float, room: PathRoom) -> MeshSolution:
    """Return the quickest motion of a car that stays within `TUBE` of the minimum-curvature line.

    Args:
        road: the road.
        car: the car.
        step: m between stages.
        room: that the car needs beside its path.
    """
    mesh = mesh_road(road, step, room)
    offset = find_start_offsets(road, mesh, room, START_WEIGHTS[0])
    tube = replace(mesh, left=np.minimum(offset + TUBE, mesh.left), right=np.maximum(offset - TUBE, mesh.right))
    coarse, finest = LEVELS[0]._replace(smoothing=TUBE_SMOOTHING), LEVELS[-1]._replace(barrier=LEVELS[1].barrier)
    first = solve_mesh(car, tube, coarse, scale_unknowns(guess_motion(car, tube, offset)))
    return solve_mesh(car, tube, finest, first.x)
