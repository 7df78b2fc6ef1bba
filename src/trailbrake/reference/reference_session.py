"""`trailbrake reference`: from names of a track and a car to the quickest clean lap found, as a line file."""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from trailbrake.cars.car_library import load_car
from trailbrake.errors import SimulatorError, UsageError
from trailbrake.json_types import JsonObject
from trailbrake.planning.course import Course
from trailbrake.planning.line_file import LineFile, car_digest, load_racing_line, write_line
from trailbrake.reference.lap_search import PROVEN_LAPS, LapPlan, LapSearch
from trailbrake.reference.options import ReferenceOptions
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track_library import load_track
from trailbrake.user_files import check_result

LEAST_CARS = 8
ROW_SPACING = 2.0  # m between the rows of the file


def make_reference_lap(
    options: ReferenceOptions, report: Callable[[int, float, float], None] | None = None
) -> JsonObject:
    """Return what was found and written.

    Args:
        options: track, car and size of the search.
        report: receives the number of each generation, the best clean lap so far and the generation's median, s.

    Raises:
        UsageError: an option out of range, an open road, or a file that cannot be written.
        DataError: a broken file, or a line for another track or car.
        SimulatorError: no car finished a clean lap, or none some of them in a row.
    """
    if options.generations < 1 or options.count < LEAST_CARS or options.count % 2:
        raise UsageError(
            "out of range",
            where="--generations, --count",
            expected=f"1 or more; {LEAST_CARS} or more and even",
            got=f"{options.generations}, {options.count}",
        )
    check_result(options.out, ".csv")
    track, car = load_track(options.track), load_car(options.car)
    if not track.road.closed:
        raise UsageError("a reference lap needs a circuit", where="--track", got=track.name)
    given = None if options.line is None else load_racing_line(options.line, track.road, car)
    course = Course(track, car, given_line=given)
    began = time.perf_counter()
    search = LapSearch(course, options.count, options.seed)
    search.run_generations(options.generations, report)
    proven = search.prove_candidates()
    if proven is None:
        raise SimulatorError("no car finished a clean lap" if not search.candidates else
                             f"no plan held for {PROVEN_LAPS} clean laps in a row", where=f"{car.name} on {track.name}",
                             hint="try more cars or another line")  # fmt: skip
    path = options.out or Path(f"reference-{track.name}-{car.name}.csv".replace(":", "-"))
    about: JsonObject = {
        "track": track.name,
        "car": car.name,
        "car_sha256": car_digest(car),
        "closed": True,
        "kind": "reference",
        "time_s": round(max(proven.laps), 4),
        "generations": options.generations,
        "count": options.count,
        "seed": options.seed,
    }
    write_line(path, LineFile(about, collect_columns(search, proven.plan)))
    return {
        **about,
        "search_time_s": search.best_time,
        "laps_s": proven.laps,
        "plan_time_s": course.profile.lap_time,
        "seconds": time.perf_counter() - began,
        "line": str(path),
    }


def collect_columns(search: LapSearch, plan: LapPlan) -> dict[str, np.ndarray]:
    """Return the columns of the line file of a plan."""
    tracking, road = search.builder.build_plan(plan), search.course.track.road
    table = tracking.line.table
    every = max(round(ROW_SPACING / tracking.line.spacing), 1)
    rows = table[::every]
    place = road.locate_many(rows[:, [RoadColumn.X, RoadColumn.Y]])
    order = np.argsort(place[:, 0], kind="stable")
    grip = road.column_at(place[:, 0], RoadColumn.GRIP)
    columns = {
        "s_m": place[:, 0],
        "offset_m": place[:, 1],
        "x_m": rows[:, RoadColumn.X],
        "y_m": rows[:, RoadColumn.Y],
        "speed_mps": tracking.table[::every, 0],
        "planned_grip": rows[:, RoadColumn.GRIP] / grip,
    }
    return {name: values[order] for name, values in columns.items()}
