"""Grids over the ground that name the nearest row of a road's table for every cell."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array
from trailbrake.kernels import jit


class CellGrid(NamedTuple):
    """Where the cells of a grid lie.

    Attributes:
        x, y: m, world, outer corner of cell (0, 0); cell (i, j) is the i-th along y and the j-th along x.
        cell: m, edge of a cell.
        reach: m, the distance from a row up to which it claims cells.
    """

    x: float
    y: float
    cell: float
    reach: float


@jit
def assign_nearest_rows(
    table: Array, grid: CellGrid, nearest: NDArray[np.signedinteger], best: NDArray[np.floating]
) -> None:
    """Write the number of the nearest row into each cell that a row reaches.

    Args:
        table: (n, 2 or more); its first two columns are x and y, m, world.
        grid: the cells.
        nearest: (ny, nx) written; cells beyond the reach of all rows keep their value.
        best: (ny, nx) scratch: `reach` squared (m^2) in every cell.
    """
    x0, y0, cell, band = grid
    reach = int(band / cell) + 1
    for k in range(table.shape[0]):
        x, y = table[k, 0] - x0, table[k, 1] - y0
        i0, j0 = int(y / cell), int(x / cell)
        for i in range(max(i0 - reach, 0), min(i0 + reach + 1, nearest.shape[0])):
            dy = (i + 0.5) * cell - y
            for j in range(max(j0 - reach, 0), min(j0 + reach + 1, nearest.shape[1])):
                dx = (j + 0.5) * cell - x
                gap = dx * dx + dy * dy
                if gap < best[i, j]:
                    best[i, j] = gap
                    nearest[i, j] = k
