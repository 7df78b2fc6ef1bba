"""Kernels for an axle of the planner's quasi-steady car: wheel loads, peak forces, and the slip angle for a force.

Two-track model on a level road: wheel loads from weight, downforce and load transfer; forces by the tyre law of
`cars/tyre.py`. After Milliken and Milliken, Race Car Vehicle Dynamics (1995), chapters 7 and 18.
"""

import math
from typing import NamedTuple

from trailbrake.cars.params import CarParams, Differential, Tyre
from trailbrake.cars.tyre import combined_slip_force, value_at_load
from trailbrake.cars.tyre_params import TyreLaw
from trailbrake.kernels import exact_inline_jit, jit
from trailbrake.units import G

WheelLoads = tuple[float, float, float, float]  # N: FL, FR, RL, RR

MAX_SLIP = 1.2  # limit of the slip angle, over that of the peak at nominal load


class LoadParameters(NamedTuple):
    """The parameters of a car from which its wheel loads follow.

    Attributes:
        mass: kg.
        cg_height, wheelbase, cg_to_front: m.
        track_front, track_rear: m.
        roll_stiffness_front_share: share of the roll moment that the front springs and bars carry.
        roll_centre_front, roll_centre_rear: m above the ground.
        lift_front, lift_rear: N s^2/m^2, downforce of the axles over speed squared.
    """

    mass: float
    cg_height: float
    wheelbase: float
    cg_to_front: float
    track_front: float
    track_rear: float
    roll_stiffness_front_share: float
    roll_centre_front: float
    roll_centre_rear: float
    lift_front: float
    lift_rear: float


class PlanningCar(NamedTuple):
    """A car as the planner's kernels take it.

    Attributes:
        body: for the wheel loads.
        front, rear: tyre laws of the axles.
        drive_front, brake_front: shares of the drive and brake torque on the front axle.
        brake_force: N, at full brake.
        abs: whether the brakes release a wheel that is at its limit.
        open_front, open_rear: whether the axle is driven through an open differential.
        even_front, even_rear: whether the first wheel of the axle that locks limits its brakes: both get the same
            torque, nothing releases one of them, and no shaft couples them.
        preload_front, preload_rear: N at the tread, constant locking force of a limited-slip differential.
        lock_front, lock_rear: share of the drive force by which a limited-slip differential locks.
    """

    body: LoadParameters
    front: TyreLaw
    rear: TyreLaw
    drive_front: float
    brake_front: float
    brake_force: float
    abs: bool
    open_front: bool
    open_rear: bool
    even_front: bool
    even_rear: bool
    preload_front: float
    lock_front: float
    preload_rear: float
    lock_rear: float


def load_parameters(car: CarParams) -> LoadParameters:
    """Return the load parameters of a car."""
    body, half = car.body, 0.5 * car.aero.air_density
    return LoadParameters(
        mass=body.mass,
        cg_height=body.cg_height,
        wheelbase=body.wheelbase,
        cg_to_front=body.cg_to_front,
        track_front=body.track_front,
        track_rear=body.track_rear,
        roll_stiffness_front_share=car.roll_stiffness_front_share,
        roll_centre_front=car.suspension_front.roll_centre,
        roll_centre_rear=car.suspension_rear.roll_centre,
        lift_front=half * car.aero.lift_area_front,
        lift_rear=half * car.aero.lift_area_rear,
    )


def planning_car(car: CarParams) -> PlanningCar:
    """Return a car as the planner's kernels take it."""
    preload_front, lock_front = _lock_coefficients(car.drive.differential_front, car.tyre_front)
    preload_rear, lock_rear = _lock_coefficients(car.drive.differential_rear, car.tyre_rear)
    return PlanningCar(
        body=load_parameters(car),
        front=car.tyre_front.tyre_law(),
        rear=car.tyre_rear.tyre_law(),
        drive_front=car.drive.front_share,
        brake_front=car.brakes.front_share,
        brake_force=car.full_brake_force,
        abs=car.brakes.abs,
        open_front=car.drive.open_front,
        open_rear=car.drive.open_rear,
        even_front=not (car.brakes.abs or _couples_wheels(car.drive.differential_front)),
        even_rear=not (car.brakes.abs or _couples_wheels(car.drive.differential_rear)),
        preload_front=preload_front,
        lock_front=lock_front,
        preload_rear=preload_rear,
        lock_rear=lock_rear,
    )


def _couples_wheels(differential: Differential | None) -> bool:
    return differential is not None and differential.kind != "open"


def _lock_coefficients(differential: Differential | None, tyre: Tyre) -> tuple[float, float]:
    """Return preload, as a force at the tread (N), and the share of the drive force by which a differential locks.

    The moment of a rigid axle comes from the slips that it forces on its tyres; it is not modelled.
    """
    if differential is None or differential.kind != "lsd":
        return 0.0, 0.0
    return differential.preload / tyre.radius, differential.lock_power


@exact_inline_jit
def balance_wheel_loads(fx: float, fy: float, weight: float, squared_speed: float, body: LoadParameters) -> WheelLoads:
    """Return the loads (N) FL, FR, RL, RR that balance a car's forces; below 0 where a wheel would have to pull.

    Its `py_func` takes symbols, too.

    Args:
        fx: N, of tyres and air along the body.
        fy: N, of tyres and air across the body, positive in a left bend.
        weight: N, that presses the car on the road.
        squared_speed: m^2/s^2.
        body: of the car.
    """
    base, to_front = body.wheelbase, body.cg_to_front
    to_rear = base - to_front
    pitch = fx * body.cg_height / base
    front = weight * to_rear / base + body.lift_front * squared_speed - pitch
    rear = weight * to_front / base + body.lift_rear * squared_speed + pitch
    arm = body.cg_height - (body.roll_centre_front * to_rear + body.roll_centre_rear * to_front) / base
    share = body.roll_stiffness_front_share
    side_front = fy * (to_rear / base * body.roll_centre_front + share * arm) / body.track_front
    side_rear = fy * (to_front / base * body.roll_centre_rear + (1.0 - share) * arm) / body.track_rear
    return 0.5 * front - side_front, 0.5 * front + side_front, 0.5 * rear - side_rear, 0.5 * rear + side_rear


@jit
def wheel_loads(ax: float, ay: float, v: float, body: LoadParameters) -> WheelLoads:
    """Return the loads (N) FL, FR, RL, RR at body accelerations ax, ay (m/s^2, ay > 0: left bend) and speed v (m/s)."""
    mass = body.mass
    fl, fr, rl, rr = balance_wheel_loads(mass * ax, mass * ay, mass * G, v * v, body)
    return max(fl, 0.0), max(fr, 0.0), max(rl, 0.0), max(rr, 0.0)


@jit
def peak_tyre_forces(load: float, law: TyreLaw) -> tuple[float, float]:
    """Return the largest longitudinal and lateral force (N) of a tyre at `load`."""
    return (
        value_at_load(law.mu_x, -law.mu_x_load, load, law.nominal_load) * load,
        value_at_load(law.mu_y, -law.mu_y_load, load, law.nominal_load) * load,
    )


@jit
def max_lateral_force(inner: float, outer: float, fx: float, law: TyreLaw) -> float:
    """Return the largest lateral force (N) of an axle that also carries the longitudinal force fx (N)."""
    ix, iy = peak_tyre_forces(inner, law)
    ox, oy = peak_tyre_forces(outer, law)
    used = min(abs(fx) / max(ix + ox, 1.0), 1.0)
    return (iy + oy) * math.sqrt(1.0 - used * used)


@jit
def max_longitudinal_force(inner: float, outer: float, fy: float, law: TyreLaw, even_torque: bool) -> float:
    """Return the largest longitudinal force (N) of an axle that also carries the lateral force fy (N).

    With an even torque at both wheels (an open differential, or brakes that nothing releases) the inner one limits it.
    """
    ix, iy = peak_tyre_forces(inner, law)
    ox, oy = peak_tyre_forces(outer, law)
    used = min(abs(fy) / max(iy + oy, 1.0), 1.0)
    total = 2.0 * min(ix, ox) if even_torque else ix + ox
    return total * math.sqrt(1.0 - used * used)


@exact_inline_jit
def _held_wheel_forces(brake: float, inner: float, outer: float, fy: float, law: TyreLaw) -> tuple[float, float]:
    """Return the forces (N) of an axle's wheels under `brake` (N each) that also carry the lateral force fy (N)."""
    ix, iy = peak_tyre_forces(inner, law)
    ox, oy = peak_tyre_forces(outer, law)
    used = min(abs(fy) / max(iy + oy, 1.0), 1.0)
    left = math.sqrt(1.0 - used * used)
    return min(brake, left * ix), min(brake, left * ox)


@jit
def held_brake_forces(
    pedal: float, loads: WheelLoads, sides: tuple[float, float], car: PlanningCar
) -> tuple[float, float, float]:
    """Return the forces (N) of front and rear axle as anti-lock brakes hold each wheel, and their turning of the car.

    The outer wheels, with more load, brake more than the inner ones. That turns the car out of the bend: the front
    axle carries more of the side force, and the rear less.

    Args:
        pedal: N, of all brakes if none of them is released.
        loads: N, FL, FR, RL, RR in a left bend.
        sides: N, lateral forces of front and rear axle without that moment, >= 0.
        car: the car.

    Returns:
        Two forces, positive backwards, and the side force (N) that moves from the rear axle to the front one.
    """
    fl, fr, rl, rr = loads
    body, moved, front, rear = car.body, 0.0, 0.0, 0.0
    for _ in range(3):
        a, b = _held_wheel_forces(0.5 * car.brake_front * pedal, fl, fr, sides[0] + moved, car.front)
        c, d = _held_wheel_forces(0.5 * (1.0 - car.brake_front) * pedal, rl, rr, sides[1] - moved, car.rear)
        front, rear = a + b, c + d
        moved = 0.5 * (body.track_front * (b - a) + body.track_rear * (d - c)) / body.wheelbase
    return front, rear, moved


@jit
def required_brake_pedal(force: float, loads: WheelLoads, sides: tuple[float, float], car: PlanningCar) -> float:
    """Return the pedal (N) at which anti-lock brakes give `force` (N); arguments as for `held_brake_forces`."""
    lo, hi = force, max(car.brake_force, force)
    for _ in range(20):
        pedal = 0.5 * (lo + hi)
        front, rear, _ = held_brake_forces(pedal, loads, sides, car)
        if front + rear < force:
            lo = pedal
        else:
            hi = pedal
    return hi


@jit
def required_slip_angle(inner: float, outer: float, force: float, fx: float, law: TyreLaw) -> float:
    """Return the slip angle (rad, >= 0) at which an axle gives the lateral `force` (N) beside the longitudinal fx (N).

    In the tyre law slip and force, each over its peak, have the same direction: a longitudinal force also increases the
    slip angle. The size of the slip is found by bisection.
    """
    ix, iy = peak_tyre_forces(inner, law)
    ox, oy = peak_tyre_forces(outer, law)
    along, across = abs(fx) / max(ix + ox, 1.0), force / max(iy + oy, 1.0)
    whole = math.sqrt(along * along + across * across)
    if whole < 1e-9:
        return 0.0
    ratio, tangent = along / whole * law.peak_slip_ratio, across / whole * law.tan_peak_slip_angle
    lo, hi = 0.0, MAX_SLIP
    for _ in range(30):
        slip = 0.5 * (lo + hi)
        a = combined_slip_force(slip * ratio, -slip * tangent, inner, law)
        b = combined_slip_force(slip * ratio, -slip * tangent, outer, law)
        if a[1] + b[1] < force:
            lo = slip
        else:
            hi = slip
    return math.atan(0.5 * (lo + hi) * tangent)
