"""The double lane change of ISO 3888-1 on a straight: its lanes, a path through them, and the clearance of a car.

Lanes are along a straight road, in its s (m, forward) and offset (m, positive left). Lengths 15, 30, 25, 25, 15 and
15 m; the lanes are 1.1, 1.2 and 1.3 car widths and 0.25 m wide, the second one 3.5 m to the left, counted from right
edge to right edge. Between the lanes the path is free. Source: ISO 3888-1:2018, as test software
implements it.
"""

import math
from dataclasses import dataclass

import numpy as np

from trailbrake.arrays import Array
from trailbrake.cars.params import CarParams
from trailbrake.planning.quadratic_program import Bounds, CyclicMatrix, solve_box_qp
from trailbrake.planning.spline import resample_path
from trailbrake.tracks.road import Road, RoadColumn

LANE_OFFSET = 3.5  # m, ISO 3888-1
STATION_SPACING = 1.0  # m between the offsets that are optimised
LEAD_DISTANCE = 40.0  # m before and behind the lanes on which the path may bend
FREE_WIDTH = 10.0  # m to either side between the lanes
END_TOLERANCE = 1e-3  # m to either side where the path begins and ends
AVERAGING_POINTS = 7  # m to either side over which the path is averaged: a car cannot follow a sudden turn of the wheel
TOLERANCE = 1e-9  # of the solver


@dataclass(frozen=True)
class ConeLane:
    """One lane between two rows of cones: from `first` to `last` along the road, `right` to `left` across it, m."""

    first: float
    last: float
    right: float
    left: float


def iso_3888_1(width: float, start: float) -> tuple[ConeLane, ...]:
    """Return the three lanes for a car `width` (m) wide; the first begins at s = `start` (m), in the road's middle."""
    wide = [factor * width + 0.25 for factor in (1.1, 1.2, 1.3)]
    right = -0.5 * wide[0]
    return (
        ConeLane(start, start + 15.0, right, right + wide[0]),
        ConeLane(start + 45.0, start + 70.0, right + LANE_OFFSET, right + LANE_OFFSET + wide[1]),
        ConeLane(start + 95.0, start + 125.0, right, right + wide[2]),
    )


def plan_lane_path(road: Road, lanes: tuple[ConeLane, ...], car: CarParams, share: float) -> Road:
    """Return the path of least curvature through the lanes, along the middle of the road elsewhere, as a Road.

    While any part of the car is in a lane, its distance from either row of cones is at least `share` of the middle's.

    Args:
        road: straight.
        lanes: as `iso_3888_1` returns.
        car: whose width and length must fit.
        share: 0..1; 1 is the middle of the lanes.
    """
    s = np.linspace(0.0, road.length, round(road.length / STATION_SPACING) + 1)
    half_width, reach = 0.5 * car.body.width, 0.5 * car.body.length
    bends = (s >= lanes[0].first - LEAD_DISTANCE) & (s <= lanes[-1].last + LEAD_DISTANCE)
    upper, lower = np.full(s.shape, FREE_WIDTH), np.full(s.shape, -FREE_WIDTH)
    for lane in lanes:
        inside = (s >= lane.first - reach) & (s <= lane.last + reach)
        keep = half_width + share * (0.5 * (lane.left - lane.right) - half_width)
        upper[inside], lower[inside] = lane.left - keep, lane.right + keep
    offset = np.zeros(s.shape)
    offset[bends] = _minimise_bending(lower[bends], upper[bends])
    offset = np.convolve(
        np.pad(offset, AVERAGING_POINTS, "edge"),
        np.full(2 * AVERAGING_POINTS + 1, 1.0 / (2 * AVERAGING_POINTS + 1)),
        "valid",
    )
    place = road.points(s, offset)
    px, py, path_yaw, curvature, spacing = resample_path(place[:, 0].copy(), place[:, 1].copy(), False, STATION_SPACING)
    across = road.locate_many(np.column_stack([px, py]))
    along = across[:, 0]
    return Road.from_columns(
        spacing, False, px, py, path_yaw, curvature,
        width_left=road.column_at(along, RoadColumn.WIDTH_LEFT) - across[:, 1],
        width_right=road.column_at(along, RoadColumn.WIDTH_RIGHT) + across[:, 1],
        runoff_left=road.column_at(along, RoadColumn.RUNOFF_LEFT),
        runoff_right=road.column_at(along, RoadColumn.RUNOFF_RIGHT),
        grip=road.column_at(along, RoadColumn.GRIP),
    )  # fmt: skip


def _minimise_bending(lower: Array, upper: Array) -> Array:
    """Return the offsets (n,) between `lower` and `upper`, evenly spaced, with the least squared second differences.

    On a straight these are the curvature, except for the path's small angle to the road. The path begins and ends along
    the road.
    """
    n = len(lower)
    for end in ([0, 1], [-1, -2]):
        lower[end], upper[end] = -END_TOLERANCE, END_TOLERANCE
    inner = np.ones(n)
    inner[[0, -1]] = 0.0  # no second difference at the ends
    d0 = np.roll(inner, 1) + 4.0 * inner + np.roll(inner, -1)
    d1 = -2.0 * (inner + np.roll(inner, -1))
    d2 = np.roll(inner, -1).copy()
    d1[-1], d2[-2:] = 0.0, 0.0
    start = np.clip(np.zeros(n), lower, upper)
    return solve_box_qp(CyclicMatrix(d0, d1, d2), np.zeros(n), Bounds(lower, upper), start, TOLERANCE)


def lane_clearances(lanes: tuple[ConeLane, ...], car: CarParams, s: Array, offset: Array, yaw: Array) -> Array:
    """Return, per lane, the least distance (m) of the car's outline from the cones; negative where it hits some.

    The outline is a rectangle about the middle of the wheelbase; where a side of it crosses a lane's end, the point
    where it does counts.

    Args:
        lanes: as `iso_3888_1` returns.
        car: of this width and length.
        s: (n,) m along the road, of the centre of mass.
        offset: (n,) m to the left.
        yaw: (n,) rad against the road.
    """
    body = car.body
    middle = 0.5 * (body.cg_to_front - body.cg_to_rear)  # of the wheelbase, ahead of the centre of mass
    along = middle + np.linspace(-0.5, 0.5, 41) * body.length
    room = np.full(len(lanes), math.inf)
    for side in (0.5, -0.5):
        across = side * body.width
        px = s[:, None] + along * np.cos(yaw)[:, None] - across * np.sin(yaw)[:, None]
        py = offset[:, None] + along * np.sin(yaw)[:, None] + across * np.cos(yaw)[:, None]
        for k, lane in enumerate(lanes):
            inside = (px >= lane.first) & (px <= lane.last)
            if inside.any():
                room[k] = min(room[k], float(np.minimum(lane.left - py, py - lane.right)[inside].min()))
    return room
