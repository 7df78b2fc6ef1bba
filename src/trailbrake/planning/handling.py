"""Steady-state attitude of a car in a bend: slip angles of its axles by speed, cornering and pedals, and its steering.

A bend takes a steer angle L k + front slip - rear slip and a sideslip of l_r k - rear slip (Milliken and Milliken, Race
Car Vehicle Dynamics, 1995, chapter 5; L wheelbase, k curvature, l_r centre of mass to rear axle). Two effects are added
to steady cornering. Braking loads the front wheels and unloads the rear ones, whose slip then grows for the same bend,
and more with brake torque on them. A change of curvature needs a yaw acceleration, for which the front axle gives less
side force and the rear more while the car straightens. A driver without these feed-forward terms reacts late.
"""

import math
from typing import NamedTuple

import numpy as np

from trailbrake.arrays import Array
from trailbrake.cars.axle_forces import (
    PlanningCar,
    held_brake_forces,
    planning_car,
    required_brake_pedal,
    required_slip_angle,
    wheel_loads,
)
from trailbrake.cars.ggv_envelope import Envelope, running_resistance
from trailbrake.cars.params import CarParams
from trailbrake.kernels import internal_jit, jit
from trailbrake.planning.speed_profile import PathShape, interpolate_speed, interpolate_speed_share, lateral_demand
from trailbrake.tracks.frenet import RoadTable, bracket_rows, column_at
from trailbrake.tracks.road_columns import RoadColumn

PEDAL_USES = 13  # grid points over the use of the pedals: -1 all braking beside the bend, 0 none, 1 all drive
TIME_STEP = 0.05  # s, ahead and behind: the interval of the path's rates of change
MIN_LIMIT = 0.1  # m/s^2: the limits are taken as at least this, so that the use of the pedals stays finite


class Handling(NamedTuple):
    """Slip angles of a car's axles within its envelope.

    Attributes:
        limits: the envelope.
        slip_front: (USES, SPEEDS, SHARES) rad, >= 0, of the front axle in steady cornering, by use of the pedals, speed
            and share of the lateral acceleration.
        slip_rear: (USES, SPEEDS, SHARES) rad, of the rear axle.
        brake_released: (USES, SPEEDS, SHARES) share of the brakes' force that anti-lock brakes release.
        arm_front: m, lateral acceleration (m/s^2) that the front axle gives on top of the path's, per yaw acceleration
            (rad/s^2): yaw inertia over mass and over the distance of the other axle.
        arm_rear: m, lateral acceleration that the rear axle gives less.
        wheelbase: m.
        to_rear: m, from the centre of mass to the rear axle.
    """

    limits: Envelope
    slip_front: Array
    slip_rear: Array
    brake_released: Array
    arm_front: float
    arm_rear: float
    wheelbase: float
    to_rear: float


class PathMotion(NamedTuple):
    """The motion of a car along a line.

    Attributes:
        s: m, along the line.
        speed: m/s.
        acceleration: m/s^2, along the path.
        yaw_acceleration: rad/s^2.
    """

    s: float
    speed: float
    acceleration: float
    yaw_acceleration: float


def compute_handling(car: CarParams, limits: Envelope) -> Handling:
    """Return the slip tables of `car` within its envelope `limits`."""
    body, shape = car.body, (PEDAL_USES, *limits.drive.shape)
    inertia = body.yaw_inertia / body.mass
    handling = Handling(
        limits=limits,
        slip_front=np.empty(shape),
        slip_rear=np.empty(shape),
        brake_released=np.empty(shape),
        arm_front=inertia / body.cg_to_rear,
        arm_rear=inertia / body.cg_to_front,
        wheelbase=body.wheelbase,
        to_rear=body.cg_to_rear,
    )
    _fill_slip_tables(handling, planning_car(car), running_resistance(car, limits.speeds))
    return handling


@jit
def _fill_slip_tables(handling: Handling, car: PlanningCar, drags: Array) -> None:
    """Fill the slip tables of `handling`; `drags` is (SPEEDS,) N."""
    uses, n, m = handling.slip_front.shape
    limits, mass, base, to_front = handling.limits, car.body.mass, car.body.wheelbase, car.body.cg_to_front
    for k in range(uses):
        use = 2.0 * k / (uses - 1.0) - 1.0
        for i in range(n):
            v = limits.speeds[i]
            for j in range(m):
                ay = limits.lateral[i] * j / (m - 1.0)
                ax = use * max(limits.drive[i, j] if use > 0.0 else limits.brake[i, j], MIN_LIMIT)
                fl, fr, rl, rr = wheel_loads(ax, ay, v, car.body)
                force = mass * ax + drags[i]
                share = car.drive_front if force > 0.0 else car.brake_front
                side_front, side_rear = mass * ay * (base - to_front) / base, mass * ay * to_front / base
                front, rear = force * share, force * (1.0 - share)
                handling.brake_released[k, i, j] = 0.0
                if force < 0.0 and car.abs:
                    loads = fl, fr, rl, rr
                    pedal = required_brake_pedal(-force, loads, (side_front, side_rear), car)
                    front, rear, moved = held_brake_forces(pedal, loads, (side_front, side_rear), car)
                    side_front, side_rear = side_front + moved, max(side_rear - moved, 0.0)
                    handling.brake_released[k, i, j] = max(1.0 - (front + rear) / pedal, 0.0)
                handling.slip_front[k, i, j] = required_slip_angle(fl, fr, side_front, front, car.front)
                handling.slip_rear[k, i, j] = required_slip_angle(rl, rr, side_rear, rear, car.rear)


@internal_jit
def _interpolate_use(table: Array, speeds: Array, v: float, share: float, use: float) -> float:
    """Return the value of a table at v (m/s), share of the lateral limit, and use of the pedals."""
    position = min(max(0.5 * (use + 1.0), 0.0), 1.0) * (table.shape[0] - 1)
    k = min(int(position), table.shape[0] - 2)
    w = position - k
    low, high = (
        interpolate_speed_share(table[k], speeds, v, share),
        interpolate_speed_share(table[k + 1], speeds, v, share),
    )
    value: float = (1.0 - w) * low + w * high
    return value


@jit
def axle_slip_angles(car: Handling, line: RoadTable, motion: PathMotion) -> tuple[float, float, float]:
    """Return curvature (1/m) and the slip angles (rad, positive in a left bend) of front and rear axle on a line."""
    limits, v = car.limits, motion.speed
    _, curvature, climb, climb_rate, bank = preview_line(line, motion.s)
    grip = line.table[bracket_rows(line, motion.s)[0], RoadColumn.GRIP]
    need, factor = lateral_demand(v, PathShape(curvature, climb, climb_rate, bank, grip, 0.0), limits)
    most = factor * interpolate_speed(limits.lateral, limits.speeds, v)
    table = limits.drive if motion.acceleration > 0.0 else limits.brake
    limit = interpolate_speed_share(table, limits.speeds, v, abs(need) / most)
    use = motion.acceleration / max(limit, MIN_LIMIT)
    need_front = need + motion.yaw_acceleration * car.arm_front
    need_rear = need - motion.yaw_acceleration * car.arm_rear
    front = _interpolate_use(car.slip_front, limits.speeds, v, abs(need_front) / most, use)
    rear = _interpolate_use(car.slip_rear, limits.speeds, v, abs(need_rear) / most, use)
    return curvature, math.copysign(front, need_front), math.copysign(rear, need_rear)


@jit
def released_brake_share(car: Handling, v: float, share: float, use: float) -> float:
    """Return the share of the brakes' force that anti-lock brakes release: the pedal has to make up for it.

    Args:
        car: its tables.
        v: m/s.
        share: of the lateral limit.
        use: of the brake limit beside that, 0..1.
    """
    value: float = _interpolate_use(car.brake_released, car.limits.speeds, v, share, -use)
    return value


@jit
def car_attitude(car: Handling, line: RoadTable, s: float, v: float, acceleration: float) -> tuple[float, float, float]:
    """Return how a car lies on a line that it is driven along: the steering that a driver feeds forward.

    Args:
        car: its tables.
        line: the line.
        s: m, along the line.
        v: m/s.
        acceleration: m/s^2, along the path.

    Returns:
        The road-wheel angle (rad, left), the sideslip (rad, of the velocity to the left of the car's axis, ISO 8855)
        and its rate (rad/s): the car yaws by this much less than its path turns.
    """
    after = preview_line(line, s + TIME_STEP * v)[1] * max(v + TIME_STEP * acceleration, 0.0)
    before = preview_line(line, s - TIME_STEP * v)[1] * max(v - TIME_STEP * acceleration, 0.0)
    turning = (after - before) / (2.0 * TIME_STEP)
    angle = sideslip = sideslip_rate = 0.0
    for side in range(-1, 2):
        away = side * TIME_STEP
        speed = max(v + away * acceleration, 0.0)
        motion = PathMotion(s + away * v, speed, acceleration, turning)
        curvature, front, rear = axle_slip_angles(car, line, motion)
        slip = car.to_rear * curvature - rear
        sideslip_rate += side * slip / (2.0 * TIME_STEP)
        if side == 0:
            angle, sideslip = car.wheelbase * curvature + front - rear, slip
    return angle, sideslip, sideslip_rate


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
    """Return the numbers of a `LinePreview` of a line at s (m), in one compiled call."""
    table = line.table
    i, j, u = bracket_rows(line, s)
    climb = table[i, RoadColumn.GRADE]
    change = table[j, RoadColumn.GRADE] - climb
    curvature = table[i, RoadColumn.CURVATURE] + u * (table[j, RoadColumn.CURVATURE] - table[i, RoadColumn.CURVATURE])
    bank = table[i, RoadColumn.BANK] + u * (table[j, RoadColumn.BANK] - table[i, RoadColumn.BANK])
    return column_at(line, s, RoadColumn.YAW), curvature, climb + u * change, change / line.spacing, bank
