"""The road ahead of a car, in the axes of its body: curvature, edges and width at given distances."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trailbrake.kernels import jit
from trailbrake.tracks.frenet import RoadTable, bracket_rows, centreline_point, column_at
from trailbrake.tracks.road_columns import RoadColumn

Array = NDArray[np.float64]
Rows = NDArray[np.float64] | NDArray[np.float32]


class RoadPoses(NamedTuple):
    """Where cars are on a road.

    Attributes:
        s: (n,) along the centreline, m.
        offset: (n,) left of the centreline, m.
        heading: (n,) yaw of the car minus yaw of the road, rad.
    """

    s: Array
    offset: Array
    heading: Array


@jit
def write_road_preview(road: RoadTable, poses: RoadPoses, ahead: Array, out: Rows) -> None:
    """Write curvature, edges and width of the road ahead of n cars.

    Args:
        road: the road; an open road continues straight beyond its ends, as in `frenet.surface_point`.
        poses: of the cars.
        ahead: (m,) distances along the centreline, m; negative ones lie behind.
        out: (n, 6 m) written, C-contiguous: m curvatures (1/m, positive left), then m each of the left edge's x, its y,
            the right edge's x, its y (m; body frame, x forward, y left, origin at the car), and the width (m).
    """
    s, offset, heading = poses
    m = ahead.shape[0]
    for k in range(s.shape[0]):
        x, y, tx, ty = centreline_point(road, s[k])
        x -= offset[k] * ty
        y += offset[k] * tx
        turned = column_at(road, s[k], RoadColumn.YAW) + heading[k]
        c = math.cos(turned)
        sn = math.sin(turned)
        for i in range(m):
            there = s[k] + ahead[i]
            row, after, u = bracket_rows(road, there)
            v = 1.0 - u
            left = v * road.table[row, RoadColumn.WIDTH_LEFT] + u * road.table[after, RoadColumn.WIDTH_LEFT]
            right = v * road.table[row, RoadColumn.WIDTH_RIGHT] + u * road.table[after, RoadColumn.WIDTH_RIGHT]
            px, py, tx, ty = centreline_point(road, there)
            along, across = c * (px - x) + sn * (py - y), c * (py - y) - sn * (px - x)
            # The direction to the left of the road, in the body frame.
            nx, ny = sn * tx - c * ty, c * tx + sn * ty
            out[k, i] = v * road.table[row, RoadColumn.CURVATURE] + u * road.table[after, RoadColumn.CURVATURE]
            out[k, m + i] = along + left * nx
            out[k, 2 * m + i] = across + left * ny
            out[k, 3 * m + i] = along - right * nx
            out[k, 4 * m + i] = across - right * ny
            out[k, 5 * m + i] = left + right
