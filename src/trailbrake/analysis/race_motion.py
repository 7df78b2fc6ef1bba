"""`read_race`: where the cars of one drive were, at common times, out of their recordings.

The recordings of one drive lie beside each other: NAME.mcap of its first car, NAME_car1.mcap of the next. They begin
at one moment, and each has the clock of its own car's wire: times count from the first row.
"""

import itertools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from trailbrake.analysis.reference_line import ReferenceLine, make_line
from trailbrake.arrays import Array
from trailbrake.cars.car_library import load_car
from trailbrake.errors import DataError, TrailbrakeError
from trailbrake.record.recording_reader import Recording, RoadMap

RACE_FILES = "race_files"  # key of a recording's about: the names of the recordings of all cars of the drive
UNKNOWN_SIZE = (4.6, 1.95, 0.0)  # m: length, width, box ahead of the centre of mass, of a car without a file


class CarMotion(NamedTuple):
    """A car of a drive: its size (m) and, at the times of the first car, its box, yaw, speed and depth of contact."""

    number: int
    length: float
    width: float
    x: Array
    y: Array
    yaw: Array
    speed: Array
    depth: Array


class RecordedRace(NamedTuple):
    """The cars of one drive: the road, its middle, times of the first car (n,), s, and each car at these."""

    road: RoadMap
    line: ReferenceLine
    time: Array
    cars: list[CarMotion]


def open_race(recording: Recording) -> list[Recording]:
    """Return the recordings of all cars of the drive of which `recording` is one car's, itself too; the first's first.

    Those of a race day have the names of their entries, and name each other.

    Raises:
        UsageError: one cannot be read.
        DataError: one is not a recording.
    """
    path = recording.path
    first = path.with_stem(re.sub(r"_car\d+$", "", path.stem))
    others = (car for k in itertools.count(1) if (car := first.with_stem(f"{first.stem}_car{k}")))
    paths = [first, *itertools.takewhile(Path.is_file, others)]
    names = recording.about.get(RACE_FILES)
    if isinstance(names, list):
        paths = [path.with_name(Path(name).name) for name in names if isinstance(name, str)]
    if path not in paths or not all(map(Path.is_file, paths)):
        return [recording]
    return [recording if each == path else Recording.open(each) for each in paths]


def read_race(recordings: Sequence[Recording]) -> RecordedRace:
    """Return where the cars of one drive were.

    Args:
        recordings: of its cars; the first has the road, and its times.

    Raises:
        DataError: no road, or no positions.
    """
    road = recordings[0].road_map
    line = None if road is None else make_line(road.centre[:, 0], road.centre[:, 1], road.closed)
    if road is None or line is None:
        raise DataError("the recording has no road", where=str(recordings[0].path), expected="/map")
    time = np.asarray(recordings[0].race_times)
    time = time[np.concatenate([[True], np.diff(np.maximum.accumulate(time)) > 0.0])]
    return RecordedRace(road, line, time, [_read_motion(*each, time) for each in enumerate(recordings)])


def _read_motion(number: int, recording: Recording, time: Array) -> CarMotion:
    state = recording.state
    own = np.asarray(recording.race_times)
    own = own - own[0] + time[0]
    if not np.isfinite(state["x"]).any():
        raise DataError("the recording has no positions", where=str(recording.path))
    length, width, ahead = _read_size(recording)
    keep = np.isfinite(state["x"]) & np.isfinite(state["yaw"]) & ~recording.undone
    keep &= np.concatenate([[True], np.diff(np.maximum.accumulate(own)) > 0.0])

    def read(values: Array) -> Array:
        """Return values at the common times; NaN where the car was not there."""
        found: Array = np.interp(time, own[keep], values[keep], np.nan, np.nan)
        return found

    yaw = np.full(len(own), np.nan)
    yaw[keep] = np.unwrap(state["yaw"][keep])
    depth = np.full(len(time), np.nan)
    if np.isfinite(state["contact_depth"]).any():  # of the row nearest in time: it is there for one tick
        depth = state["contact_depth"][np.clip(np.searchsorted(own, time - 1e-6), 0, len(own) - 1)]
    x, y = read(state["x"] + ahead * np.cos(yaw)), read(state["y"] + ahead * np.sin(yaw))
    return CarMotion(number, length, width, x, y, read(yaw), read(state["speed"]), depth)


def _read_size(recording: Recording) -> tuple[float, float, float]:
    try:
        body = load_car(str(recording.about.get("car", ""))).body
    except TrailbrakeError:
        return UNKNOWN_SIZE
    return body.length, body.width, 0.5 * (body.cg_to_front - body.cg_to_rear)
