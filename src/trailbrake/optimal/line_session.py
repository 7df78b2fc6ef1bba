"""`trailbrake line`: a minimum-time line from names of a track and a car to files.

Sensitivity of the lap time to a road's width and grip, from the multipliers of the optimal control problem.
"""

import contextlib
import time
from pathlib import Path
from typing import Any

import numpy as np

from trailbrake.arrays import Array
from trailbrake.cars.car_library import load_car
from trailbrake.cars.params import CarParams
from trailbrake.errors import DataError, UsageError
from trailbrake.optimal.line_report import write_line_report
from trailbrake.optimal.minimum_time import MAX_STEP, MIN_STEP, START_WEIGHTS, plan_minimum_time
from trailbrake.optimal.options import LineOptions
from trailbrake.optimal.vehicle_model import import_casadi, vehicle_from_car
from trailbrake.planning.course import Course
from trailbrake.planning.line_file import LineFile, cached_line_path, car_digest, prune_cache, read_line, write_line
from trailbrake.tracks.track import Track
from trailbrake.tracks.track_library import load_track
from trailbrake.user_files import check_result

MODEL_VERSION = 5  # of the car's model and of the method; lines of another version are solved again
MAX_MARGIN = 5.0  # m

STRETCH = 50.0  # m of road whose sensitivities are added up
RANKED = 5  # stretches that are named


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
    check_result(options.out, ".csv")
    import_casadi()
    track, car = load_track(options.track), load_car(options.car)
    kept = cached_line_path(track.road, car)
    settings: dict[str, Any] = {
        "model": MODEL_VERSION,
        "target_step_m": options.step,
        "margin_m": options.margin,
        "kerbs": options.kerbs,
        "starts": options.starts,
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
    """Return the line of a track and a car."""
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
    return LineFile(about, line.columns)


def _check_options(options: LineOptions) -> None:
    for name, value, low, high in (
        ("--step", options.step, MIN_STEP, MAX_STEP),
        ("--margin", options.margin, 0.0, MAX_MARGIN),
        ("--starts", options.starts, 1, len(START_WEIGHTS)),
    ):
        if not low <= value <= high:
            raise UsageError("out of range", where=name, expected=f"{low:g} .. {high:g}", got=f"{value:g}")
