"""The plan that `line_track` holds: speeds of a profile, and the attitude and limits of the car along it."""

import math
from typing import NamedTuple

import numpy as np

from trailbrake.arrays import Array
from trailbrake.cars.ggv_envelope import Envelope, running_resistance
from trailbrake.control.vehicle.line_tracking import SPEED_BELOW, PlanColumn, TrackingPlan
from trailbrake.kernels import internal_jit, jit
from trailbrake.planning.course import Course, path_shapes
from trailbrake.planning.handling import MIN_LIMIT, Handling, car_attitude, released_brake_share
from trailbrake.planning.speed_profile import (
    PathShape,
    interpolate_speed,
    interpolate_speed_share,
    lateral_demand,
    row_shape,
)
from trailbrake.tracks.frenet import RoadTable
from trailbrake.tracks.road import Road
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.units import G

BRAKE_SHARE = 0.7  # share of lateral grip in use above which the brake limit falls no further: see `fill_rows`
PULL_TOLERANCE = 0.04  # share of the engine's pull by which an acceleration that it limits may be planned below it, ...
LEAST_TOLERANCE = 0.05  # m/s^2, ... at least this


class PlanSources(NamedTuple):
    """What the rows of a plan are computed from.

    Attributes:
        line: the path, its GRIP column the friction that the speeds are planned with.
        speed: (n,) m/s, at the rows of the line.
        acceleration: (n,) m/s^2, from each row to the next.
        shapes: (n, 6) `PathShape` of the rows; the grip is that of the line.
        limits: envelope of the car.
        handling: of the car.
        drags: (SPEEDS,) N, running resistance at the envelope's speeds.
        mass: kg.
    """

    line: RoadTable
    speed: Array
    acceleration: Array
    shapes: Array
    limits: Envelope
    handling: Handling
    drags: Array
    mass: float


def collect_sources(course: Course, line: Road, planned: RoadTable, speed: Array, acceleration: Array) -> PlanSources:
    """Return the sources of a plan.

    Args:
        course: with the car.
        line: the path.
        planned: its table with the friction that the speeds are planned with.
        speed: (n,) m/s, at the rows of the line.
        acceleration: (n,) m/s^2, from each row to the next.
    """
    car, limits = course.known_car(), course.envelope
    drags = running_resistance(car, limits.speeds)
    return PlanSources(planned, speed, acceleration, path_shapes(line), limits, course.handling, drags, car.body.mass)


def build_tracking_plan(sources: PlanSources) -> TrackingPlan:
    """Return the plan of its sources."""
    rows = len(sources.speed)
    plan = TrackingPlan(sources.line, np.zeros((rows, len(PlanColumn))))
    fill_rows(plan.table, sources, 0, rows)
    return plan


@internal_jit
def _lateral_share(v: float, shape: PathShape, limits: Envelope) -> float:
    """Return the share of the lateral limit that a path takes at v (m/s)."""
    need, factor = lateral_demand(v, shape, limits)
    share: float = abs(need) / (factor * interpolate_speed(limits.lateral, limits.speeds, v))
    return share


@internal_jit
def _traction_limit(v: float, shape: PathShape, limits: Envelope) -> float:
    """Return the largest acceleration (m/s^2) that the tyres allow beside the cornering at v (m/s)."""
    limit = interpolate_speed_share(limits.traction, limits.speeds, v, _lateral_share(v, shape, limits))
    return limit * shape.grip if limit > 0.0 else limit


@jit
def fill_rows(table: Array, sources: PlanSources, first: int, count: int) -> None:
    """Fill in rows of a plan: speed, attitude and limits.

    The drive limit is that of the tyres: the engine keeps its own. Where the engine limits the planned acceleration,
    the throttle is to be open: a car that has lost speed in a shift would otherwise follow the plan at a part of its
    throttle and never reach it.

    Too fast in a bend the envelope leaves nothing; braking all the same makes the car run a little wide instead of a
    lot: the brake limit is that beside no more than BRAKE_SHARE of the lateral limit.

    Args:
        table: (n, len(PlanColumn)) out.
        sources: of the plan.
        first: row to begin with.
        count: how many; beyond the last row follows the first.
    """
    line, shapes, limits = sources.line, sources.shapes, sources.limits
    for k in range(count):
        i = (first + k) % len(table)
        v, a = sources.speed[i], sources.acceleration[i]
        here, grip = row_shape(shapes, i), line.table[i, RoadColumn.GRIP]
        shape = PathShape(here.curvature, here.climb, here.climb_rate, here.bank, grip, here.push)
        steer, sideslip, sideslip_rate = car_attitude(sources.handling, line, i * line.spacing, v, a)
        used = _lateral_share(v, shape, limits)
        brake = shape.grip * interpolate_speed_share(limits.brake, limits.speeds, v, min(used, BRAKE_SHARE))
        beside = shape.grip * interpolate_speed_share(limits.brake, limits.speeds, v, used)
        released = released_brake_share(sources.handling, v, used, min(max(-a, 0.0) / max(beside, MIN_LIMIT), 1.0))
        drive = _traction_limit(v, shape, limits)
        pull = interpolate_speed_share(limits.pull, limits.speeds, v, used) + shape.push
        needed = a + G * math.sin(math.atan(shape.climb))
        is_limited = pull < drive and needed > pull - max(PULL_TOLERANCE * pull, LEAST_TOLERANCE)
        hold = interpolate_speed(sources.drags, limits.speeds, v) + sources.mass * G * shape.climb
        table[i, PlanColumn.SPEED], table[i, PlanColumn.ACCELERATION] = v, a
        table[i, PlanColumn.STEER], table[i, PlanColumn.SIDESLIP] = steer, sideslip
        table[i, PlanColumn.YAW_RATE] = v * shape.curvature - sideslip_rate
        table[i, PlanColumn.DRIVE_LIMIT], table[i, PlanColumn.BRAKE_LIMIT] = drive, brake
        below = max(v - SPEED_BELOW, 0.0)
        table[i, PlanColumn.DRIVE_LIMIT_BELOW] = _traction_limit(below, shape, limits)
        table[i, PlanColumn.DRIVE_LIMIT_HALF] = _traction_limit(0.5 * below, shape, limits)
        table[i, PlanColumn.ENGINE_LIMITED] = 1.0 if is_limited else 0.0
        table[i, PlanColumn.LAUNCH_LIMIT] = _traction_limit(0.0, shape, limits)
        table[i, PlanColumn.RESISTANCE] = hold
        table[i, PlanColumn.BRAKE_RELEASED] = released
