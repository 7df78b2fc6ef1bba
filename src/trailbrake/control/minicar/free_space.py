"""Free space between points that a car must not touch: free distances on lines and arcs, and the opening to take.

Frame: the middle of the rear axle, x forward, y left, m. Bearings in rad from straight ahead, positive to the left.

The dimensions of the small camera car, and its command: a wheel angle and one pedal.

A bicycle with a short wheelbase, the camera on its front bumper. Source: protocol page formula-trend, section 4.
"""

import math
from typing import Literal, NamedTuple

import numpy as np

from trailbrake.arrays import Array

Side = Literal["", "left", "right"]
DEEP_SHARE = 0.8  # share of the greatest depth from which an opening counts as deep
PASSAGE_DEPTH = 1.3, 0.75  # m, and share of the greatest depth: an opening as deep as the smaller of both continues
WHEELBASE = 0.2  # m
NOSE = 0.22  # m from rear axle to front bumper
HALF_WIDTH = 0.065  # m
LOCK = math.radians(40.0)  # wheel angle
STUCK_SPEED = 0.04  # m/s: a slower car counts as standing


def nearest_by_bearing(points: Array, bearings: Array) -> Array:
    """Return the nearest of `points` (n, 2) in each bin of evenly spaced `bearings`: (m, 2), m <= bins.

    They bound the free space as all points do, and cost less.
    """
    step = bearings[1] - bearings[0]
    index = np.round((np.arctan2(points[:, 1], points[:, 0]) - bearings[0]) / step).astype(np.int64)
    inside = (index >= 0) & (index < len(bearings))
    points, index = points[inside], index[inside]
    squares = points[:, 0] ** 2 + points[:, 1] ** 2
    least = np.full(len(bearings), np.inf)
    np.minimum.at(least, index, squares)
    chosen: Array = points[squares == least[index]]
    return chosen


def straight_free_distances(points: Array, bearings: Array, clearance: float, limit: float) -> Array:
    """Return how far (m, at most `limit`) a disc of radius `clearance` moves from the origin along each bearing.

    A point inside the disc at the start blocks the bearings towards it, and no others.
    """
    c, s = np.cos(bearings)[:, None], np.sin(bearings)[:, None]
    along = points[:, 0] * c + points[:, 1] * s
    across = points[:, 1] * c - points[:, 0] * s
    touched = (np.abs(across) < clearance) & (along > 0.0)
    stop = np.full(along.shape, limit)
    stop[touched] = along[touched] - np.sqrt(clearance**2 - across[touched] ** 2)  # only those: square roots cost most
    free: Array = np.clip(stop.min(axis=1, initial=limit), 0.0, limit)
    return free


def arc_free_distances(points: Array, curvatures: Array, half_width: float, nose: float, limit: float) -> Array:
    """Return how far (m of arc, at most `limit`) a car moves on circles of `curvatures` (1/m, positive to the left).

    The car is a strip `half_width` to both sides of its path, whose front reaches `nose` m ahead of the origin.
    """
    k = np.where(np.abs(curvatures) < 1e-6, 1e-6, curvatures)[:, None]
    radius = 1.0 / k
    to_centre = np.sqrt(points[:, 0] ** 2 + (points[:, 1] - radius) ** 2)
    touched = (np.abs(to_centre - np.abs(radius)) < half_width) & (points[:, 0] > nose - half_width)
    # The angle on the circle from the car to the point, in the direction of travel, 0..2 pi.
    circle, point = np.nonzero(touched)
    to_left = radius[circle, 0]
    angle = np.arctan2(points[point, 0], (to_left - points[point, 1]) * np.sign(to_left)) % (2.0 * math.pi)
    way = np.maximum(angle * np.abs(to_left) - nose, 0.0)
    # A point behind is reached last; a point beside the body is passed already.
    stop = np.full(touched.shape, limit)
    stop[circle, point] = np.where(angle < math.pi, way, limit)
    free: Array = np.minimum(stop.min(axis=1, initial=limit), limit)
    return free


def distances_near_walls(points: Array, curvatures: Array, arc_distances: Array, reach: float) -> Array:
    """Return, per circle of `curvatures` (1/m, positive to the left), how far (m) the car stays near known walls.

    That is the last of `ways` (m of arc, growing) up to which some of `points` (n, 2) is within `reach` (m) of it.
    """
    k = np.where(np.abs(curvatures) < 1e-6, 1e-6, curvatures)[:, None]
    x, y = np.sin(k * arc_distances) / k, (1.0 - np.cos(k * arc_distances)) / k
    squares = (x[..., None] - points[:, 0]) ** 2 + (y[..., None] - points[:, 1]) ** 2
    lost = squares.min(axis=-1, initial=np.inf) > reach**2
    first = np.where(lost.any(axis=1), lost.argmax(axis=1), len(arc_distances))
    near: Array = np.concatenate([[0.0], arc_distances])[first]
    return near


class BranchChoice(NamedTuple):
    """Which branch to take where the road divides.

    Attributes:
        side: the outermost opening on this side.
        required: even if it looks less deep than another, as it does round a bend.
    """

    side: Side = ""
    required: bool = False


ANY_BRANCH = BranchChoice()


def choose_bearing(bearings: Array, depths: Array, last_bearing: float, choice: BranchChoice = ANY_BRANCH) -> float:
    """Return the bearing to take.

    Args:
        bearings: evenly spaced, growing.
        depths: m, free distance along each.
        last_bearing: rad, the previous result; of equally deep openings the nearer to it wins.
        choice: which of several. Where they are not yet separate, a required side is the outermost deep bearing.
    """
    deepest = float(depths.max())
    if choice.side:
        metres, share = PASSAGE_DEPTH
        # The division may be near or far.
        passage = min(metres, share * deepest)
        for least in ([passage] if choice.required else []) + [DEEP_SHARE * deepest]:
            found = _find_openings(bearings, depths, least)
            if len(found) > 1:
                return found[-1 if choice.side == "left" else 0][0]
        if choice.required:
            return float(bearings[np.flatnonzero(depths >= passage)[-1 if choice.side == "left" else 0]])
    worths = [(depth / deepest - 0.3 * abs(middle - last_bearing), middle)
              for middle, depth in _find_openings(bearings, depths, DEEP_SHARE * deepest)]  # fmt: skip
    return max(worths)[1] if worths else 0.0


def _find_openings(bearings: Array, depths: Array, least: float) -> list[tuple[float, float]]:
    """Return the centre bearing, weighted by depth, and the greatest depth of each opening."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], depths >= least, [False]]).astype(np.int8)))
    found = []
    for first, end in zip(edges[::2], edges[1::2], strict=True):
        here = depths[first:end]
        deepest = float(here.max())
        if deepest > 0.0:
            weights = (here / deepest) ** 4
            found.append((float((weights * bearings[first:end]).sum() / weights.sum()), deepest))
    return found


class MinicarCommand(NamedTuple):
    """A wheel angle (rad, positive to the left) and a pedal: above 0 it drives, below 0 it brakes or reverses."""

    wheel_angle: float
    pedal: float
    reverse: bool


def pedals_from_command(command: MinicarCommand) -> tuple[float, float, float, int]:
    """Return steer (share of lock, positive to the left), throttle, brake (0..1) and gear of a command."""
    steer = command.wheel_angle / LOCK
    if command.reverse:
        return steer, -command.pedal, 0.0, -1
    return steer, max(command.pedal, 0.0), max(-command.pedal, 0.0), 1
