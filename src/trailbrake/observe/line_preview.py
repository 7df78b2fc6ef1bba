"""The planned line and speeds ahead of a car, in the axes of its body."""

import math

import numpy as np
from numpy.typing import NDArray

from trailbrake.kernels import jit
from trailbrake.observe.features import Feature
from trailbrake.observe.plan_preview import HEADING_SCALE, LEAST_SPEED, SPEED_SCALE, PlanPreview, write_line_error
from trailbrake.tracks.frenet import bracket_rows, centreline_point, column_at
from trailbrake.tracks.road_columns import RoadColumn

Array = NDArray[np.float64]
Rows = NDArray[np.float32]


@jit
def write_line_preview(features: Array, part: PlanPreview, out: Rows, lo: int, hi: int) -> None:
    """Write the part `LinePart` of the cars `lo`..`hi` - 1: see there for the numbers.

    Args:
        features: (Feature.COUNT, n or more), all rows up to date.
        part: what to write.
        out: (n, width) written, `2 + 2 m` columns.
        lo: first car.
        hi: last car + 1.
    """
    road, plan, ahead, first, bound = part
    for car in range(lo, hi):
        s, offset, turned = features[Feature.S, car], features[Feature.OFFSET, car], features[Feature.HEADING, car]
        speed = features[Feature.VELOCITY_X, car]
        write_line_error(features, part, out, car)
        x, y, tx, ty = centreline_point(road, s)
        x -= offset * ty
        y += offset * tx
        yaw = column_at(road, s, RoadColumn.YAW) + turned
        c, sn = math.cos(yaw), math.sin(yaw)
        reach = max(speed, LEAST_SPEED)
        for k in range(ahead.shape[0]):
            there = s + ahead[k] * reach
            i, j, u = bracket_rows(road, there)
            v = 1.0 - u
            aside = v * plan.offset[i] + u * plan.offset[j]
            px, py, tx, ty = centreline_point(road, there)
            px -= aside * ty + x
            py += aside * tx - y
            bearing = math.atan2(c * py - sn * px, c * px + sn * py)
            surplus = v * plan.speed[i] + u * plan.speed[j] - speed
            place = first + 2 + 2 * k
            out[car, place] = min(max(bearing / HEADING_SCALE, -bound), bound)
            out[car, place + 1] = min(max(surplus / SPEED_SCALE, -bound), bound)
