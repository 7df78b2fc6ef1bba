"""The game's `fast_lane.ai` <-> our roads.

Source: protocol page assetto-custom-ai, sections 5 and 7: the left edge is `side_left` to the left of the line, the
right one `side_right` to the right, square to its direction as seen from above. The page calls the line closed,
as it is for circuits; that of a hill climb is open. Only the two ends of the line show which it is.

The height of the ground by the game's own line, for teleports whose caller names no height.

Source: protocol page assetto-custom-ai, section 7.

The game's files of a served world: its track and cars, below a folder that stands in for the installation.
"""

import math
from bisect import bisect_right
from pathlib import Path
from typing import NamedTuple

import numpy as np

from trailbrake.arrays import Array
from trailbrake.errors import DataError, TrailbrakeError
from trailbrake.planning.course import Course
from trailbrake.roles import RoadPlant
from trailbrake.sims.assetto.axes import assetto_points_from_iso, iso_points_from_assetto
from trailbrake.sims.assetto.install import content, fast_lane, installation
from trailbrake.sims.assetto.install.fast_lane import EXTRA, POINT, FastLane
from trailbrake.sims.assetto.wire import acpmf
from trailbrake.tracks import centreline_csv as checked
from trailbrake.tracks.centreline_smoothing import MeasuredLine, smooth_circuit, smooth_open_road
from trailbrake.tracks.clearance import cut_runoff
from trailbrake.tracks.measured_road import is_circuit, set_heights, spread_along
from trailbrake.tracks.road import Road, RoadColumn
from trailbrake.tracks.track import Track

RUNOFF_WIDTH = 6.0  # m from the edge to the assumed wall, which the file does not have
UNKNOWN_EDGE_DISTANCE = (
    3.0  # m to either edge where the file has no widths: little, so that nothing is planned beside the road
)
MIN_EDGE_DISTANCE = 0.5  # m: the line's own drivers stay on the road, whatever a width of 0 or less says
MAX_EDGE_DISTANCE = 30.0  # m: beyond it the file's ray has missed the edge
_SAME_POINT = 0.05  # m, points nearer than this to the one before are the same
_HEIGHT_SMOOTHING = 20.0  # m along the road over which heights and banking are averaged: lines are driven, not surveyed


def track_from_lane(lane: FastLane, name: str, where: str) -> Track:
    """Return the road along the line of the game's own drivers, between the edges in the file.

    Args:
        lane: the file.
        name: for the track.
        where: the file's name in error messages.

    Returns:
        A track whose world x and y are the game's z and x, s = 0 at the line's first point: a circuit where the line's
        end is near its beginning and leads on into it, else an open road.

    Raises:
        DataError: the points are no road that a car can drive.
    """
    x, y, z = iso_points_from_assetto(lane.points["place"].astype(np.float64)).T
    left, right = (_edge_distances(lane, side) for side in ("side_left", "side_right"))
    if lane.extras is not None:
        widest = float(np.max(lane.extras["side_left"] + lane.extras["side_right"]))
        if not widest >= checked.MIN_WIDTH:
            raise DataError("a line without edges", where=where, expected="distances to the edges of the road, m",
                            got=f"{widest:g} in all at most", hint="name the road by --track FILE.csv")  # fmt: skip
    keep = np.concatenate([[True], np.hypot(np.diff(x), np.diff(y)) >= _SAME_POINT])
    away = np.flatnonzero(keep & (np.hypot(x - x[0], y - y[0]) >= _SAME_POINT))
    keep[away[-1] + 1 if len(away) else 1 :] = False  # the line ends where it began, perhaps with several points
    x, y, z, left, right = (values[keep] for values in (x, y, z, left, right))
    _check_points(x, y, where)
    measured = MeasuredLine(x, y, right, left)
    road, report = (smooth_circuit if is_circuit(x, y) else smooth_open_road)(measured, RUNOFF_WIDTH, where)
    set_heights(road, spread_along(road, measured, z, _HEIGHT_SMOOTHING))
    if lane.extras is not None:
        road.table[:, RoadColumn.BANK] = spread_along(road, measured, _bank_angles(lane)[keep], _HEIGHT_SMOOTHING)
    cut_runoff(road)
    return Track(name, name, (road,), source=f"the game's own line, {where}", smoothing=report)


def _check_points(x: Array, y: Array, where: str) -> None:
    if len(x) < checked.MIN_POINTS:
        raise DataError("too few points", where=where, expected=f"{checked.MIN_POINTS} or more", got=str(len(x)))
    gaps = np.hypot(np.diff(x), np.diff(y))
    k = int(gaps.argmax())
    if not gaps[k] <= checked.MAX_GAP:
        raise DataError("gap in the line", where=f"{where}: point {k}", got=f"{gaps[k]:.0f} m to the next",
                        expected=f"<= {checked.MAX_GAP:g} m", hint="name a --track of your own")  # fmt: skip
    if not checked.MIN_LENGTH <= gaps.sum() <= checked.MAX_LENGTH:
        raise DataError("no length of a road", where=where, got=f"{gaps.sum():.1f} m",
                        expected=f"{checked.MIN_LENGTH:g} .. {checked.MAX_LENGTH:g} m")  # fmt: skip


def _edge_distances(lane: FastLane, side: str) -> Array:
    if lane.extras is None:
        return np.full(len(lane.points), UNKNOWN_EDGE_DISTANCE)
    return np.clip(lane.extras[side].astype(np.float64), MIN_EDGE_DISTANCE, MAX_EDGE_DISTANCE)


def _bank_angles(lane: FastLane) -> Array:
    """Return the roll of the surface (n,), rad, right side down positive; 0 where the normal is none."""
    assert lane.extras is not None
    normal = lane.extras["normal"].astype(np.float64)
    forward = lane.extras["forward"].astype(np.float64)
    left = np.column_stack([forward[:, 2], np.zeros(len(forward)), -forward[:, 0]])  # section 7, in x, y, z
    length = np.linalg.norm(left, axis=1)
    with np.errstate(all="ignore"):
        bank = -np.arctan2((normal * left).sum(axis=1) / length, normal[:, 1])
    usable = np.isfinite(bank) & (normal[:, 1] > 0.5) & (length > 0.5)
    return np.where(usable, bank, 0.0)


def lane_from_line(track: Track, line: Road | None = None, speed: Array | None = None) -> FastLane:
    """Return the line that the game would have for `track`.

    Args:
        track: its first road is used.
        line: of the game's own drivers; None for the road's centreline.
        speed: (n,) m/s at the line's rows; None = unknown, written as 0.
    """
    road = track.road
    line = road if line is None else line
    count = len(line.table)
    s, offset = road.locate_many(line.table[:, [RoadColumn.X, RoadColumn.Y]], 0).T
    points, extras = np.zeros(count, POINT), np.zeros(count, EXTRA)
    height = road.points(s, offset)[:, 2]
    points["place"] = assetto_points_from_iso(
        np.column_stack([line.column(RoadColumn.X), line.column(RoadColumn.Y), height])
    )
    points["length"] = extras["length"] = line.stations()
    points["id"] = np.arange(count)
    curvature, bank = line.column(RoadColumn.CURVATURE), road.column_at(s, RoadColumn.BANK)
    cosine, sine = np.cos(line.column(RoadColumn.YAW)), np.sin(line.column(RoadColumn.YAW))
    extras["speed"] = 0.0 if speed is None else speed
    extras["radius"] = np.minimum(1.0 / np.maximum(np.abs(curvature), 1e-4), 1e4)
    extras["side_left"] = np.maximum(road.column_at(s, RoadColumn.WIDTH_LEFT) - offset, 0.0)
    extras["side_right"] = np.maximum(road.column_at(s, RoadColumn.WIDTH_RIGHT) + offset, 0.0)
    extras["camber"] = bank
    extras["direction"] = -np.sign(curvature)
    grade = road.column_at(s, RoadColumn.GRADE)
    # The normal of a plane that climbs by `grade` along the tangent and leans by `bank` about it.
    lean, climb = np.tan(bank), grade
    up = np.column_stack([lean * sine - climb * cosine, -lean * cosine - climb * sine, np.ones(count)])
    up /= np.linalg.norm(up, axis=1)[:, None]
    extras["normal"] = assetto_points_from_iso(up)
    ahead = np.column_stack([cosine, sine, grade])
    ahead /= np.linalg.norm(ahead, axis=1)[:, None]
    extras["forward"] = assetto_points_from_iso(ahead)
    extras["grade"] = grade
    return FastLane(points, extras)


class GroundHeight(NamedTuple):
    """A height (m, our world) and what it was taken from, for the user."""

    z: float
    source: str


def find_ground_height(root: Path | None, static: acpmf.Static | None, x: float, y: float) -> GroundHeight | None:
    """Return the height of the nearest point of the session's `fast_lane.ai`; None where the file is not found.

    Args:
        root: the game's folder; None: where `find_installation` finds it.
        static: constants of the session, which name the track; None: not known.
        x: m, our world.
        y: as `x`.
    """
    if static is None:
        return None
    try:
        folder = installation.find_installation(root).root
        expected = content.lane_path(folder, static.track, static.track_configuration)
        path = content.find_ignoring_case(expected)
        if path is None:
            return None
        places = iso_points_from_assetto(fast_lane.read_fast_lane(path).points["place"].astype(np.float64))
    except TrailbrakeError:
        return None
    nearest = places[np.hypot(places[:, 0] - x, places[:, 1] - y).argmin()]
    return GroundHeight(float(nearest[2]), str(path))


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
