"""Lanes beside a line: paths that keep to one side of it as far as the road allows, and bend as little as they can.

A lane at a fixed share of the road turns tighter than the line, and a line moved aside has a kink where it meets the
edge: both are slow. A lane here minimises the square of its curvature, and of its distance from a line moved aside,
within the edges.
"""

import numpy as np

from trailbrake.arrays import Array
from trailbrake.planning.path_room import PathRoom, find_path_bounds
from trailbrake.planning.quadratic_program import Bounds, CyclicMatrix, solve_box_qp
from trailbrake.tracks.road import Road
from trailbrake.tracks.road_columns import RoadColumn

LANES = (-9.0, -4.5, -3.2, -2.2, -1.2, 1.2, 2.2, 3.2, 4.5, 9.0)  # m left of the line, the last along the edges
REACH = 25.0  # m, over which a lane approaches its distance from the line
STRETCH = 4  # rows of the line from one unknown to the next
LEAST_ROOM = 0.02  # m between the bounds of a lane, where the road is narrower than the car with its margins
TOLERANCE = 1e-4  # of the programme


def build_lanes(line: Road, room: PathRoom) -> Array:
    """Return the lanes, (len(LANES), n) m left of the line at its rows.

    Args:
        line: whose widths reach to the edges of the road.
        room: of the car.
    """
    n = len(line.table)
    rows = np.linspace(0, n, n // STRETCH, endpoint=False).astype(int) if line.closed else np.arange(0, n, STRETCH)
    spacing = line.spacing * n / len(rows) if line.closed else line.spacing * STRETCH
    rightmost, leftmost = (bound[rows] for bound in find_path_bounds(line, line.stations(), room))
    middle = 0.5 * (rightmost + leftmost)
    bounds = Bounds(np.minimum(rightmost, middle - LEAST_ROOM), np.maximum(leftmost, middle + LEAST_ROOM))
    bending, rate = _square_curvature(line.column(RoadColumn.CURVATURE)[rows], spacing, closed=line.closed)
    pull = (spacing / REACH) ** 4
    matrix = bending._replace(d0=bending.d0 + pull)
    offsets = [
        solve_box_qp(matrix, rate - pull * aside, bounds, np.full(len(rows), aside), TOLERANCE) for aside in LANES
    ]
    period = float(n) if line.closed else None
    return np.array([np.interp(np.arange(n), rows, offset, period=period) for offset in offsets])


def _square_curvature(curvature: Array, spacing: float, *, closed: bool) -> tuple[CyclicMatrix, Array]:
    """Return the matrix and the linear term of half the square of spacing^2 times the curvature of an offset path."""
    side = np.ones(len(curvature))
    middle = (curvature * spacing) ** 2 - 2.0
    if not closed:
        side[[0, -1]] = middle[[0, -1]] = 0.0
    constant = np.where(side > 0.0, curvature * spacing**2, 0.0)
    d0 = np.roll(side, -1) + middle**2 + np.roll(side, 1)
    d1 = np.roll(side * middle, -1) + middle * side
    linear = np.roll(side * constant, -1) + middle * constant + np.roll(side * constant, 1)
    return CyclicMatrix(d0, d1, np.roll(side, -1)), linear
