"""The road's table once more, row by row as the world's look reads it: values and their changes to the next row.

One line of it is three cache lines next to each other and needs no division; the road's own table has two rows to
read, on which the same would have to be worked out for every car at every look.
"""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from trailbrake.tracks.columns import Column
from trailbrake.tracks.road import Road

Array = NDArray[np.float64]


class Strip(IntEnum):
    """Columns; names and units as in `tracks.columns.Column`. The column after a value holds its change per row."""

    CURVATURE = 0
    GRADE = 2
    BANK = 4
    Z = 6
    YAW = 8
    GRIP = 10
    LEFT = 12
    RIGHT = 14
    KERB_LEFT = 16
    KERB_RIGHT = 18
    WALL_LEFT = 20  # m, the nearer of both rows' walls, from the centreline
    WALL_RIGHT = 21  # m
    COUNT = 22


def strip(road: Road) -> Array:
    """Return the table (n, Strip.COUNT) of a road."""

    def following(values: Array) -> Array:
        after: Array = np.append(values[1:], values[0] if road.closed else values[-1])
        return after

    table = np.empty((len(road.table), Strip.COUNT))
    for place, column in (
        (Strip.CURVATURE, Column.CURVATURE), (Strip.GRADE, Column.GRADE), (Strip.BANK, Column.BANK),
        (Strip.Z, Column.Z), (Strip.YAW, Column.YAW), (Strip.GRIP, Column.GRIP), (Strip.LEFT, Column.WIDTH_LEFT),
        (Strip.RIGHT, Column.WIDTH_RIGHT), (Strip.KERB_LEFT, Column.KERB_LEFT),
        (Strip.KERB_RIGHT, Column.KERB_RIGHT),
    ):  # fmt: skip
        values = road.column(column)
        table[:, place] = values
        change = following(values) - values
        if place == Strip.YAW:
            change -= 2.0 * np.pi * np.floor(change / (2.0 * np.pi) + 0.5)
        table[:, place + 1] = change
    for place, width, runoff in (
        (Strip.WALL_LEFT, Column.WIDTH_LEFT, Column.RUNOFF_LEFT),
        (Strip.WALL_RIGHT, Column.WIDTH_RIGHT, Column.RUNOFF_RIGHT),
    ):
        wall = road.column(width) + road.column(runoff)
        table[:, place] = np.minimum(wall, following(wall))
    return table
