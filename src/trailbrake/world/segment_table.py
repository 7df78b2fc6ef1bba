"""The road's table for vector code: one line per row with its values and their changes to the next row.

One line of it is four cache lines next to each other and needs no division; the road's own table has two rows to
read, from which each car would compute the same in every outer step.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trailbrake.tracks.road import Road
from trailbrake.tracks.road_columns import RoadColumn

Array = NDArray[np.float64]


MIN_SHRINK = 0.2  # of 1 - curvature * offset: nearer to the centre of a bend the road's frame has no meaning


class SegmentColumn(IntEnum):
    """Columns, named as in `tracks.road_columns.RoadColumn`. The column after a value holds its change per row."""

    X = 0  # the next eight: m, world, and unit vectors; no change per row
    Y = 1
    TANGENT_X = 2
    TANGENT_Y = 3
    DELTA_X = 4  # from here to the next row, m
    DELTA_Y = 5
    NEXT_TANGENT_X = 6  # of the next row
    NEXT_TANGENT_Y = 7
    CURVATURE = 8
    GRADE = 10
    BANK = 12
    Z = 14
    YAW = 16
    GRIP = 18  # left of the centreline
    WIDTH_LEFT = 20
    WIDTH_RIGHT = 22
    KERB_LEFT = 24
    KERB_RIGHT = 26
    WALL_LEFT = 28  # m from the centreline, of the nearest wall within a car's reach of the row and the next
    WALL_RIGHT = 29  # m
    GRIP_RIGHT = 30
    COUNT = 32


GRIP_COLUMNS = [SegmentColumn.GRIP, SegmentColumn.GRIP + 1, SegmentColumn.GRIP_RIGHT, SegmentColumn.GRIP_RIGHT + 1]


class GripPatch(NamedTuple):
    """A stretch of road with other grip: a wet or dirty patch, or sides that differ.

    Attributes:
        begin: m along the centreline.
        length: m from there; 0: there is none.
        left: factor on the grip of the road and its kerb left of the centreline.
        right: the same right of it.
    """

    begin: float = 0.0
    length: float = 0.0
    left: float = 1.0
    right: float = 1.0


NO_PATCH = GripPatch()


def build_segment_table(road: Road, reach: float, patch: GripPatch = NO_PATCH) -> Array:
    """Return the table (n, SegmentColumn.COUNT) of a road.

    Args:
        road: whose.
        reach: m; no corner of a car is further from its centre of mass.
        patch: of the road, which its own grip does not contain.
    """

    def following(values: Array) -> Array:
        after: Array = np.append(values[1:], values[0] if road.closed else values[-1])
        return after

    table = np.zeros((len(road.table), SegmentColumn.COUNT))
    for place, column in (
        (SegmentColumn.X, RoadColumn.X),
        (SegmentColumn.Y, RoadColumn.Y),
        (SegmentColumn.TANGENT_X, RoadColumn.TANGENT_X),
        (SegmentColumn.TANGENT_Y, RoadColumn.TANGENT_Y),
    ):
        table[:, place] = road.column(column)
    for place, column in (
        (SegmentColumn.NEXT_TANGENT_X, RoadColumn.TANGENT_X),
        (SegmentColumn.NEXT_TANGENT_Y, RoadColumn.TANGENT_Y),
    ):
        table[:, place] = following(road.column(column))
    for place, column in ((SegmentColumn.DELTA_X, RoadColumn.X), (SegmentColumn.DELTA_Y, RoadColumn.Y)):
        table[:, place] = following(road.column(column)) - road.column(column)
    beyond = road.spacing * np.arange(len(table)) - patch.begin
    in_patch = ((beyond % road.length if road.closed else beyond) < patch.length) & (road.closed | (beyond >= 0.0))
    factors = {SegmentColumn.GRIP: patch.left, SegmentColumn.GRIP_RIGHT: patch.right}
    for place, column in (
        (SegmentColumn.CURVATURE, RoadColumn.CURVATURE),
        (SegmentColumn.GRADE, RoadColumn.GRADE),
        (SegmentColumn.BANK, RoadColumn.BANK),
        (SegmentColumn.Z, RoadColumn.Z),
        (SegmentColumn.YAW, RoadColumn.YAW),
        (SegmentColumn.GRIP, RoadColumn.GRIP),
        (SegmentColumn.GRIP_RIGHT, RoadColumn.GRIP),
        (SegmentColumn.WIDTH_LEFT, RoadColumn.WIDTH_LEFT),
        (SegmentColumn.WIDTH_RIGHT, RoadColumn.WIDTH_RIGHT),
        (SegmentColumn.KERB_LEFT, RoadColumn.KERB_LEFT),
        (SegmentColumn.KERB_RIGHT, RoadColumn.KERB_RIGHT),
    ):
        values = road.column(column)
        if place in factors:
            values = np.where(in_patch, factors[place] * values, values)
        table[:, place] = values
        change = following(values) - values
        if place == SegmentColumn.YAW:
            change -= 2.0 * np.pi * np.floor(change / (2.0 * np.pi) + 0.5)
        table[:, place + 1] = change
    curvature = road.column(RoadColumn.CURVATURE)
    for place, width, runoff, bend in (
        (SegmentColumn.WALL_LEFT, RoadColumn.WIDTH_LEFT, RoadColumn.RUNOFF_LEFT, curvature),
        (SegmentColumn.WALL_RIGHT, RoadColumn.WIDTH_RIGHT, RoadColumn.RUNOFF_RIGHT, -curvature),
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
