"""The edges of the road ahead of a car, in the axes of its body, at given distances."""

import math
from typing import NamedTuple

from trailbrake.arrays import Array, Rows
from trailbrake.kernels import exact_inline_jit, jit
from trailbrake.observe.features import Feature
from trailbrake.tracks.frenet import RoadTable, bracket_rows, centreline_point, column_at
from trailbrake.tracks.road_columns import RoadColumn


class BodyFrame(NamedTuple):
    """The axes of a car's body: origin x, y (m, world), cosine and sine of its yaw."""

    x: float
    y: float
    cos: float
    sin: float


@exact_inline_jit
def find_body_frame(road: RoadTable, s: float, offset: float, heading: float) -> BodyFrame:
    """Return the axes of a car at `s` (m) along a road, `offset` (m) left of it, turned by `heading` (rad) from it."""
    x, y, tx, ty = centreline_point(road, s)
    turned = column_at(road, s, RoadColumn.YAW) + heading
    return BodyFrame(x - offset * ty, y + offset * tx, math.cos(turned), math.sin(turned))


@exact_inline_jit
def find_edges(road: RoadTable, body: BodyFrame, s: float) -> tuple[float, float, float, float]:
    """Return the edges of the road at `s` (m): the left one's x, y, the right one's x, y (m, body)."""
    row, after, u = bracket_rows(road, s)
    v = 1.0 - u
    left = v * road.table[row, RoadColumn.WIDTH_LEFT] + u * road.table[after, RoadColumn.WIDTH_LEFT]
    right = v * road.table[row, RoadColumn.WIDTH_RIGHT] + u * road.table[after, RoadColumn.WIDTH_RIGHT]
    px, py, tx, ty = centreline_point(road, s)
    x, y, c, sn = body
    along, across = c * (px - x) + sn * (py - y), c * (py - y) - sn * (px - x)
    # The direction to the left of the road, in the body frame.
    nx, ny = sn * tx - c * ty, c * tx + sn * ty
    return along + left * nx, across + left * ny, along - right * nx, across - right * ny


class EdgesPreview(NamedTuple):
    """The part `EdgesPart` of an observation.

    Attributes:
        road: the road.
        ahead: (m,) distances along the centreline, m.
        scale: m.
        first_column: place of the first number in the observation.
        bound: greatest size of a number.
    """

    road: RoadTable
    ahead: Array
    scale: float
    first_column: int
    bound: float


@jit
def write_edges(features: Array, part: EdgesPreview, out: Rows, lo: int, hi: int) -> None:
    """Write the part `EdgesPart` of the cars `lo`..`hi` - 1.

    Args:
        features: (Feature.COUNT, n or more), all rows up to date.
        part: what to write.
        out: (n, width) written, `4 m` columns.
        lo: first car.
        hi: last car + 1.
    """
    road, ahead, scale, first, bound = part
    m = ahead.shape[0]
    for car in range(lo, hi):
        s = features[Feature.S, car]
        body = find_body_frame(road, s, features[Feature.OFFSET, car], features[Feature.HEADING, car])
        for i in range(m):
            left_x, left_y, right_x, right_y = find_edges(road, body, s + ahead[i])
            out[car, first + i] = min(max(left_x / scale, -bound), bound)
            out[car, first + m + i] = min(max(left_y / scale, -bound), bound)
            out[car, first + 2 * m + i] = min(max(right_x / scale, -bound), bound)
            out[car, first + 3 * m + i] = min(max(right_y / scale, -bound), bound)
