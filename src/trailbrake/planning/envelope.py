"""The g-g-v envelope of a car: the accelerations that its tyres, air, engine and brakes can give.

Quasi-steady two-track model on a level road (`axles.py`); the tyre's limit is the ellipse
(Fx / mu_x)^2 + (Fy / mu_y)^2 = Fz^2 of the one tyre law (`cars/tyre.py`); the axles share the lateral force so that
the yaw moment is zero, which makes the weaker axle the limit. After Milliken and
Milliken, Race Car Vehicle Dynamics (1995), chapters 7 and 9, and Perantoni and Limebeer (2014).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trailbrake.cars.params import CarParams, Differential, Tyre
from trailbrake.kernels import jit, part
from trailbrake.planning.axles import Law, frame, loads, most_lateral, most_longitudinal, slip_angle
from trailbrake.units import G

Array = NDArray[np.float64]
Car = tuple[float, ...]  # `axles.frame()`, then `_lock()` of both axles

SPEEDS = 32  # grid points over speed
SHARES = 13  # grid points over lateral acceleration, as a share of the largest
SCRUB = 0.8  # share of the front's peak slip angle that the front tyres slide at the lateral limit
SCRUB_REAR = 0.5  # the same of the rear's
REAR_RESERVE = 0.97  # of the rear axle's grip is planned with: a rear that is asked for all it has comes round
REAR_RESERVE_BRAKING = 0.85  # the same under the brakes
UNAIDED = 0.15  # of driving at full cornering is left alone without traction control, of braking without ABS
UNAIDED_BRAKING = 0.07  # of all braking is left alone without ABS: the front wheels' peak is no place to stay at
SLOWEST = 1.0  # m/s, first grid speed


@dataclass(frozen=True, eq=False)
class Envelope:
    """What a car can do, on uniform grids of speed and of the share of lateral acceleration used.

    Attributes:
        speeds: (SPEEDS,) m/s.
        lateral: (SPEEDS,) m/s^2, largest steady lateral acceleration at constant speed.
        drive: (SPEEDS, SHARES) m/s^2, largest forward acceleration, air and rolling drag included; may be < 0.
        brake: (SPEEDS, SHARES) m/s^2, largest deceleration, drag included, positive.
        load_factor: (SPEEDS,) 1, normal load over weight (downforce).
    """

    speeds: Array
    lateral: Array
    drive: Array
    brake: Array
    load_factor: Array


@part
def _locked(force: float, drive_front: float, car: Car) -> float:
    """Return what limited-slip differentials add to the front axle's side force (N) at a drive force (N).

    The inner wheel of a driven axle turns slower, so the lock gives it more of the torque than the outer one: a
    moment about z out of the bend, which the front tyres have to turn the car against.
    """
    preload_f, lock_f, preload_r, lock_r = car[11:]
    pull = max(force, 0.0)
    front = car[4] * (preload_f + lock_f * drive_front * pull)
    rear = car[5] * (preload_r + lock_r * (1.0 - drive_front) * pull)
    return 0.5 * (front + rear) / car[2]


@part
def _lateral_limit(v: float, car: Car, front: Law, rear: Law, drag: float, drive_front: float) -> float:
    """Return the largest steady lateral acceleration (m/s^2) at constant speed v, bisected."""
    mass, base, to_front = car[0], car[2], car[3]
    lo, hi = 0.0, 60.0
    for _ in range(40):
        ay = 0.5 * (lo + hi)
        fl, fr, rl, rr = loads(0.0, ay, v, car)
        side_front, side_rear = mass * ay * (base - to_front) / base, mass * ay * to_front / base
        # To hold the speed the driven wheels also pay for the tyres' sliding: side force times slip angle.
        push = drag + side_front * SCRUB * front[6] + side_rear * SCRUB_REAR * rear[6]
        can_front = most_lateral(fl, fr, push * drive_front, front)
        can_rear = most_lateral(rl, rr, push * (1.0 - drive_front), rear)
        need_front = side_front + _locked(push, drive_front, car)
        if need_front < can_front and side_rear < REAR_RESERVE * can_rear:
            lo = ay
        else:
            hi = ay
    return lo


@part
def _longitudinal_limit(
    v: float,
    ay: float,
    car: Car,
    front: Law,
    rear: Law,
    drag: float,
    thrust: float,
    drive_front: float,
    brake_front: float,
    braking: bool,
    open_front: bool,
    open_rear: bool,
) -> float:
    """Return the largest acceleration (braking: deceleration) at v and ay; m/s^2; with the loads that it makes."""
    mass, base, to_front = car[0], car[2], car[3]
    need_front = mass * ay * (base - to_front) / base
    # Braking unloads the rear axle just when a bend asks most of it: some of its side force is kept back.
    need_rear = mass * ay * to_front / base / (REAR_RESERVE_BRAKING if braking else 1.0)
    lo, hi = -20.0, 60.0  # m/s^2; what the loads at an acceleration allow falls below it somewhere: bisected
    for _ in range(40):
        ax = 0.5 * (lo + hi)
        fl, fr, rl, rr = loads(-ax if braking else ax, ay, v, car)
        can_front = most_longitudinal(fl, fr, need_front, front, open_front and not braking)
        can_rear = most_longitudinal(rl, rr, need_rear, rear, open_rear and not braking)
        share = brake_front if braking else drive_front
        force = thrust
        if share > 0.0:
            force = min(force, can_front / share)
        if share < 1.0:
            force = min(force, can_rear / (1.0 - share))
        new = (force + drag) / mass if braking else (force - drag) / mass
        if not braking:  # the front axle, lighter under power, still has to turn the car
            pull = max(mass * ax + drag, 0.0)
            side = most_lateral(fl, fr, pull * drive_front, front)
            if side < need_front + _locked(pull, drive_front, car):
                new = -1e9
        if new > ax:
            lo = ax
        else:
            hi = ax
    return lo


@jit
def _tables(
    grid: Array,
    lateral: Array,
    tables: Array,
    car: Car,
    front: Law,
    rear: Law,
    brake_force: float,
    drive_front: float,
    brake_front: float,
    open_front: bool,
    open_rear: bool,
) -> None:
    """Fill lateral (n,) and tables (2, n, m): drive, brake; grid is (3, n): speed, thrust, drag."""
    n, m = lateral.shape[0], tables.shape[2]
    mass, base, to_front = car[0], car[2], car[3]
    for i in range(n):
        v, thrust, drag = grid[0, i], grid[1, i], grid[2, i]
        lateral[i] = _lateral_limit(v, car, front, rear, drag, drive_front)
        for j in range(m):
            ay = lateral[i] * j / (m - 1.0)
            fl, fr, rl, rr = loads(0.0, ay, v, car)
            side_front = mass * ay * (base - to_front) / base
            side_rear = mass * ay * to_front / base
            scrub = side_front * math.sin(slip_angle(fl, fr, side_front, drag * drive_front, front))
            scrub += side_rear * math.sin(slip_angle(rl, rr, side_rear, drag * (1.0 - drive_front), rear))
            for braking in (False, True):
                tables[int(braking), i, j] = _longitudinal_limit(
                    v, ay, car, front, rear, drag if braking else drag + scrub,
                    brake_force if braking else thrust, drive_front, brake_front, braking, open_front, open_rear,
                )  # fmt: skip


def _lock(differential: Differential | None, tyre: Tyre) -> tuple[float, float]:
    """Return preload, as a force at the tread (N), and the share of the drive force that a differential locks with.

    A rigid axle's moment comes from the slips that it forces on its tyres instead; it is left out.
    """
    if differential is None or differential.kind != "lsd":
        return 0.0, 0.0
    return differential.preload / tyre.radius, differential.lock_power


def resistance(car: CarParams, speeds: Array) -> Array:
    """Return air drag and rolling resistance (N) at `speeds` (m/s), any shape."""
    half = 0.5 * car.aero.air_density * speeds**2
    lift_front, lift_rear = half * car.aero.lift_area_front, half * car.aero.lift_area_rear
    weight_front = car.body.mass * G * car.body.front_share
    rolling = car.tyre_front.rolling_resistance * (weight_front + lift_front) + car.tyre_rear.rolling_resistance * (
        car.body.mass * G - weight_front + lift_rear
    )
    return half * car.aero.drag_area + rolling


def thrust(car: CarParams, speeds: Array) -> Array:
    """Return the full-throttle force at the wheels (N) in the gear that accelerates best, at `speeds` (m/s,) (n,).

    Less what it takes to spin up wheels and engine in that gear: what is left accelerates the body.
    """
    share = [car.body.mass / car.effective_mass(g) for g in range(1, car.gearbox.top_gear + 1)]
    return np.array([max(car.drive_force(float(v), g + 1) * share[g] for g in range(len(share))) for v in speeds])


def top_speed(car: CarParams) -> float:
    """Return the speed (m/s) at which drag or the last gear's limiter ends it all."""
    speeds = np.linspace(10.0, 130.0, 241)
    pulls = thrust(car, speeds) > resistance(car, speeds)
    return float(speeds[pulls][-1]) if pulls.any() else float(speeds[0])


def envelope(car: CarParams) -> Envelope:
    """Compute the envelope of `car`."""
    speeds = np.linspace(SLOWEST, top_speed(car) + 2.0, SPEEDS)
    brakes = car.brakes
    packed = (
        *frame(car),
        *_lock(car.drive.differential_front, car.tyre_front),
        *_lock(car.drive.differential_rear, car.tyre_rear),
    )
    lateral, tables = np.empty(SPEEDS), np.empty((2, SPEEDS, SHARES))
    grid = np.stack([speeds, thrust(car, speeds), resistance(car, speeds)])
    _tables(
        grid, lateral, tables, packed, car.tyre_front.law(), car.tyre_rear.law(), car.full_brake_force,
        car.drive.front_share, brakes.front_share, car.drive.open_front, car.drive.open_rear,
    )  # fmt: skip
    # Nothing mends what a foot alone asks too much of a wheel, and a wheel that slides lets go of the bend.
    kept = 1.0 - UNAIDED * np.linspace(0.0, 1.0, SHARES)
    if not brakes.tc:
        tables[0] = np.where(tables[0] > 0.0, kept * tables[0], tables[0])
    if not brakes.abs:
        tables[1] *= (1.0 - UNAIDED_BRAKING) * kept
    load_factor = 1.0 + (packed[9] + packed[10]) * speeds**2 / (car.body.mass * G)
    return Envelope(speeds, lateral, tables[0], tables[1], load_factor)
