"""The racing line of a track and a car: minimum curvature between the edges, as a `Road`."""

import math

import numpy as np

from trailbrake.planning.minimum_curvature import Centreline, minimise_curvature
from trailbrake.planning.path_room import PathRoom, find_path_bounds
from trailbrake.planning.quadratic_program import Bounds
from trailbrake.planning.spline import resample_path
from trailbrake.tracks.road import Road, RoadColumn

STATION_SPACING = 2.5  # m between the offsets that are optimised
ROW_SPACING = 1.0  # m between the rows of the line
WALL_MARGIN = 0.4  # m, added where a wall is at the edge: a car's corners swing out in a tight bend and in a slide
NO_RUNOFF = 1.0  # m from edge to wall below which the wall counts as standing at the edge


def plan_racing_line(road: Road, room: PathRoom, length_weight: float = 0.0) -> Road:
    """Return the line of least curvature (and length, by `length_weight` 1/m^2) for a car that needs `room`.

    The line is a Road: its widths are the distances to the road's edges, its z, bank and grade those of the
    surface under it, so that the methods of roads work on lines. Row 0 is abreast of the
    road's start line. An open line starts and ends on the centreline.
    """
    count = max(round(road.length / STATION_SPACING), 12)
    s: np.ndarray = np.linspace(0.0, road.length, count + 1)
    if road.closed:
        s = np.arange(count) * (road.length / count)
    centre = road.points(s)
    x, y, yaw = centre[:, 0].copy(), centre[:, 1].copy(), centre[:, 3]
    lower, upper = find_path_bounds(road, s, room)
    lower += WALL_MARGIN * (road.column_at(s, RoadColumn.RUNOFF_RIGHT) < NO_RUNOFF)
    upper -= WALL_MARGIN * (road.column_at(s, RoadColumn.RUNOFF_LEFT) < NO_RUNOFF)
    # Where the road is narrower than the margins, the middle remains.
    middle = 0.5 * (upper + lower)
    lower, upper = np.minimum(lower, middle - 0.05), np.maximum(upper, middle + 0.05)
    if not road.closed:  # the car starts at rest on the centreline
        lower[[0, -1]], upper[[0, -1]] = -0.05, 0.05
    nx, ny = -np.sin(yaw), np.cos(yaw)
    offset = minimise_curvature(Centreline(x, y, nx, ny, road.closed), Bounds(lower, upper), length_weight)
    return road_through(road, x + offset * nx, y + offset * ny)


def road_through(road: Road, x: np.ndarray, y: np.ndarray) -> Road:
    """Return the line through points x, y (n,) m on `road`, in driving order, as a Road."""
    px, py, yaw, curvature, spacing = resample_path(x, y, road.closed, ROW_SPACING)
    place = road.locate_many(np.column_stack([px, py]))
    s, offset = place[:, 0], place[:, 1]
    surface = road.points(s, offset)
    # Grade along the line: finite differences of its own height, which count the bank it crosses.
    z = surface[:, 2]
    grade = (np.roll(z, -1) - np.roll(z, 1)) / (2.0 * spacing) if road.closed else np.gradient(z, spacing)
    yaw = yaw + 2.0 * math.pi * np.round((surface[0, 3] - yaw[0]) / (2.0 * math.pi))
    return Road.from_columns(
        spacing,
        road.closed,
        px,
        py,
        yaw,
        curvature,
        z=z,
        grade=grade,
        bank=road.column_at(s, RoadColumn.BANK),
        width_left=road.column_at(s, RoadColumn.WIDTH_LEFT) - offset,
        width_right=road.column_at(s, RoadColumn.WIDTH_RIGHT) + offset,
        runoff_left=road.column_at(s, RoadColumn.RUNOFF_LEFT),
        runoff_right=road.column_at(s, RoadColumn.RUNOFF_RIGHT),
        grip=road.column_at(s, RoadColumn.GRIP),
        kerb_left=road.column_at(s, RoadColumn.KERB_LEFT),
        kerb_right=road.column_at(s, RoadColumn.KERB_RIGHT),
    )
