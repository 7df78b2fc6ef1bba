"""The g-g-v envelope of a car: the accelerations that its tyres, aerodynamics, engine and brakes allow.

Quasi-steady two-track model on a level road (`axle_forces.py`). The limit of a tyre is the ellipse
(Fx / mu_x)^2 + (Fy / mu_y)^2 = Fz^2 of the tyre law (`cars/tyre.py`). The axles share the lateral force so that the yaw
moment is zero, so the weaker axle sets the limit. After Milliken and Milliken, Race Car Vehicle Dynamics (1995),
chapters 7 and 9, and Perantoni and Limebeer (2014).

The figures of a car that decide a lap: limits of grip, drive force, downforce, steer angle, delay. Pure functions.

Forces count per mass: from a drive alone, mass and forces cannot be separated.
"""

import math
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from trailbrake.arrays import Array
from trailbrake.cars.axle_forces import (
    PlanningCar,
    WheelLoads,
    held_brake_forces,
    max_lateral_force,
    max_longitudinal_force,
    peak_tyre_forces,
    planning_car,
    required_slip_angle,
    wheel_loads,
)
from trailbrake.cars.params import CarParams
from trailbrake.cars.tyre_params import TyreLaw
from trailbrake.kernels import internal_jit, jit
from trailbrake.units import G

SPEEDS = 32  # grid points over speed
SHARES = 13  # grid points over lateral acceleration, as a share of the largest
FRONT_SCRUB_SHARE = 0.8  # share of the front's peak slip angle at which the front tyres slide at the lateral limit
REAR_SCRUB_SHARE = 0.5  # the same at the rear
REAR_GRIP_SHARE = 0.97  # share of the rear axle's grip that is used: at all of it the car spins
REAR_GRIP_SHARE_BRAKING = 0.87  # the same under braking: above, a hatchback is slower and goes wide
FRONT_GRIP_SHARE_BRAKING = 0.93  # of the front axle's: turning in needs yaw acceleration
TRAIL_BRAKING_RESERVE = 0.13  # share of the braking at full cornering not used: no pedal fits all four wheels
UNAIDED_RESERVE = 0.15  # share of driving (braking) at full cornering not used without traction control (ABS)
AIDED_BRAKING_RESERVE = 0.03  # share of all braking not used: ABS holds the wheels around their peak
UNAIDED_BRAKING_RESERVE = 0.07  # the same without: a driver cannot hold them there
STEER_SHARE = 1.05  # of the road-wheel angle that a game leaves at a speed: what is learned of that is rather low
MIN_SPEED = 1.0  # m/s, first grid speed
MAX_THRUST = 1e9  # N, of an engine without limit
GRIP_SPEED = 20.0  # m/s, at which grip and braking count: downforce has its own figure
DRIVE_SPEEDS = tuple(float(v) for v in range(8, 81, 4))  # m/s, at which the drive forces do
DOWNFORCE_SPEED = 50.0  # m/s


class Envelope(NamedTuple):
    """The accelerations that a car can reach, on uniform grids of speed and of the share of lateral acceleration used.

    Attributes:
        speeds: (SPEEDS,) m/s.
        lateral: (SPEEDS,) m/s^2, largest steady lateral acceleration at constant speed.
        drive: (SPEEDS, SHARES) m/s^2, largest forward acceleration, air and rolling drag included; may be < 0: the
            smaller of `traction` and `pull`.
        brake: (SPEEDS, SHARES) m/s^2, largest deceleration, drag included, positive.
        load_factor: (SPEEDS,) 1, normal load over weight (downforce).
        traction: (SPEEDS, SHARES) m/s^2, as `drive`, with an engine without limit: it scales with the tyres' grip.
        pull: (SPEEDS, SHARES) m/s^2, as `drive`, with tyres without limit: it does not.
    """

    speeds: Array
    lateral: Array
    drive: Array
    brake: Array
    load_factor: Array
    traction: Array
    pull: Array


@internal_jit
def _differential_side_force(force: float, loads: WheelLoads, curvature: float, car: PlanningCar) -> float:
    """Return the side force (N) of the front axle against the differentials' yaw moment at a drive force (N).

    The inner wheel of a driven axle turns slower, so a locking differential gives it more torque than the outer one: a
    yaw moment out of the bend, which the front tyres must balance. A lock that couples both wheels carries no more than
    the slips that the bend (`curvature`, 1/m) then forces on them.
    """
    fl, fr, rl, rr = loads
    body, pull = car.body, max(force, 0.0)
    front = car.preload_front + car.lock_front * car.drive_front * pull
    rear = car.preload_rear + car.lock_rear * (1.0 - car.drive_front) * pull
    front = min(front, _coupled_force(fl, fr, body.track_front * curvature, car.front))
    rear = min(rear, _coupled_force(rl, rr, body.track_rear * curvature, car.rear))
    return 0.5 * (body.track_front * front + body.track_rear * rear) / body.wheelbase


@internal_jit
def _coupled_force(inner: float, outer: float, difference: float, law: TyreLaw) -> float:
    """Return by how much (N) the wheels of an axle pull differently, coupled, where their speeds should differ.

    `difference` is that of the speeds over the car's; the tyres are at the peak of their combined slip.
    """
    most = peak_tyre_forces(inner, law)[0] + peak_tyre_forces(outer, law)[0]
    return 0.5 * difference / law.peak_slip_ratio * most


@internal_jit
def _lateral_limit(v: float, car: PlanningCar, drag: float, lock: float) -> float:
    """Return the largest steady lateral acceleration (m/s^2) at constant speed, by bisection.

    Args:
        v: m/s.
        car: the car.
        drag: N, of the air and the tyres.
        lock: rad, of the road wheels at most.
    """
    mass, base, to_front = car.body.mass, car.body.wheelbase, car.body.cg_to_front
    front, rear = car.front, car.rear
    lo, hi = 0.0, 60.0
    for _ in range(40):
        ay = 0.5 * (lo + hi)
        fl, fr, rl, rr = wheel_loads(0.0, ay, v, car.body)
        side_front, side_rear = mass * ay * (base - to_front) / base, mass * ay * to_front / base
        # To hold the speed the driven wheels also balance the tyres' sliding: side force times slip angle.
        push = (
            drag
            + side_front * FRONT_SCRUB_SHARE * front.tan_peak_slip_angle
            + side_rear * REAR_SCRUB_SHARE * rear.tan_peak_slip_angle
        )
        can_front = max_lateral_force(fl, fr, push * car.drive_front, front)
        can_rear = max_lateral_force(rl, rr, push * (1.0 - car.drive_front), rear)
        need_front = side_front + _differential_side_force(push, (fl, fr, rl, rr), ay / v**2, car)
        fits = need_front < can_front and side_rear < REAR_GRIP_SHARE * can_rear
        if fits and lock < math.inf:
            front_slip = required_slip_angle(fl, fr, side_front, push * car.drive_front, front)
            rear_slip = required_slip_angle(rl, rr, side_rear, push * (1.0 - car.drive_front), rear)
            fits = base * ay / v**2 + front_slip - rear_slip < lock
        if fits:
            lo = ay
        else:
            hi = ay
    return lo


@internal_jit
def _drive_limit(v: float, ay: float, car: PlanningCar, drag: float, thrust: float) -> float:
    """Return the largest forward acceleration (m/s^2) at v and ay, by bisection.

    Args:
        v: m/s.
        ay: m/s^2, lateral acceleration.
        car: the car.
        drag: N, of the air and the tyres.
        thrust: N, of the engine at the wheels.
    """
    mass, base, to_front = car.body.mass, car.body.wheelbase, car.body.cg_to_front
    need_front = mass * ay * (base - to_front) / base
    need_rear = mass * ay * to_front / base
    share = car.drive_front
    lo, hi = -20.0, 60.0  # m/s^2; somewhere between them the loads at an acceleration no longer allow it
    for _ in range(40):
        ax = 0.5 * (lo + hi)
        fl, fr, rl, rr = wheel_loads(ax, ay, v, car.body)
        force = thrust
        if share > 0.0:
            force = min(force, max_longitudinal_force(fl, fr, need_front, car.front, car.open_front) / share)
        if share < 1.0:
            force = min(force, max_longitudinal_force(rl, rr, need_rear, car.rear, car.open_rear) / (1.0 - share))
        new = (force - drag) / mass
        # The front axle, lighter under power, still has to turn the car.
        pull = max(mass * ax + drag, 0.0)
        side = max_lateral_force(fl, fr, pull * car.drive_front, car.front)
        if side < need_front + _differential_side_force(pull, (fl, fr, rl, rr), ay / v**2, car):
            new = -1e9
        if new > ax:
            lo = ax
        else:
            hi = ax
    return lo


@internal_jit
def _brake_limit(v: float, ay: float, car: PlanningCar, drag: float) -> float:
    """Return the largest deceleration (m/s^2, positive) at v and ay, by bisection; arguments as for `_drive_limit`.

    Anti-lock brakes hold each wheel at its own limit. Without them the first axle at its limit holds the pedal, and
    with it the other axle. Without the reserves it is within 4 % of the optimum of the two-track model with combined
    slip and yaw balance (Perantoni and Limebeer, 2014) up to 0.8 of the lateral limit, and never above.
    """
    mass, base, to_front = car.body.mass, car.body.wheelbase, car.body.cg_to_front
    need_front = mass * ay * (base - to_front) / base / FRONT_GRIP_SHARE_BRAKING
    need_rear = mass * ay * to_front / base / REAR_GRIP_SHARE_BRAKING
    share = car.brake_front
    lo, hi = drag / mass, 60.0
    for _ in range(40):
        ax = 0.5 * (lo + hi)
        fl, fr, rl, rr = wheel_loads(-ax, ay, v, car.body)
        moved = 0.0
        if car.abs:
            front, rear, moved = held_brake_forces(car.brake_force, (fl, fr, rl, rr), (need_front, need_rear), car)
            force = front + rear
        else:
            force = car.brake_force
            if share > 0.0:
                force = min(force, max_longitudinal_force(fl, fr, need_front, car.front, car.even_front) / share)
            if share < 1.0:
                force = min(force, max_longitudinal_force(rl, rr, need_rear, car.rear, car.even_rear) / (1.0 - share))
        # Braking unloads the rear axle just where a bend needs its side force.
        holds = need_rear - moved < max_lateral_force(rl, rr, 0.0, car.rear)
        if holds and (force + drag) / mass > ax:
            lo = ax
        else:
            hi = ax
    return lo


@jit
def _fill_tables(grid: Array, car: PlanningCar, lateral: Array, tables: Array) -> None:
    """Fill the tables of an envelope.

    Args:
        grid: (4, n) speed (m/s), thrust (N), drag (N), and the road wheels' angle (rad) at most; infinite: enough.
        car: the car.
        lateral: (n,) out, m/s^2.
        tables: (3, n, m) out, m/s^2: traction, pull and brake.
    """
    traction, pull, brake = tables[0], tables[1], tables[2]
    n, m = traction.shape
    mass, base, to_front = car.body.mass, car.body.wheelbase, car.body.cg_to_front
    for i in range(n):
        v, thrust, drag = grid[0, i], grid[1, i], grid[2, i]
        lateral[i] = _lateral_limit(v, car, drag, grid[3, i])
        for j in range(m):
            ay = lateral[i] * j / (m - 1.0)
            fl, fr, rl, rr = wheel_loads(0.0, ay, v, car.body)
            side_front = mass * ay * (base - to_front) / base
            side_rear = mass * ay * to_front / base
            front_slip = required_slip_angle(fl, fr, side_front, drag * car.drive_front, car.front)
            rear_slip = required_slip_angle(rl, rr, side_rear, drag * (1.0 - car.drive_front), car.rear)
            scrub = side_front * math.sin(front_slip)
            scrub += side_rear * math.sin(rear_slip)
            traction[i, j] = _drive_limit(v, ay, car, drag + scrub, MAX_THRUST)
            pull[i, j] = (thrust - drag - scrub) / mass
            brake[i, j] = (1.0 - TRAIL_BRAKING_RESERVE * j / (m - 1.0)) * _brake_limit(v, ay, car, drag)


def running_resistance(car: CarParams, speeds: Array) -> Array:
    """Return air drag and rolling resistance (N) at `speeds` (m/s), any shape."""
    half = 0.5 * car.aero.air_density * speeds**2
    lift_front, lift_rear = half * car.aero.lift_area_front, half * car.aero.lift_area_rear
    weight_front = car.body.mass * G * car.body.front_share
    rolling = car.tyre_front.rolling_resistance * (weight_front + lift_front) + car.tyre_rear.rolling_resistance * (
        car.body.mass * G - weight_front + lift_rear
    )
    return half * car.aero.drag_area + rolling


def full_throttle_force(car: CarParams, speeds: Array) -> Array:
    """Return the full-throttle force at the wheels (N) in the gear that accelerates best, at `speeds` (n,), m/s.

    The force that spins up wheels and engine in that gear is subtracted: the rest accelerates the body.
    """
    engine, box = car.engine, car.gearbox
    ratios = np.array([box.overall_ratio(gear) for gear in range(1, box.top_gear + 1)])
    share = np.array([car.body.mass / car.effective_mass(gear) for gear in range(1, box.top_gear + 1)])
    rpm = speeds[:, None] / car.driven_radius * ratios * 30.0 / math.pi
    torque = engine.full_torques(np.maximum(rpm, engine.idle_rpm))
    torque[rpm > engine.limiter_rpm] = 0.0
    force: Array = (torque * ratios * box.efficiency / car.driven_radius * share).max(axis=1)
    return force


def motor_force(car: CarParams, speeds: Array) -> Array:
    """Return what all of an electric motor's power adds to `full_throttle_force` at `speeds` (n,), m/s; 0 without."""
    if car.hybrid is None:
        return np.zeros(len(speeds))
    engine, motor = car.engine, car.hybrid
    torque = tuple(
        own + min(motor.torque, motor.power / (rpm * math.pi / 30.0))
        for rpm, own in zip(engine.rpm, engine.torque, strict=True)
    )
    both = replace(car, engine=replace(engine, torque=torque))
    return full_throttle_force(both, speeds) - full_throttle_force(car, speeds)


def wing_relief(car: CarParams, speeds: Array) -> Array:
    """Return the drag (N) that an open rear wing takes away at `speeds` (m/s), any shape."""
    relief: Array = 0.5 * car.aero.air_density * car.aero.drag_area * car.aero.drs_drag * speeds**2
    return relief


def top_speed(car: CarParams, *, aided: bool = False) -> float:
    """Return the speed (m/s) that drag or the limiter in the last gear permits; `aided`: with motor and open wing."""
    speeds = np.linspace(10.0, 130.0, 241)
    pull, resistance = full_throttle_force(car, speeds), running_resistance(car, speeds)
    if aided:
        pull, resistance = pull + motor_force(car, speeds), resistance - wing_relief(car, speeds)
    pulls = pull > resistance
    return float(speeds[pulls][-1]) if pulls.any() else float(speeds[0])


def compute_envelope(car: CarParams) -> Envelope:
    """Return the envelope of `car`."""
    speeds = np.linspace(MIN_SPEED, top_speed(car, aided=True) + 2.0, SPEEDS)
    brakes, numbers = car.brakes, planning_car(car)
    lateral, tables = np.empty(SPEEDS), np.empty((3, SPEEDS, SHARES))
    lock = np.full(SPEEDS, math.inf)  # the lock itself is for bends tighter than those of a road
    if car.steer_range is not None:
        lock = np.array([STEER_SHARE * car.full_steer_angle(float(v)) for v in speeds])
    grid = np.stack([speeds, full_throttle_force(car, speeds), running_resistance(car, speeds), lock])
    _fill_tables(grid, numbers, lateral, tables)
    traction, pull, brake = tables
    # Without driver aids a pedal can exceed the grip of one wheel, and a sliding wheel has no side force.
    kept = 1.0 - UNAIDED_RESERVE * np.linspace(0.0, 1.0, SHARES)
    if not brakes.tc:
        traction = np.where(traction > 0.0, kept * traction, traction)
    brake *= 1.0 - (AIDED_BRAKING_RESERVE if brakes.abs else UNAIDED_BRAKING_RESERVE)
    load_factor = 1.0 + (numbers.body.lift_front + numbers.body.lift_rear) * speeds**2 / (car.body.mass * G)
    return Envelope(speeds, lateral, np.minimum(traction, pull), brake, load_factor, traction, pull)


class CarFigures(NamedTuple):
    """The figures of a car.

    Attributes:
        lateral_grip: m/s^2, largest steady lateral acceleration at GRIP_SPEED.
        braking: m/s^2, largest deceleration in a straight line at GRIP_SPEED.
        drive: (len(DRIVE_SPEEDS),) m/s^2, full-throttle force in the best gear over the mass; 0 where no gear reaches.
        traction: (len(DRIVE_SPEEDS),) m/s^2, largest drive force that the tyres carry straight ahead, over the mass.
        top_speed: m/s, that air drag or the limiter permits.
        downforce: 1, at DOWNFORCE_SPEED over the weight.
        steer_angle: rad, of the road wheels at full lock.
        delay: s, of the controls.
    """

    lateral_grip: float
    braking: float
    drive: NDArray[np.float64]
    traction: NDArray[np.float64]
    top_speed: float
    downforce: float
    steer_angle: float
    delay: float


def compute_figures(car: CarParams) -> CarFigures:
    """Return the figures of a car."""
    limits, speeds = compute_envelope(car), np.array(DRIVE_SPEEDS)
    traction = np.interp(speeds, limits.speeds, limits.traction[:, 0])  # drag included
    area = car.aero.lift_area_front + car.aero.lift_area_rear
    return CarFigures(
        lateral_grip=float(np.interp(GRIP_SPEED, limits.speeds, limits.lateral)),
        braking=float(np.interp(GRIP_SPEED, limits.speeds, limits.brake[:, 0])),
        drive=compute_drive_accelerations(car, speeds),
        traction=traction + running_resistance(car, speeds) / car.body.mass,
        top_speed=top_speed(car),
        downforce=0.5 * car.aero.air_density * area * DOWNFORCE_SPEED**2 / (car.body.mass * G),
        steer_angle=car.steering.max_angle,
        delay=car.actuation.delay,
    )


def compute_drive_accelerations(car: CarParams, speeds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the largest full-throttle force of all gears over the mass (m/s^2) at `speeds` (n,), m/s."""
    gears = range(1, car.gearbox.top_gear + 1)
    return np.array([max(car.drive_force(float(v), gear) for gear in gears) / car.body.mass for v in speeds])
