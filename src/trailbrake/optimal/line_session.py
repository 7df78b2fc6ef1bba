"""`trailbrake line`: a minimum-time line from names of a track and a car to files."""

import time
from pathlib import Path
from typing import Any

import numpy as np

from trailbrake.cars.car_library import load_car
from trailbrake.errors import UsageError
from trailbrake.optimal.line_report import write_line_report
from trailbrake.optimal.minimum_time import MAX_STEP, MIN_STEP, START_WEIGHTS, MinimumTimeLine, plan_minimum_time
from trailbrake.optimal.options import LineOptions
from trailbrake.optimal.vehicle_model import import_casadi, vehicle_from_car
from trailbrake.planning.course import Course
from trailbrake.planning.line_file import LineFile, car_digest, write_line
from trailbrake.tracks.track_library import load_track

MAX_MARGIN = 5.0  # m


def plan_line(options: LineOptions) -> dict[str, Any]:
    """Return what was planned and written, with the lap times of the new line and of the minimum-curvature plan.

    Raises:
        UsageError: CasADi is missing, an option out of range, no such track or car, or a file that cannot be written.
        DataError: a broken file of a track or car, or no start that converges.
    """
    _check_options(options)
    import_casadi()
    track, car = load_track(options.track), load_car(options.car)
    course = Course(track, car)
    began = time.perf_counter()
    line = plan_minimum_time(
        track.road, vehicle_from_car(car), step=options.step, margin=options.margin, starts=options.starts
    )
    seconds = time.perf_counter() - began
    path = options.out or Path(f"line-{track.name}-{car.name}.csv".replace(":", "-"))
    about: dict[str, Any] = {
        "track": track.name,
        "car": car.name,
        "car_sha256": car_digest(car),
        "closed": line.closed,
        "time_s": round(line.time, 4),
        "step_m": round(line.step, 4),
        "margin_m": options.margin,
    }
    write_line(path, LineFile(about, line.columns))
    result = {
        **about,
        "plan_time_s": course.profile.lap_time,
        "seconds": seconds,
        "iterations": list(line.iterations),
        "status": line.status,
        "start": line.start + 1,
        "worth": _sum_worth(line),
        "line": str(path),
    }
    if options.report:
        result["report"] = str(write_line_report(path.with_suffix(".html"), line, course, result))
    return result


def _check_options(options: LineOptions) -> None:
    for name, value, low, high in (
        ("--step", options.step, MIN_STEP, MAX_STEP),
        ("--margin", options.margin, 0.0, MAX_MARGIN),
        ("--starts", options.starts, 1, len(START_WEIGHTS)),
    ):
        if not low <= value <= high:
            raise UsageError("out of range", where=name, expected=f"{low:g} .. {high:g}", got=f"{value:g}")


def _sum_worth(line: MinimumTimeLine) -> dict[str, float]:
    """Return the lap time (s) saved by a metre more width along each edge, and by one percent more grip everywhere."""
    before, after = line.solution.mesh.halves
    share = before + after
    columns = line.columns
    return {
        "metre_left_s": float(np.sum(columns["worth_left_spm2"] * share)),
        "metre_right_s": float(np.sum(columns["worth_right_spm2"] * share)),
        "percent_grip_s": float(np.sum(columns["worth_grip_spm"] * share)) / 100.0,
    }
