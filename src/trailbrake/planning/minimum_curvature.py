"""The racing line of a track and a car: minimum curvature between the edges, as a `Road`.

Minimum-curvature offsets from a centreline: successive box-bounded quadratic programmes.

Method: Heilmeier et al., "Minimum curvature trajectory planning and control for an autonomous race car",
Vehicle System Dynamics 58 (2020), with the curvature linearised about the newest path instead of about the
centreline, and solved by the banded interior point method of `quadratic_program.py`.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from trailbrake.arrays import Array
from trailbrake.planning.path_room import PathRoom, find_path_bounds
from trailbrake.planning.quadratic_program import Bounds, CyclicMatrix, solve_box_qp
from trailbrake.planning.spline import resample_path
from trailbrake.tracks.road import Road, RoadColumn

STATION_SPACING = 2.5  # m between the offsets that are optimised
ROW_SPACING = 1.0  # m between the rows of the line
WALL_MARGIN = 0.4  # m, added where a wall is at the edge: a car's corners swing out in a tight bend and in a slide
NO_RUNOFF = 1.0  # m from edge to wall below which the wall counts as standing at the edge

MAX_ITERATIONS = 12  # linearisations at most
OFFSET_TOLERANCE = 0.02  # m, the largest change of an offset at which to stop
REGULARISATION = 1e-8  # pulls to the centreline where nothing else decides (long straights, open ends)


class Centreline(NamedTuple):
    """Points of a centreline at nearly uniform spacing, with unit normals to the left; (n,) each.

    Attributes:
        x, y: m.
        nx, ny: unit normals.
        closed: whether the last point is followed by the first.
    """

    x: Array
    y: Array
    nx: Array
    ny: Array
    closed: bool


@dataclass(frozen=True, eq=False)
class DiscretePath:
    """A polyline and its discrete curvature. Segment i goes from point i to point i + 1, cyclic; all (n,)."""

    ux: Array  # unit vectors of the segments
    uy: Array
    length: Array  # m, of the segments
    turn: Array  # rad, change of heading at the points; 0 at the ends of an open path
    share: Array  # m, of path that belongs to each point: half of each neighbouring segment

    @classmethod
    def from_points(cls, x: Array, y: Array, closed: bool) -> "DiscretePath":
        """Return the polyline through points x, y (n,) m."""
        dx, dy = np.roll(x, -1) - x, np.roll(y, -1) - y
        length = np.hypot(dx, dy)
        ux, uy = dx / length, dy / length
        bx, by = np.roll(ux, 1), np.roll(uy, 1)
        turn = np.arctan2(bx * uy - by * ux, bx * ux + by * uy)
        if not closed:
            turn[[0, -1]] = 0.0
        return cls(ux, uy, length, turn, 0.5 * (length + np.roll(length, 1)))

    def bending_cost(self, length_weight: float) -> float:
        """The integral of squared curvature, 1/m, and `length_weight` (1/m^2) times the length."""
        return float(np.sum(self.turn**2 / self.share) + length_weight * np.sum(self.length))


def linearise_cost(
    path: DiscretePath,
    centre: Centreline,
    offset: Array,
    length_weight: float | Array,
    bend_weight: float | Array = 1.0,
) -> tuple[CyclicMatrix, Array]:
    """Return the Gauss-Newton matrix and linear term of half the cost about `offset`.

    The weights may differ from segment to segment (of length) and from point to point (of squared curvature), (n,).

    The residual of a point is turn / sqrt(share). Both change: a segment turns with the sideways movement of its ends
    and grows with their lengthwise movement. Without the growth, often omitted, every hairpin is pulled to its inside.
    """
    nx, ny, closed = centre.nx, centre.ny, centre.closed
    after_x, after_y = np.roll(nx, -1), np.roll(ny, -1)
    # Sideways and lengthwise movement of a segment's start and end, per metre of their offsets.
    side_start, side_end = path.ux * ny - path.uy * nx, path.ux * after_y - path.uy * after_x
    grow_start, grow_end = path.ux * nx + path.uy * ny, path.ux * after_x + path.uy * after_y
    side_start, side_end = side_start / path.length, side_end / path.length
    before = [np.roll(a, 1) for a in (side_start, side_end, grow_start, grow_end)]
    root = np.sqrt(path.share / bend_weight)
    shrink = 0.25 * path.turn / (root * path.share)
    r0 = before[0] / root + shrink * before[2]
    r1 = -(side_start + before[1]) / root - shrink * (before[3] - grow_start)
    r2 = side_end / root - shrink * grow_end
    if not closed:
        for r in (r0, r1, r2):
            r[[0, -1]] = 0.0
    constant = path.turn / root - (r0 * np.roll(offset, 1) + r1 * offset + r2 * np.roll(offset, -1))
    d0 = REGULARISATION * np.mean(bend_weight) + np.roll(r0 * r0, -1) + r1 * r1 + np.roll(r2 * r2, 1)
    d1 = np.roll(r0 * r1, -1) + r1 * r2
    d2 = np.roll(r0 * r2, -1)
    linear = np.roll(r0 * constant, -1) + r1 * constant + np.roll(r2 * constant, 1)
    if np.any(length_weight):
        # The length to second order: its ends' growth, and length / 2 times the square of how the segment turns.
        half = 0.5 * length_weight * path.length
        now = np.roll(offset, -1) * side_end - offset * side_start
        if not closed:
            half[-1] = 0.0
        d0 += half * side_start**2 + np.roll(half * side_end**2, 1)
        d1 -= half * side_start * side_end
        push_start = -0.5 * length_weight * grow_start * (half > 0.0) + half * side_start * now
        push_end = 0.5 * length_weight * grow_end * (half > 0.0) - half * side_end * now
        linear += push_start + np.roll(push_end, 1)
    return CyclicMatrix(d0, d1, d2), linear


def minimise_curvature(centre: Centreline, bounds: Bounds, length_weight: float = 0.0) -> Array:
    """Return the offsets (n,), m, positive left, that minimise the integral of squared curvature.

    Args:
        centre: the points and normals along which the offsets go.
        bounds: m, smallest and largest offset.
        length_weight: 1/m^2, cost of a metre of length; 0 = curvature alone, which takes hairpins very wide.
    """
    x, y, nx, ny, closed = centre
    offset = np.clip(np.zeros_like(x), bounds.lower, bounds.upper)
    path = DiscretePath.from_points(x + offset * nx, y + offset * ny, closed)
    for _ in range(MAX_ITERATIONS):
        matrix, linear = linearise_cost(path, centre, offset, length_weight)
        target = solve_box_qp(matrix, linear, bounds, offset, 1e-7)
        for step in (1.0, 0.5, 0.25, 0.125):  # the model is local: shorten the step until the true cost falls
            trial = offset + step * (target - offset)
            tried = DiscretePath.from_points(x + trial * nx, y + trial * ny, closed)
            if tried.bending_cost(length_weight) < path.bending_cost(length_weight):
                break
        else:
            break
        moved = float(np.max(np.abs(trial - offset)))
        offset, path = trial, tried
        if moved < OFFSET_TOLERANCE:
            break
    return offset


def plan_racing_line(road: Road, room: PathRoom, length_weight: float = 0.0) -> Road:
    """Return the line of least curvature (and length, by `length_weight` 1/m^2) for a car that needs `room`.

    The line is a Road: its widths are the distances to the road's edges, its z, bank and grade those of the
    surface under it, so that the methods of roads work on lines. Row 0 is abreast of the
    road's start line. An open line starts and ends on the centreline.
    """
    _, centre, bounds = find_stations(road, room)
    offset = minimise_curvature(centre, bounds, length_weight)
    return road_through(road, centre.x + offset * centre.nx, centre.y + offset * centre.ny)


def find_stations(road: Road, room: PathRoom) -> tuple[Array, Centreline, Bounds]:
    """Return the stations s (n,) m of a road, its centreline there, and how far a car that needs `room` may go."""
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
    return s, Centreline(x, y, -np.sin(yaw), np.cos(yaw), road.closed), Bounds(lower, upper)


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
