"""How a car lies in a bend: the slip angles of its axles by speed, cornering and pedals, and what steer they ask for.

A bend takes a steer angle L k + front slip - rear slip and a sideslip of l_r k - rear slip (Milliken and Milliken, Race
Car Vehicle Dynamics, 1995, chapter 5; L wheelbase, k curvature, l_r centre of mass to rear axle). Here the slips also
know the pedals: a braked car leans on its front wheels, and its light rear wheels slide further for the same bend, more
so with brake torque on them. And they know that a path whose curvature changes asks for yaw acceleration, which the
axles' side forces pay: less in front, more behind while a car straightens or is thrown from one bend into the next.
What is left out of either is what a driver is late by.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trailbrake.cars.params import CarParams
from trailbrake.kernels import jit, part
from trailbrake.planning.axles import Frame, Law, frame, loads, slip_angle
from trailbrake.planning.envelope import Envelope, resistance
from trailbrake.planning.preview import preview
from trailbrake.planning.speed import demand, lookup, lookup2
from trailbrake.tracks.columns import Column
from trailbrake.tracks.frenet import span

Array = NDArray[np.float64]

USES = 13  # grid points over the use of the pedals: -1 all braking that a bend leaves, 0 none, 1 all drive
STEP = 0.05  # s, ahead and behind, over which the path's changes are taken
LEAST_LIMIT = 0.1  # m/s^2: near top speed there is less drive than that, and a use of it would mean nothing


class Handling(NamedTuple):
    """Slip angles of a car's axles within its envelope; a tuple, so that compiled functions take it whole.

    Attributes:
        speeds: (SPEEDS,) m/s; this to brake as in `Envelope`.
        lateral: (SPEEDS,) m/s^2.
        drive: (SPEEDS, SHARES) m/s^2.
        brake: (SPEEDS, SHARES) m/s^2.
        load_factor: (SPEEDS,) 1.
        slip_front: (USES, SPEEDS, SHARES) rad, >= 0, of the front axle in steady cornering, by use of the pedals, speed
            and share of the lateral acceleration.
        slip_rear: (USES, SPEEDS, SHARES) rad, of the rear axle.
        arm_front: m, lateral acceleration (m/s^2) that the front axle gives on top of the path's per yaw acceleration
            (rad/s^2): yaw inertia over mass and over the distance of the other axle.
        arm_rear: m, that the rear axle gives less.
        wheelbase: m.
        to_rear: m, from the centre of mass to the rear axle.
    """

    speeds: Array
    lateral: Array
    drive: Array
    brake: Array
    load_factor: Array
    slip_front: Array
    slip_rear: Array
    arm_front: float
    arm_rear: float
    wheelbase: float
    to_rear: float


def handling(car: CarParams, limits: Envelope) -> Handling:
    """Compute the slips of `car` within its envelope `limits`."""
    body, shape = car.body, (USES, *limits.drive.shape)
    slip_front, slip_rear = np.empty(shape), np.empty(shape)
    inertia = body.yaw_inertia / body.mass
    made = Handling(
        limits.speeds, limits.lateral, limits.drive, limits.brake, limits.load_factor, slip_front, slip_rear,
        inertia / body.cg_to_rear, inertia / body.cg_to_front, body.wheelbase, body.cg_to_rear,
    )  # fmt: skip
    _fill(
        made, resistance(car, limits.speeds), frame(car), car.tyre_front.law(), car.tyre_rear.law(),
        car.drive.front_share, car.brakes.front_share,
    )  # fmt: skip
    return made


@jit
def _fill(
    made: Handling, drags: Array, car: Frame, front: Law, rear: Law, drive_front: float, brake_front: float
) -> None:
    """Fill the slips of `made`; drags is (SPEEDS,) N, the shares are the front axle's of drive and brake torque."""
    uses, n, m = made.slip_front.shape
    mass, base, to_front = car[0], car[2], car[3]
    for k in range(uses):
        use = 2.0 * k / (uses - 1.0) - 1.0
        for i in range(n):
            v = made.speeds[i]
            for j in range(m):
                ay = made.lateral[i] * j / (m - 1.0)
                ax = use * max(made.drive[i, j] if use > 0.0 else made.brake[i, j], LEAST_LIMIT)
                fl, fr, rl, rr = loads(ax, ay, v, car)
                force = mass * ax + drags[i]
                share = drive_front if force > 0.0 else brake_front
                side = mass * ay / base
                made.slip_front[k, i, j] = slip_angle(fl, fr, side * (base - to_front), force * share, front)
                made.slip_rear[k, i, j] = slip_angle(rl, rr, side * to_front, force * (1.0 - share), rear)


@part
def _slip(table: Array, speeds: Array, v: float, need: float, most: float, use: float) -> float:
    """Return the slip angle (rad, with the sign of `need`) of an axle that gives `need` of `most` (m/s^2)."""
    position = min(max(0.5 * (use + 1.0), 0.0), 1.0) * (table.shape[0] - 1)
    k = min(int(position), table.shape[0] - 2)
    w, share = position - k, abs(need) / most
    size = (1.0 - w) * lookup2(table[k], speeds, v, share) + w * lookup2(table[k + 1], speeds, v, share)
    return math.copysign(size, need)


@jit
def slips(
    car: Handling, line: Array, spacing: float, closed: bool, s: float, v: float, acceleration: float, turning: float
) -> tuple[float, float, float]:
    """Return curvature (1/m) and the slip angles (rad, positive in a left bend) of both axles at s (m) of a line.

    Args:
        car: its tables.
        line: the rows of a `Road`; with spacing (m) and closed.
        spacing: m.
        closed: whether the line closes.
        s: m, along the line.
        v: m/s.
        acceleration: m/s^2, along the path.
        turning: rad/s^2, yaw acceleration.
    """
    _, curvature, climb, bend, bank = preview(line, spacing, closed, s)
    grip = line[span(line, spacing, closed, s)[0], Column.GRIP]
    need, factor = demand(v, curvature, climb, bend, bank, grip, car.speeds, car.load_factor)
    most = factor * lookup(car.lateral, car.speeds, v)
    limit = lookup2(car.drive if acceleration > 0.0 else car.brake, car.speeds, v, abs(need) / most)
    use = acceleration / max(limit, LEAST_LIMIT)
    front = _slip(car.slip_front, car.speeds, v, need + turning * car.arm_front, most, use)
    return curvature, front, _slip(car.slip_rear, car.speeds, v, need - turning * car.arm_rear, most, use)


@jit
def attitude(
    car: Handling, line: Array, spacing: float, closed: bool, s: float, v: float, acceleration: float
) -> tuple[float, float, float]:
    """Return how the car lies on a line at s (m), driven along it at v (m/s): what a driver steers it to.

    Args:
        car: its tables.
        line: the rows of a `Road`; with spacing (m) and closed.
        spacing: m.
        closed: whether the line closes.
        s: m, along the line.
        v: m/s.
        acceleration: m/s^2, along the path.

    Returns:
        The road-wheel angle (rad, left), the sideslip (rad, of the velocity to the left of the car's axis, ISO 8855)
        and its rate (rad/s): the car yaws by as much less than its path turns.
    """
    after = preview(line, spacing, closed, s + STEP * v)[1] * max(v + STEP * acceleration, 0.0)
    before = preview(line, spacing, closed, s - STEP * v)[1] * max(v - STEP * acceleration, 0.0)
    turning = (after - before) / (2.0 * STEP)
    angle = sideslip = sliding = 0.0
    for side in range(-1, 2):
        away = side * STEP
        speed = max(v + away * acceleration, 0.0)
        curvature, front, rear = slips(car, line, spacing, closed, s + away * v, speed, acceleration, turning)
        lies = car.to_rear * curvature - rear
        sliding += side * lies / (2.0 * STEP)
        if side == 0:
            angle, sideslip = car.wheelbase * curvature + front - rear, lies
    return angle, sideslip, sliding
