"""A road from two slow drives along its edges: for wires that supply places, and nothing of the road.

A person drives with the outer wheels on the line of the edge. Middle, width and bank follow from the two paths, which
are paired at right angles to the middle.
"""

import math

import numpy as np

from trailbrake.arrays import Array
from trailbrake.errors import DataError
from trailbrake.learning.road_survey import (
    CLOSING_DISTANCE,
    HALF_WIDTH_LIMITS,
    HEIGHT_SMOOTHING,
    KNOT_INTERVAL,
    MIN_LENGTH,
    PATH_STEP,
    ROW_SPACING,
    SMOOTHING,
    SurveyedRoad,
    find_grade,
    sample_rows,
    smooth_polynomial,
)
from trailbrake.planning.spline import resample_path
from trailbrake.tracks.road import Road

HALF_CAR = 0.8  # m from the middle of a car to the outer side of its wheels
PAIR_SHARE, PAIR_REACH = 0.06, 60.0  # of the road's length, and m: how far apart along both paths a pair may lie


def survey_edges(left: Array, right: Array, *, half_car: float = HALF_CAR, runoff: float = 2.5) -> SurveyedRoad:
    """Return the road between two drives in the same direction.

    Args:
        left: (n, 3) m, world, x, y and z along the left edge, in driving order.
        right: (m, 3) m, the same along the right edge.
        half_car: m from a drive to the edge beside it.
        runoff: m beyond the edges to a possible wall: unknown, so little is assumed.

    Raises:
        DataError: too short a drive, one that jumps, or drives that are no edges of one road.
    """
    (path_left, closed), (path_right, closed_right) = _resample_edge(left, "left"), _resample_edge(right, "right")
    if closed != closed_right:
        raise DataError("one drive goes round a circuit and the other does not", where="survey of the edges")
    if closed:
        start = int(np.argmin(np.linalg.norm(path_right[:, :2] - path_left[0, :2], axis=1)))
        path_right = np.roll(path_right, -start, axis=0)
    centre = path_left
    for _ in range(2):  # first at right angles to the left edge, then to the middle
        partner_left, partner_right = _pair_points(centre, path_left), _pair_points(centre, path_right)
        centre = 0.5 * (partner_left + partner_right)
        centre = np.column_stack([
            smooth_polynomial(centre[:, 0], SMOOTHING, 3), smooth_polynomial(centre[:, 1], SMOOTHING, 3),
            smooth_polynomial(centre[:, 2], HEIGHT_SMOOTHING, 2),
        ])  # fmt: skip
    across = partner_left - partner_right
    between = np.hypot(across[:, 0], across[:, 1])
    half = smooth_polynomial(0.5 * between + half_car, SMOOTHING, 1)
    usual = float(np.median(half))
    if not HALF_WIDTH_LIMITS[0] < usual < HALF_WIDTH_LIMITS[1]:
        raise DataError("the drives are no edges of one road", where="survey of the edges",
                        expected=f"{2.0 * HALF_WIDTH_LIMITS[0]:g} to {2.0 * HALF_WIDTH_LIMITS[1]:g} m between them",
                        got=f"{2.0 * usual:.1f} m")  # fmt: skip
    ahead = np.gradient(centre[:, 0]) + 1j * np.gradient(centre[:, 1])
    if float(np.mean(((across[:, 0] + 1j * across[:, 1]) * np.conj(1j * ahead)).real)) < 0.0:
        raise DataError("the left edge is on the right", where="survey of the edges",
                        hint="drive both in the same direction, and name them the other way round")  # fmt: skip
    bank = smooth_polynomial(np.arctan2(across[:, 2], np.maximum(between, 1.0)), HEIGHT_SMOOTHING, 2)
    knots = centre[::KNOT_INTERVAL]
    px, py, yaw, curvature, spacing = resample_path(knots[:, 0].copy(), knots[:, 1].copy(), closed, ROW_SPACING)
    rise, edge, bank = sample_rows(np.column_stack([centre[:, 2], half, bank]), centre[:, 0] + 1j * centre[:, 1],
                                   (len(px), spacing), closed=closed).T  # fmt: skip
    road = Road.from_columns(
        spacing, closed, px, py, yaw, curvature, z=rise, grade=find_grade(rise, spacing, closed=closed), bank=bank,
        width_left=edge, width_right=edge, runoff_left=runoff, runoff_right=runoff,
    )  # fmt: skip
    return SurveyedRoad(road, 1.0, usual)


def _resample_edge(places: Array, name: str) -> tuple[Array, bool]:
    """Return a drive at points PATH_STEP apart, once round where it is a circuit, and whether it is one."""
    where = f"{name} edge"
    points = places[np.isfinite(places).all(axis=1)]
    moved = np.linalg.norm(np.diff(points[:, :2], axis=0), axis=1) if len(points) else np.zeros(0)
    if len(moved) and moved.max() > CLOSING_DISTANCE:
        raise DataError("the drive jumps", where=where, expected="one drive along a road", got=f"{moved.max():.0f} m")
    points = points[np.concatenate([[True], moved > 0.01])] if len(points) else points
    s = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points[:, :2], axis=0), axis=1))])
    if s[-1] < MIN_LENGTH:
        raise DataError("too short a drive for a map", where=where, expected=f"{MIN_LENGTH:g} m", got=f"{s[-1]:.0f} m")
    at = np.arange(0.0, s[-1], PATH_STEP)
    path = np.column_stack([np.interp(at, s, points[:, k]) for k in range(3)])
    gap = np.linalg.norm(path[:, :2] - path[0, :2], axis=1)
    away = np.flatnonzero(gap > MIN_LENGTH / math.pi)
    if not len(away):
        return path, False
    back = np.flatnonzero(gap[away[0] :] < CLOSING_DISTANCE)
    if not len(back):
        return path, False
    first = away[0] + back[0]
    near = gap[first : first + int(3.0 * CLOSING_DISTANCE / PATH_STEP)]
    return path[: first + int(np.argmin(near))], True


def _pair_points(centre: Array, path: Array) -> Array:
    """Return the point of `path` (m, 3) nearest to each of `centre` (n, 3), near the same share of the way."""
    count, others = len(centre), len(path)
    reach = int(max(PAIR_SHARE * others, PAIR_REACH / PATH_STEP))
    window = np.arange(-reach, reach + 1)
    pairs = np.empty_like(centre)
    x, y = path[:, 0].copy(), path[:, 1].copy()
    for first in range(0, count, 256):
        rows = np.arange(first, min(first + 256, count))
        near = (rows * others // count)[:, None] + window
        near = near % others if _is_round(path) else np.clip(near, 0, others - 1)
        squares = (x[near] - centre[rows, None, 0]) ** 2 + (y[near] - centre[rows, None, 1]) ** 2
        pairs[rows] = path[near[np.arange(len(rows)), np.argmin(squares, axis=1)]]
    return pairs


def _is_round(path: Array) -> bool:
    return bool(np.linalg.norm(path[-1, :2] - path[0, :2]) < CLOSING_DISTANCE)
