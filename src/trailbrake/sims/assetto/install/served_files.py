"""The game's files of a served world: its track and cars, below a folder that stands in for the installation."""

import math
from bisect import bisect_right
from pathlib import Path
from typing import NamedTuple

import numpy as np

from trailbrake.planning.course import Course
from trailbrake.roles import RoadPlant
from trailbrake.sims.assetto.axes import iso_points_from_assetto
from trailbrake.sims.assetto.install import content
from trailbrake.sims.assetto.install.fast_lane import FastLane
from trailbrake.sims.assetto.install.lane_conversion import lane_from_line
from trailbrake.tracks.road import Road


class ServedFiles(NamedTuple):
    """What was written: the paths, and the line in `fast_lane.ai`."""

    paths: list[Path]
    lane: FastLane


def write_files(root: Path, plant: RoadPlant, *, enabled: bool = True, permitted: bool = True) -> ServedFiles:
    """Write the files of the plant's track and cars below `root`.

    The line is the racing line of the first car with its planned speeds, as the game's own drivers have theirs: clients
    steer by it.

    Args:
        root: stands in for the installation's folder.
        plant: the world.
        enabled: whether Custom AI is switched on in the settings.
        permitted: whether the track permits it.

    Raises:
        SimulatorError: a file cannot be written.
    """
    course = Course(plant.track, plant.cars[0])
    lane = lane_from_line(plant.track, course.line, course.profile.speed)
    written: dict[Path, None] = {}
    for car in {car.name: car for car in plant.cars}.values():
        paths = content.write_content(root, plant.track, car, lane, enabled=enabled, permitted=permitted)
        written |= dict.fromkeys(paths)
    return ServedFiles(list(written), lane)


class LaneProgress:
    """The share of a lap by the length of `fast_lane.ai`, from the share by the road's centreline.

    The game measures both the spline's length and a car's place on it along that file's line. A car beside the line has
    the place of the line's point abreast of it.

    Args:
        road: the centreline.
        lane: the line.

    Attributes:
        length: of the line, m, by the distances in the file and the gap between its ends.
    """

    def __init__(self, road: Road, lane: FastLane) -> None:
        places = iso_points_from_assetto(lane.points["place"].astype(np.float64))
        stations = lane.points["length"].astype(np.float64)
        along = road.locate_many(places[:, :2], 0)[:, 0] / road.length
        if road.closed:  # the first point again, a lap later; points before the line belong to the lap before it
            along = np.where(along - np.linspace(0.0, 1.0, len(along)) > 0.5, along - 1.0, along)
            stations = np.append(stations, stations[-1] + math.dist(places[0], places[-1]))
            along = np.append(along, along[0] + 1.0)
        self.length = float(stations[-1])
        along = np.maximum.accumulate(along)
        self._along: list[float] = along.tolist()
        self._share: list[float] = (stations / self.length).tolist()

    def convert_progress(self, progress: float) -> float:
        """Return the share of the line at a share of the centreline, both 0..1; NaN for NaN."""
        if not 0.0 < progress < 1.0:
            return progress
        k = min(max(bisect_right(self._along, progress), 1), len(self._along) - 1)
        a, b = self._along[k - 1], self._along[k]
        part = (progress - a) / (b - a) if b > a else 0.0
        share = self._share[k - 1] + part * (self._share[k] - self._share[k - 1])
        return min(max(share, 0.0), 1.0)
