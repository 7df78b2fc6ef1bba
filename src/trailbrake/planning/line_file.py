"""Files of minimum-time lines: a CSV table with one row for each stage, and what it was made for in the first line.

    # trailbrake line {"track": "hartmoor", "car": "gt3", "car_sha256": "...", "closed": true, "time_s": 86.7, ...}
    s_m,offset_m,x_m,y_m,z_m,heading_rad,curvature_1pm,time_s,speed_mps,...

`trailbrake line` writes them. s and offset are along the road; everything else is at the car on its line.

The cache of minimum-time lines: one line file for each road and car, in the user's cache folder.
"""

import contextlib
import hashlib
import json
import math
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array
from trailbrake.cars.params import CarParams
from trailbrake.config import lines_folder
from trailbrake.errors import DataError, OsErrors
from trailbrake.planning.course import Course
from trailbrake.planning.minimum_curvature import road_through
from trailbrake.tracks.road import Road
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track import Track
from trailbrake.user_files import parse_json, read_user_text

MARK = "# trailbrake line "
PLACE_TOLERANCE = 0.1  # m between a row's x, y and its s and offset on the road
MAX_BYTES = 32_000_000
MIN_ROWS = 8
FIRST_ROW = 3  # line of the file
MOST_ROW_GAP = 5.0  # over the mean gap: those of `trailbrake line` reach 2.2
MODEL = "model"  # what a file says that `trailbrake line` wrote: the version of its model
NEEDED = ("s_m", "offset_m", "x_m", "y_m", "speed_mps")
LEAST_POINT_SPACING = 2.0  # m between the points that the path goes through
PLANNED_GRIP = "planned_grip"
LEAST_PLANNED_GRIP, MOST_PLANNED_GRIP = 0.1, 3.0
KEPT_LINES = 200  # files; the oldest are deleted


class LineFile(NamedTuple):
    """A line file.

    Attributes:
        about: track, car, car_sha256, closed, time_s and the settings.
        columns: name to (n,).
    """

    about: dict[str, Any]
    columns: dict[str, Array]


def car_digest(car: CarParams) -> str:
    """Return the SHA-256 of a car's parameters."""
    return hashlib.sha256(msgspec.json.encode(car)).hexdigest()


def write_line(path: Path, line: LineFile) -> None:
    """Write a line; UsageError where that fails."""
    table = np.column_stack(list(line.columns.values()))
    rows = [",".join(f"{value:.8g}" for value in row) for row in table.tolist()]
    text = "\n".join([MARK + json.dumps(line.about), ",".join(line.columns), *rows]) + "\n"
    with OsErrors("cannot write the line", where=str(path)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def read_line(path: Path) -> LineFile:
    """Return the line of a file; DataError where it is none."""
    return parse_line(read_user_text(path, "line", MAX_BYTES), str(path))


def parse_line(text: str, where: str) -> LineFile:
    """Return the line in the text of a file; DataError where it is none."""
    lines = text.splitlines()
    if not lines or not lines[0].startswith(MARK):
        raise DataError(
            "no line file",
            where=where,
            expected=f"{MARK.strip()!r} in the first line",
            hint="trailbrake line writes them",
        )
    about = parse_json(lines[0].removeprefix(MARK), f"{where}:1")
    if not isinstance(about, dict) or not isinstance(about.get("closed"), bool):
        raise DataError("no line file", where=f"{where}:1", expected="an object with closed, true or false")
    names = lines[1].split(",") if len(lines) > 1 else []
    missing = [name for name in NEEDED if name not in names]
    if missing or len(set(names)) != len(names):
        raise DataError("columns are missing or twice", where=f"{where}:2", expected=", ".join(NEEDED), got=str(names))
    if len(lines) < 2 + MIN_ROWS:
        raise DataError("too few rows", where=where, expected=f"{MIN_ROWS} or more", got=str(len(lines) - 2))
    table = np.empty((len(lines) - 2, len(names)))
    for number, row in enumerate(lines[2:], FIRST_ROW):
        try:
            values = [float(cell) for cell in row.split(",")]
        except ValueError:
            values = []
        if len(values) != len(names) or not all(map(math.isfinite, values)):
            raise DataError("no row of numbers", where=f"{where}:{number}", expected=f"{len(names)} numbers")
        table[number - FIRST_ROW] = values
    return LineFile(about, {name: table[:, i].copy() for i, name in enumerate(names)})


def load_racing_line(path: Path, road: Road, car: CarParams) -> Road:
    """Return the line of a file as a Road, for the road and the car that it was made for.

    Raises:
        DataError: no line file, or one for another road or another car.
    """
    return _follow_line(read_line(path), str(path), road, car)


def load_line_course(path: Path, track: Track, car: CarParams) -> Course:
    """Return the course along the line of a file, with its speeds where `trailbrake line` planned them.

    Raises:
        DataError: as `load_racing_line`.
    """
    file = read_line(path)
    line = _follow_line(file, str(path), track.road, car)
    if MODEL not in file.about:
        return Course(track, car, given_line=line)
    place = line.locate_many(np.column_stack([file.columns["x_m"], file.columns["y_m"]]))[:, 0]
    order = np.argsort(place, kind="stable")
    period = line.length if line.closed else None
    speeds = np.interp(line.stations(), place[order], file.columns["speed_mps"][order], period=period)
    return Course(track, car, given_line=line, given_speeds=speeds)


def _follow_line(line: LineFile, where: str, road: Road, car: CarParams) -> Road:
    columns = line.columns
    if line.about["closed"] != road.closed:
        raise DataError("this line is for another track", where=where, got=str(line.about.get("track")))
    s, offset = columns["s_m"], columns["offset_m"]
    places = road.points(s, offset)
    away = np.hypot(places[:, 0] - columns["x_m"], places[:, 1] - columns["y_m"])
    k = int(np.diff(s).argmin())
    if s[k + 1] <= s[k]:
        raise DataError("rows that are not in driving order", where=f"{where}:{k + FIRST_ROW + 1}",
                        expected="s_m rising from row to row", got=f"{s[k + 1]:.2f} after {s[k]:.2f}")  # fmt: skip
    is_within = s[0] >= -PLACE_TOLERANCE and s[-1] <= road.length + PLACE_TOLERANCE
    if not is_within or not away.max() <= PLACE_TOLERANCE:
        raise DataError(
            "this line is for another track", where=where, expected="places on the road of this drive",
            got=f"{line.about.get('track')}, {away.max():.2f} m off, s_m to {s[-1]:.0f} of {road.length:.0f} m",
            hint="trailbrake line makes one for this track",
        )  # fmt: skip
    _check_rows_complete(s, where, road)
    if line.about.get("car_sha256") != car_digest(car):
        raise DataError(
            "this line is for another car", where=where, expected=car.name, got=str(line.about.get("car")),
            hint="trailbrake line makes one for this car",
        )  # fmt: skip
    x, y = columns["x_m"], columns["y_m"]
    kept = _thin_points(x, y)
    followed = road_through(road, x[kept], y[kept])
    if PLANNED_GRIP in columns:
        factor = columns[PLANNED_GRIP]
        if factor.min() < LEAST_PLANNED_GRIP or factor.max() > MOST_PLANNED_GRIP:
            raise DataError(
                "no friction to plan with", where=where, got=f"{factor.min():g} .. {factor.max():g}",
                expected=f"{PLANNED_GRIP} from {LEAST_PLANNED_GRIP:g} to {MOST_PLANNED_GRIP:g}",
            )  # fmt: skip
        place = road.locate_many(followed.table[:, [RoadColumn.X, RoadColumn.Y]])[:, 0]
        period = road.length if road.closed else None
        followed.table[:, RoadColumn.GRIP] *= np.interp(place, s, factor, period=period)
    return followed


def _check_rows_complete(s: Array, where: str, road: Road) -> None:
    """Raise DataError where rows at s (n,) m, ascending, leave out a part of the road."""
    places = np.append(s, s[0] + road.length) if road.closed else np.concatenate([[0.0], s, [road.length]])
    gaps = np.diff(places)
    widest = int(gaps.argmax())
    if gaps[widest] > MOST_ROW_GAP * np.diff(s).mean():
        raise DataError(
            "rows are missing: the file is cut off", where=where, expected=f"rows from 0 to {road.length:.0f} m",
            got=f"none from {places[widest]:.0f} to {places[widest + 1]:.0f} m", hint="write the file again",
        )  # fmt: skip


def _thin_points(x: Array, y: Array) -> NDArray[np.intp]:
    """Return the places of points (n,) m that are at least LEAST_POINT_SPACING apart, in order.

    Stages at equal distances along a road lie close together on the inside of a hairpin. A spline through them turns
    their rounding into bends.
    """
    kept = [0]
    for i in range(1, len(x)):
        if math.hypot(x[i] - x[kept[-1]], y[i] - y[kept[-1]]) >= LEAST_POINT_SPACING:
            kept.append(i)
    return np.array(kept)


def road_digest(road: Road) -> str:
    """Return the SHA-256 of a road's geometry and surface."""
    digest = hashlib.sha256(f"{road.spacing!r} {road.closed} ".encode())
    digest.update(np.ascontiguousarray(road.table, np.float64).tobytes())
    return digest.hexdigest()


def cached_line_path(road: Road, car: CarParams) -> Path:
    """Return the path of the cached line of a road and a car; the file need not exist."""
    key = hashlib.sha256(f"{road_digest(road)} {car_digest(car)}".encode()).hexdigest()
    return lines_folder() / f"{key[:32]}.csv"


def prune_cache() -> None:
    """Delete the oldest cached lines, so that `KEPT_LINES` remain; a file that cannot be deleted stays."""
    with contextlib.suppress(OSError):
        files = sorted(lines_folder().glob("*.csv"), key=lambda path: path.stat().st_mtime, reverse=True)
        for old in files[KEPT_LINES:]:
            with contextlib.suppress(OSError):
                old.unlink()
