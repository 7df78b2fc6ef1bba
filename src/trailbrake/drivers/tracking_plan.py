"""The plan that `line_track` holds: speeds of a profile, and the attitude and limits of the car along it."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trailbrake.control.vehicle.line_tracking import PlanColumn, TrackingPlan
from trailbrake.kernels import jit
from trailbrake.planning.course import Course, path_shapes
from trailbrake.planning.envelope import Envelope, running_resistance
from trailbrake.planning.handling import Handling, car_attitude
from trailbrake.planning.speed_profile import PathShape, interpolate_speed, remaining_accelerations
from trailbrake.tracks.frenet import RoadTable
from trailbrake.tracks.road import Road
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.units import G

Array = NDArray[np.float64]

BRAKE_SHARE = 0.7  # share of lateral grip in use above which the brake limit falls no further: see `fill_rows`


class PlanSources(NamedTuple):
    """What the rows of a plan are computed from.

    Attributes:
        line: the path, its GRIP column the friction that the speeds are planned with.
        speed: (n,) m/s, at the rows of the line.
        acceleration: (n,) m/s^2, from each row to the next.
        shapes: (n, 5) `PathShape` of the rows; the grip is that of the line.
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


@jit
def fill_rows(table: Array, sources: PlanSources, first: int, count: int) -> None:
    """Fill in rows of a plan: speed, attitude and limits.

    Too fast in a bend the envelope leaves nothing; braking all the same makes the car run a little wide instead of a
    lot: the brake limit is that beside no more than BRAKE_SHARE of the lateral limit.

    Args:
        table: (n, len(PlanColumn)) out.
        sources: of the plan.
        first: row to begin with.
        count: how many; beyond the last row follows the first.
    """
    line, shapes = sources.line, sources.shapes
    for k in range(count):
        i = (first + k) % len(table)
        v, a = sources.speed[i], sources.acceleration[i]
        shape = PathShape(shapes[i, 0], shapes[i, 1], shapes[i, 2], shapes[i, 3], line.table[i, RoadColumn.GRIP])
        steer, sideslip, sideslip_rate = car_attitude(sources.handling, line, i * line.spacing, v, a)
        drive, brake = remaining_accelerations(v, shape, sources.limits, BRAKE_SHARE)
        hold = interpolate_speed(sources.drags, sources.limits.speeds, v) + sources.mass * G * shape.climb
        table[i, PlanColumn.SPEED], table[i, PlanColumn.ACCELERATION] = v, a
        table[i, PlanColumn.STEER], table[i, PlanColumn.SIDESLIP] = steer, sideslip
        table[i, PlanColumn.YAW_RATE] = v * shape.curvature - sideslip_rate
        table[i, PlanColumn.DRIVE_LIMIT], table[i, PlanColumn.BRAKE_LIMIT] = drive, brake
        table[i, PlanColumn.RESISTANCE] = hold
