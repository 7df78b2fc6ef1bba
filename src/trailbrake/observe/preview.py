"""What lies ahead on the road, seen from the car: curvature, edges and width at given distances."""

import math

import numpy as np
from numpy.typing import NDArray

from trailbrake.kernels import jit
from trailbrake.tracks.columns import Column
from trailbrake.tracks.frenet import at, point

Array = NDArray[np.float64]
Rows = NDArray[np.float64] | NDArray[np.float32]


@jit
def preview(
    table: Array, spacing: float, closed: bool, s: Array, offset: Array, heading: Array, ahead: Array, out: Rows,
    lo: int, hi: int,
) -> None:  # fmt: skip
    """Write what lies ahead of the cars `lo`..`hi` - 1; releases the GIL, so ranges of cars may go to threads.

    Args:
        table: the road's table.
        spacing: m between its rows.
        closed: whether s wraps round; an open road goes on straight beyond its ends, as in `frenet.point`.
        s: (n,) of the cars along the road, m.
        offset: (n,) left of the centreline, m.
        heading: (n,) yaw of the car less that of the road, rad.
        ahead: (m,) distances along the centreline, m; negative ones lie behind.
        out: (n, 6 m) written, C-contiguous: m curvatures (1/m, positive to the left), then m each of the left edge's x,
            its y, the right edge's x, its y (m; body frame, x forward, y left, origin at the car), and the width (m).
        lo: first car.
        hi: one past the last.
    """
    m = ahead.shape[0]
    for k in range(lo, hi):
        x, y, _, road_yaw = point(table, spacing, closed, s[k], offset[k])
        c = math.cos(road_yaw + heading[k])
        sn = math.sin(road_yaw + heading[k])
        for i in range(m):
            there = s[k] + ahead[i]
            left = at(table, spacing, closed, there, Column.WIDTH_LEFT)
            right = at(table, spacing, closed, there, Column.WIDTH_RIGHT)
            px, py, _, _ = point(table, spacing, closed, there, left)
            qx, qy, _, _ = point(table, spacing, closed, there, -right)
            out[k, i] = at(table, spacing, closed, there, Column.CURVATURE)
            out[k, m + i] = c * (px - x) + sn * (py - y)
            out[k, 2 * m + i] = c * (py - y) - sn * (px - x)
            out[k, 3 * m + i] = c * (qx - x) + sn * (qy - y)
            out[k, 4 * m + i] = c * (qy - y) - sn * (qx - x)
            out[k, 5 * m + i] = left + right
