"""Where a car can go between points that it must not touch: free straight ways, and free arcs. Pure maths.

Frame: the middle of the rear axle, x forward, y left, m. Bearings in rad from straight ahead, positive to the left.
"""

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def nearest_by_bearing(points: Array, bearings: Array) -> Array:
    """Return of `points` (n, 2) the nearest one in each bin of evenly spaced `bearings`: (m, 2), m <= bins.

    A few hundred points say as much as all of them, and cost less.
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


def free_straight(points: Array, bearings: Array, clearance: float, limit: float) -> Array:
    """Return how far (m, at most `limit`) a disc of radius `clearance` gets from the origin along each bearing.

    A point that the disc covers already blocks the bearings that lead towards it, and no others.
    """
    c, s = np.cos(bearings)[:, None], np.sin(bearings)[:, None]
    along = points[:, 0] * c + points[:, 1] * s
    across = points[:, 1] * c - points[:, 0] * s
    touched = (np.abs(across) < clearance) & (along > 0.0)
    stop = np.full(along.shape, limit)
    stop[touched] = along[touched] - np.sqrt(clearance**2 - across[touched] ** 2)  # few are: roots cost most
    free: Array = np.clip(stop.min(axis=1, initial=limit), 0.0, limit)
    return free


def free_arc(points: Array, curvatures: Array, half_width: float, nose: float, limit: float) -> Array:
    """Return how far (m of arc, at most `limit`) a car gets on circles of `curvatures` (1/m, positive to the left).

    The car is a strip `half_width` to both sides of its path, whose front reaches `nose` m ahead of the origin.
    """
    k = np.where(np.abs(curvatures) < 1e-6, 1e-6, curvatures)[:, None]
    radius = 1.0 / k
    to_centre = np.sqrt(points[:, 0] ** 2 + (points[:, 1] - radius) ** 2)
    touched = (np.abs(to_centre - np.abs(radius)) < half_width) & (points[:, 0] > nose - half_width)
    # The angle on the circle from the car's place to the point, in the direction of travel, 0..2 pi.
    circle, point = np.nonzero(touched)
    to_left = radius[circle, 0]
    angle = np.arctan2(points[point, 0], (to_left - points[point, 1]) * np.sign(to_left)) % (2.0 * math.pi)
    way = np.maximum(angle * np.abs(to_left) - nose, 0.0)
    # What lies behind is reached last of all; what is beside the body is passed already.
    stop = np.full(touched.shape, limit)
    stop[circle, point] = np.where(angle < math.pi, way, limit)
    free: Array = np.minimum(stop.min(axis=1, initial=limit), limit)
    return free


def near_walls(points: Array, curvatures: Array, ways: Array, reach: float) -> Array:
    """Return, per circle of `curvatures` (1/m, positive to the left), how far (m) the car stays near known walls.

    That is the last of `ways` (m of arc, growing) up to which some of `points` (n, 2) is within `reach` (m) of it.
    """
    k = np.where(np.abs(curvatures) < 1e-6, 1e-6, curvatures)[:, None]
    x, y = np.sin(k * ways) / k, (1.0 - np.cos(k * ways)) / k
    squares = (x[..., None] - points[:, 0]) ** 2 + (y[..., None] - points[:, 1]) ** 2
    lost = squares.min(axis=-1, initial=np.inf) > reach**2
    first = np.where(lost.any(axis=1), lost.argmax(axis=1), len(ways))
    near: Array = np.concatenate([[0.0], ways])[first]
    return near
