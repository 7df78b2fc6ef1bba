"""Where on which half a place is: for every cell of the ground the nearest row of either half, and the exact foot."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trailbrake.kernels import jit, part
from trailbrake.tracks.miniature.layout import HALF_WIDTH
from trailbrake.tracks.miniature.track import MiniatureTrack, Row

Array = NDArray[np.float64]
Shorts = NDArray[np.int16]

CELL = 0.025  # m
BAND = HALF_WIDTH + 0.1  # m beside a half's centre that are known
NOWHERE = 9.0  # m, the offset of a place beside the road
_X, _Y, _COS, _SIN = int(Row.X), int(Row.Y), int(Row.COS), int(Row.SIN)
_CURVATURE, _S, _MAIN = int(Row.CURVATURE), int(Row.S), int(Row.MAIN)


@dataclass(frozen=True, eq=False)
class Ground:
    """What `foot` needs to know of a track.

    Attributes:
        left: the left half's table (n, len(Row)).
        right: the right half's.
        near: (2, ny, nx) the nearest row of the left and the right half, -1 where there is none.
        corner: (2,) x, y of the outer corner of cell (0, 0), m.
    """

    left: Array
    right: Array
    near: Shorts
    corner: Array

    @classmethod
    def of(cls, track: MiniatureTrack) -> "Ground":
        """Return the ground of a track."""
        left, right = track.halves
        places = np.vstack([left[:, :2], right[:, :2]])
        corner = places.min(axis=0) - BAND - 2.0 * CELL
        nx, ny = np.ceil((places.max(axis=0) + BAND + 2.0 * CELL - corner) / CELL).astype(np.int64).tolist()
        near = np.full((2, ny, nx), -1, np.int16)
        best = np.empty((ny, nx), np.float32)
        for half, table in enumerate((left, right)):
            best[:] = BAND * BAND
            _spread(table, corner, near[half], best)
        return cls(left, right, near, corner)


@jit
def _spread(table: Array, corner: Array, near: Shorts, best: NDArray[np.float32]) -> None:
    # Each row claims the cells around it to which no other is nearer.
    reach = int(BAND / CELL) + 1
    for k in range(table.shape[0]):
        x, y = table[k, _X] - corner[0], table[k, _Y] - corner[1]
        i0, j0 = int(y / CELL), int(x / CELL)
        for i in range(max(i0 - reach, 0), min(i0 + reach + 1, near.shape[0])):
            dy = (i + 0.5) * CELL - y
            for j in range(max(j0 - reach, 0), min(j0 + reach + 1, near.shape[1])):
                dx = (j + 0.5) * CELL - x
                gap = dx * dx + dy * dy
                if gap < best[i, j]:
                    best[i, j] = gap
                    near[i, j] = k


@part
def on_half(table: Array, k: int, x: float, y: float) -> tuple[float, float]:
    """Return s and offset (m) of (x, y) on a half whose row `k` is near.

    The row's tangent and curvature are enough: rows are so near that the next term is below a micrometre.
    """
    dx, dy = x - table[k, _X], y - table[k, _Y]
    along = dx * table[k, _COS] + dy * table[k, _SIN]
    aside = dy * table[k, _COS] - dx * table[k, _SIN]
    bend = table[k, _CURVATURE]
    along /= 1.0 - bend * aside
    return table[k, _S] + along, aside - 0.5 * bend * along * along * (1.0 - bend * aside)


@jit
def foot(left: Array, right: Array, near: Shorts, corner: Array, x: float, y: float) -> tuple[int, int, float, float]:
    """Return where (x, y) is: half (0 left, 1 right, -1 neither), its nearest row, s along it, offset in the half (m).

    Of two halves that both are near, the one in whose lanes the place is.
    """
    j, i = int((x - corner[0]) / CELL), int((y - corner[1]) / CELL)
    if not (0 <= i < near.shape[1] and 0 <= j < near.shape[2]) or x < corner[0] or y < corner[1]:
        return -1, 0, 0.0, NOWHERE
    k = near[0, i, j]
    other = near[1, i, j]
    if k >= 0:
        s, offset = on_half(left, k, x, y)
        if other < 0 or offset >= -HALF_WIDTH:
            return 0, k, s, offset
        beyond = -HALF_WIDTH - offset
        s_right, offset_right = on_half(right, other, x, y)
        if offset_right <= HALF_WIDTH or offset_right - HALF_WIDTH <= beyond:
            return 1, other, s_right, offset_right
        return 0, k, s, offset
    if other >= 0:
        s, offset = on_half(right, other, x, y)
        return 1, other, s, offset
    return -1, 0, 0.0, NOWHERE
