"""The planned line and speeds ahead of a car: relative to its place and speed, or in the axes of its body."""

import math
from typing import NamedTuple

from trailbrake.arrays import Array, Rows
from trailbrake.kernels import internal_jit, jit
from trailbrake.observe.features import Feature
from trailbrake.observe.parts import NUMBERS_AHEAD
from trailbrake.tracks.frenet import RoadTable, bracket_rows, centreline_point, column_at
from trailbrake.tracks.road import RoadPlan
from trailbrake.tracks.road_columns import RoadColumn

LEAST_SPEED = 10.0  # m/s, of a car that looks ahead by time: a standing car sees something too
OFFSET_SCALE, HEADING_SCALE, CURVATURE_SCALE, SPEED_SCALE = 3.0, 0.2, 0.05, 10.0  # m, rad, 1/m, m/s


class PlanPreview(NamedTuple):
    """The part `PlanPart` of an observation on a road.

    Attributes:
        road: the road.
        plan: at the rows of the road.
        ahead: (m,) s, times ahead at the car's speed.
        first_column: place of the first number in the observation.
        bound: greatest size of a number.
    """

    road: RoadTable
    plan: RoadPlan
    ahead: Array
    first_column: int
    bound: float


@internal_jit
def write_line_error(features: Array, part: PlanPreview, out: Rows, car: int) -> None:
    """Write the first two numbers of a plan's part: how far the line is to the left of the car, and its direction."""
    road, plan, _, first, bound = part
    i, j, u = bracket_rows(road, features[Feature.S, car])
    lateral = (1.0 - u) * plan.offset[i] + u * plan.offset[j] - features[Feature.OFFSET, car]
    # Lines cross the road at small angles, so their headings need no wrapping between rows.
    heading = (1.0 - u) * plan.heading[i] + u * plan.heading[j] - features[Feature.HEADING, car]
    heading -= 2.0 * math.pi * math.floor(heading / (2.0 * math.pi) + 0.5)
    out[car, first] = min(max(lateral / OFFSET_SCALE, -bound), bound)
    out[car, first + 1] = min(max(heading / HEADING_SCALE, -bound), bound)


@jit
def write_plan_preview(features: Array, part: PlanPreview, out: Rows, lo: int, hi: int) -> None:
    """Write the part `PlanPart` of the cars `lo`..`hi` - 1: see there for the numbers.

    Args:
        features: (Feature.COUNT, n or more), all rows up to date.
        part: what to write.
        out: (n, width) written, `2 + 3 m` columns.
        lo: first car.
        hi: last car + 1.
    """
    road, plan, ahead, first, bound = part
    for car in range(lo, hi):
        s, offset = features[Feature.S, car], features[Feature.OFFSET, car]
        speed = features[Feature.VELOCITY_X, car]
        write_line_error(features, part, out, car)
        reach = max(speed, LEAST_SPEED)
        for k in range(ahead.shape[0]):
            i, j, u = bracket_rows(road, s + ahead[k] * reach)
            v = 1.0 - u
            place = first + 2 + NUMBERS_AHEAD * k
            across = v * plan.offset[i] + u * plan.offset[j] - offset
            bend = v * plan.curvature[i] + u * plan.curvature[j]
            surplus = v * plan.speed[i] + u * plan.speed[j] - speed
            out[car, place] = min(max(across / OFFSET_SCALE, -bound), bound)
            out[car, place + 1] = min(max(bend / CURVATURE_SCALE, -bound), bound)
            out[car, place + 2] = min(max(surplus / SPEED_SCALE, -bound), bound)


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
