"""`TrackRaster`: for every cell of the ground the nearest row of either half, and the projection to a half.

A track is two halves side by side, left and right, each with a table of rows (`world.miniature.track.HalfColumn`).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array
from trailbrake.kernels import exact_inline_jit, jit
from trailbrake.world.miniature.layout import HALF_WIDTH
from trailbrake.world.miniature.track import HalfColumn, MiniatureTrack
from trailbrake.world.nearest_rows import CellGrid, assign_nearest_rows

Shorts = NDArray[np.int16]

CELL = 0.025  # m
BAND = HALF_WIDTH + 0.1  # m beside a half's centre in which cells know their rows
OFF_TRACK_OFFSET = 9.0  # m, the offset of a place beside the road
_X, _Y, _COS, _SIN = int(HalfColumn.X), int(HalfColumn.Y), int(HalfColumn.COS), int(HalfColumn.SIN)
_CURVATURE, _S = int(HalfColumn.CURVATURE), int(HalfColumn.S)


class TrackRaster(NamedTuple):
    """A track as `locate_on_track` takes it.

    Attributes:
        left: (n, len(HalfColumn)) table of the left half.
        right: (m, len(HalfColumn)) table of the right half.
        nearest: (2, ny, nx) the nearest row of the left and the right half, -1 for none.
        origin: (2,) x, y of the outer corner of cell (0, 0), m, world.
    """

    left: Array
    right: Array
    nearest: Shorts
    origin: Array

    @classmethod
    def from_track(cls, track: MiniatureTrack) -> "TrackRaster":
        """Return the raster of a track."""
        left, right = (np.ascontiguousarray(half, np.float64) for half in track.halves)
        places = np.vstack([left[:, :2], right[:, :2]])
        origin = places.min(axis=0) - BAND - 2.0 * CELL
        nx, ny = np.ceil((places.max(axis=0) + BAND + 2.0 * CELL - origin) / CELL).astype(np.int64).tolist()
        nearest = np.full((2, ny, nx), -1, np.int16)
        best = np.empty((ny, nx), np.float32)
        for half, table in enumerate((left, right)):
            best[:] = BAND * BAND
            assign_nearest_rows(table, CellGrid(float(origin[0]), float(origin[1]), CELL, BAND), nearest[half], best)
        return cls(left, right, nearest, origin)


@exact_inline_jit
def project_to_half(table: Array, k: int, x: float, y: float) -> tuple[float, float]:
    """Return s and offset (m, positive left) of (x, y) (m, world) on the half `table`, whose row `k` is near.

    The row's tangent and curvature suffice: rows are so close that the next term is below a micrometre.
    """
    dx, dy = x - table[k, _X], y - table[k, _Y]
    along = dx * table[k, _COS] + dy * table[k, _SIN]
    aside = dy * table[k, _COS] - dx * table[k, _SIN]
    bend = table[k, _CURVATURE]
    along /= 1.0 - bend * aside
    return table[k, _S] + along, aside - 0.5 * bend * along * along * (1.0 - bend * aside)


@jit
def locate_on_track(raster: TrackRaster, x: float, y: float) -> tuple[int, int, float, float]:
    """Return half (0 left, 1 right, -1 neither), nearest row, s (m) and offset (m) in that half of (x, y) (m, world).

    Where both halves are near, the result is the half whose lanes contain the place.
    """
    left, right, nearest, origin = raster
    j, i = int((x - origin[0]) / CELL), int((y - origin[1]) / CELL)
    if not (0 <= i < nearest.shape[1] and 0 <= j < nearest.shape[2]) or x < origin[0] or y < origin[1]:
        return -1, 0, 0.0, OFF_TRACK_OFFSET
    k = nearest[0, i, j]
    other = nearest[1, i, j]
    if k >= 0:
        s, offset = project_to_half(left, k, x, y)
        if other < 0 or offset >= -HALF_WIDTH:
            return 0, k, s, offset
        beyond = -HALF_WIDTH - offset
        s_right, offset_right = project_to_half(right, other, x, y)
        if offset_right <= HALF_WIDTH or offset_right - HALF_WIDTH <= beyond:
            return 1, other, s_right, offset_right
        return 0, k, s, offset
    if other >= 0:
        s, offset = project_to_half(right, other, x, y)
        return 1, other, s, offset
    return -1, 0, 0.0, OFF_TRACK_OFFSET
