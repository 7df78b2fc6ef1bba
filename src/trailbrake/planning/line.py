"""From a track and a car to the line to drive: minimum curvature between the edges, as a road of its own."""

import math

import numpy as np

from trailbrake.planning.mincurv import minimum_curvature
from trailbrake.planning.spline import resample
from trailbrake.tracks.road import Column, Road

STATION = 2.5  # m between the offsets that are optimised
SPACING = 1.0  # m between the rows of the line
WALL_MARGIN = 0.4  # m more where a wall stands at the edge: a car's corners swing out in a tight bend and in a slide
NO_RUNOFF = 1.0  # m from edge to wall below which the wall counts as standing at the edge
EDGE_MARGIN = 0.6  # m kept between the car's side and the edge: what a driver at the limit strays


def racing_line(road: Road, car_width: float, length_weight: float = 0.0) -> Road:
    """Return the line of least curvature (and length, by `length_weight` 1/m^2) for a car `car_width` (m) wide.

    The line is a Road: its widths are the distances to the road's edges, its z, bank and grade those of the
    surface under it, so that whatever works on roads (locate, at) works on lines. Row 0 is abreast of the
    road's start line. An open line starts and ends on the centreline.
    """
    count = max(round(road.length / STATION), 12)
    s = np.arange(count) * (road.length / count) if road.closed else np.linspace(0.0, road.length, count + 1)
    centre = road.points(s)
    x, y, yaw = centre[:, 0].copy(), centre[:, 1].copy(), centre[:, 3]
    keep = 0.5 * car_width + EDGE_MARGIN
    upper = road.at(s, Column.WIDTH_LEFT) - keep - WALL_MARGIN * (road.at(s, Column.RUNOFF_LEFT) < NO_RUNOFF)
    lower = -(road.at(s, Column.WIDTH_RIGHT) - keep - WALL_MARGIN * (road.at(s, Column.RUNOFF_RIGHT) < NO_RUNOFF))
    # A place narrower than the margins still has a middle to drive through.
    middle = 0.5 * (upper + lower)
    lower, upper = np.minimum(lower, middle - 0.05), np.maximum(upper, middle + 0.05)
    if not road.closed:  # the car starts at rest on the centreline
        lower[[0, -1]], upper[[0, -1]] = -0.05, 0.05
    nx, ny = -np.sin(yaw), np.cos(yaw)
    offset = minimum_curvature(x, y, nx, ny, lower, upper, road.closed, length_weight)
    return _as_road(road, x + offset * nx, y + offset * ny)


def centre_line(road: Road) -> Road:
    """Return the centreline itself as a line, for comparison."""
    return _as_road(road, road.column(Column.X).copy(), road.column(Column.Y).copy())


def _as_road(road: Road, x: np.ndarray, y: np.ndarray) -> Road:
    px, py, yaw, curvature, spacing = resample(x, y, road.closed, SPACING)
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
        bank=road.at(s, Column.BANK),
        width_left=road.at(s, Column.WIDTH_LEFT) - offset,
        width_right=road.at(s, Column.WIDTH_RIGHT) + offset,
        runoff_left=road.at(s, Column.RUNOFF_LEFT),
        runoff_right=road.at(s, Column.RUNOFF_RIGHT),
        grip=road.at(s, Column.GRIP),
    )
