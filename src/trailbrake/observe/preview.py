"""What lies ahead on the road, seen from the car: curvature, edges and width at given distances."""

import math

import numpy as np
from numpy.typing import NDArray

from trailbrake.kernels import jit
from trailbrake.tracks.columns import Column
from trailbrake.tracks.frenet import at, centre, span

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
        x, y, tx, ty = centre(table, spacing, closed, s[k])
        x -= offset[k] * ty
        y += offset[k] * tx
        turned = at(table, spacing, closed, s[k], Column.YAW) + heading[k]
        c = math.cos(turned)
        sn = math.sin(turned)
        for i in range(m):
            there = s[k] + ahead[i]
            row, after, u = span(table, spacing, closed, there)
            v = 1.0 - u
            left = v * table[row, Column.WIDTH_LEFT] + u * table[after, Column.WIDTH_LEFT]
            right = v * table[row, Column.WIDTH_RIGHT] + u * table[after, Column.WIDTH_RIGHT]
            px, py, tx, ty = centre(table, spacing, closed, there)
            along, across = c * (px - x) + sn * (py - y), c * (py - y) - sn * (px - x)
            # The direction to the left of the road, in the body frame.
            nx, ny = sn * tx - c * ty, c * tx + sn * ty
            out[k, i] = v * table[row, Column.CURVATURE] + u * table[after, Column.CURVATURE]
            out[k, m + i] = along + left * nx
            out[k, 2 * m + i] = across + left * ny
            out[k, 3 * m + i] = along - right * nx
            out[k, 4 * m + i] = across - right * ny
            out[k, 5 * m + i] = left + right
