"""A road through measured points: open or a circuit, with heights where they are measured, and what was assumed."""

from typing import NamedTuple

import numpy as np

from trailbrake.arrays import Array
from trailbrake.tracks.centreline_smoothing import MeasuredLine, smooth_circuit, smooth_open_road
from trailbrake.tracks.geometry import cosine_average
from trailbrake.tracks.road import Road
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track import Track

HEIGHT_SMOOTHING = 60.0  # m along the road over which heights of GPS receivers are averaged
MAX_CLOSING_GAP = 60.0  # m from the last point to the first at which a line still counts as a circuit
SAME_POINT = 1.5  # m between two points that count as one
MOST_TURN = -0.9  # cosine of the turn at a point where a line that was drawn shut begins and ends
_END_POINTS = 3  # points between which the direction of an end is measured


class MeasuredPoints(NamedTuple):
    """Points along a road, in driving order.

    Attributes:
        line: their places (m, world) and distances to the edges.
        height: (n,) m; None: not known.
        closed: whether the last point is followed by the first.
        notes: what is known of them and what was assumed, one part of a sentence each.
    """

    line: MeasuredLine
    height: Array | None
    closed: bool
    notes: tuple[str, ...] = ()


def build_measured_track(points: MeasuredPoints, name: str, runoff: float, where: str) -> Track:
    """Return the track through points, `runoff` m from its edges to the wall; DataError as `smooth_circuit`."""
    smooth = smooth_circuit if points.closed else smooth_open_road
    road, report = smooth(points.line, runoff, where)
    if points.height is not None:
        set_heights(road, spread_along(road, points.line, points.height, HEIGHT_SMOOTHING))
    source = "; ".join([f"points from {where}", *points.notes])
    return Track(name, name, (road,), source=source, smoothing=report)


def spread_along(road: Road, line: MeasuredLine, values: Array, smoothing: float) -> Array:
    """Return the values of points (n,) at the rows of their road, averaged over `smoothing` m along it."""
    found = road.locate_many(np.column_stack([line.x, line.y]), 0)
    order = np.argsort(found[:, 0])
    period = road.length if road.closed else None
    even = np.interp(road.stations(), found[order, 0], values[order], period=period)
    return cosine_average(even, smoothing, road.spacing, road.closed)


def set_heights(road: Road, heights: Array) -> None:
    """Set the height (m) of the rows of a road, and its grade."""
    road.table[:, RoadColumn.Z] = heights
    if road.closed:
        road.table[:, RoadColumn.GRADE] = (np.roll(heights, -1) - np.roll(heights, 1)) / (2.0 * road.spacing)
    else:
        road.table[:, RoadColumn.GRADE] = np.gradient(heights, road.spacing)


def is_circuit(x: Array, y: Array) -> bool:
    """Return whether the end of a line is near its begin and leads on into it, or is the same point in a bend."""
    # Two ends of an open road may lie side by side, as at the foot of a pass: then they lead opposite ways.
    gap = float(np.hypot(x[-1] - x[0], y[-1] - y[0]))
    if gap > MAX_CLOSING_GAP:
        return False
    if gap < SAME_POINT:  # a line that was drawn shut; one that goes and returns the same way is open
        begin, end = complex(x[1] - x[0], y[1] - y[0]), complex(x[-1] - x[-2], y[-1] - y[-2])
        return bool((end * begin.conjugate()).real > MOST_TURN * abs(begin) * abs(end))
    first, last = (
        (x[_END_POINTS] - x[0], y[_END_POINTS] - y[0]),
        (x[-1] - x[-1 - _END_POINTS], y[-1] - y[-1 - _END_POINTS]),
    )
    return bool(first[0] * last[0] + first[1] * last[1] > 0.0)
