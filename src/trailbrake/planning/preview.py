"""What lies ahead on a line, for a driver: all columns it needs in one compiled lookup."""

import numpy as np
from numpy.typing import NDArray

from trailbrake.kernels import jit
from trailbrake.tracks.columns import Column
from trailbrake.tracks.frenet import at, span

Array = NDArray[np.float64]


@jit
def preview(table: Array, spacing: float, closed: bool, s: float) -> tuple[float, float, float, float, float]:
    """Return yaw (rad), curvature (1/m), climb (dz/ds), d(climb)/ds (1/m) and bank (rad) of a line at s (m)."""
    i, j, u = span(table, spacing, closed, s)
    climb = table[i, Column.GRADE]
    change = table[j, Column.GRADE] - climb
    curvature = table[i, Column.CURVATURE] + u * (table[j, Column.CURVATURE] - table[i, Column.CURVATURE])
    bank = table[i, Column.BANK] + u * (table[j, Column.BANK] - table[i, Column.BANK])
    return at(table, spacing, closed, s, Column.YAW), curvature, climb + u * change, change / spacing, bank
