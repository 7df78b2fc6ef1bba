"""The road's table once more, row by row as the world's look reads it: values and their changes to the next row.

One line of it is four cache lines next to each other and needs no division; the road's own table has two rows to
read, on which the same would have to be worked out for every car at every look.
"""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from trailbrake.tracks.columns import Column
from trailbrake.tracks.road import Road

Array = NDArray[np.float64]


MIN_SHRINK = 0.2  # of 1 - curvature * offset: nearer to the centre of a bend the road's frame has no meaning


class Strip(IntEnum):
    """Columns; names and units as in `tracks.columns.Column`. The column after a value holds its change per row."""

    X = 0  # the next eight: m, world, and unit vectors; no change per row
    Y = 1
    TANGENT_X = 2
    TANGENT_Y = 3
    TO_X = 4  # from here to the next row, m
    TO_Y = 5
    NEXT_TANGENT_X = 6  # of the next row
    NEXT_TANGENT_Y = 7
    CURVATURE = 8
    GRADE = 10
    BANK = 12
    Z = 14
    YAW = 16
    GRIP = 18
    LEFT = 20
    RIGHT = 22
    KERB_LEFT = 24
    KERB_RIGHT = 26
    WALL_LEFT = 28  # m from the centreline, of the nearest wall within a car's reach of the row and the next
    WALL_RIGHT = 29  # m
    COUNT = 32  # with two that hold nothing: lane code reads lines in whole vectors


def strip(road: Road, reach: float) -> Array:
    """Return the table (n, Strip.COUNT) of a road.

    Args:
        road: whose.
        reach: m; no corner of a car is further from its centre of mass.
    """

    def following(values: Array) -> Array:
        after: Array = np.append(values[1:], values[0] if road.closed else values[-1])
        return after

    table = np.zeros((len(road.table), Strip.COUNT))
    for place, column in (
        (Strip.X, Column.X), (Strip.Y, Column.Y), (Strip.TANGENT_X, Column.TANGENT_X),
        (Strip.TANGENT_Y, Column.TANGENT_Y),
    ):  # fmt: skip
        table[:, place] = road.column(column)
    for place, column in ((Strip.NEXT_TANGENT_X, Column.TANGENT_X), (Strip.NEXT_TANGENT_Y, Column.TANGENT_Y)):
        table[:, place] = following(road.column(column))
    for place, column in ((Strip.TO_X, Column.X), (Strip.TO_Y, Column.Y)):
        table[:, place] = following(road.column(column)) - road.column(column)
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
    curvature = road.column(Column.CURVATURE)
    for place, width, runoff, bend in (
        (Strip.WALL_LEFT, Column.WIDTH_LEFT, Column.RUNOFF_LEFT, curvature),
        (Strip.WALL_RIGHT, Column.WIDTH_RIGHT, Column.RUNOFF_RIGHT, -curvature),
    ):
        wall = road.column(width) + road.column(runoff)
        # Inside a bend the centreline is longer than what lies beside it.
        shrink = np.clip(1.0 - np.maximum(bend, following(bend)) * wall, MIN_SHRINK, 1.0)
        fars = np.ceil(reach / (road.spacing * shrink)).astype(int)
        for far in np.unique(fars):
            around = np.pad(wall, (far, far + 1), "wrap" if road.closed else "edge")
            least = np.lib.stride_tricks.sliding_window_view(around, 2 * far + 2).min(axis=1)
            table[fars == far, place] = least[fars == far]
    return table
