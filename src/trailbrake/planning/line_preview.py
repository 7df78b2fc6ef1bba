"""The shape of a line ahead of a driver: all columns that it needs in one compiled call."""

from typing import NamedTuple

from trailbrake.kernels import jit
from trailbrake.tracks.frenet import RoadTable, bracket_rows, column_at
from trailbrake.tracks.road_columns import RoadColumn


class LinePreview(NamedTuple):
    """A line at one place.

    Attributes:
        yaw: rad, direction in the world.
        curvature: 1/m, positive left.
        climb: dz/ds.
        climb_rate: 1/m, d(climb)/ds.
        bank: rad, ISO 8855 roll.
    """

    yaw: float
    curvature: float
    climb: float
    climb_rate: float
    bank: float


@jit
def preview_line(line: RoadTable, s: float) -> tuple[float, float, float, float, float]:
    """Return the numbers of a `LinePreview` of a line at s (m)."""
    table = line.table
    i, j, u = bracket_rows(line, s)
    climb = table[i, RoadColumn.GRADE]
    change = table[j, RoadColumn.GRADE] - climb
    curvature = table[i, RoadColumn.CURVATURE] + u * (table[j, RoadColumn.CURVATURE] - table[i, RoadColumn.CURVATURE])
    bank = table[i, RoadColumn.BANK] + u * (table[j, RoadColumn.BANK] - table[i, RoadColumn.BANK])
    return column_at(line, s, RoadColumn.YAW), curvature, climb + u * change, change / line.spacing, bank
