"""One stage of the optimal control problem: the car at one place of the road, as a CasADi function.

Curvilinear coordinates with the arc length s of the road as the independent variable (Perantoni and Limebeer, Vehicle
System Dynamics 52:5, 2014; Limebeer and Perantoni, Journal of Dynamic Systems 137:5, 2015, for three dimensions): a
rigid body in the plane of the road, four tyres with combined slip, loads by steady transfer. Wheels have no inertia of
their own: the balance of torque of each is an equation between the slips of its axle and the pedals.

Unknowns of a stage are scaled to about 1: `STATES` and `CONTROLS` name them, `SCALES` has their units.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from trailbrake.cars.axle_forces import balance_wheel_loads
from trailbrake.optimal.vehicle_model import AxleParameters, Expression, VehicleModel, import_casadi
from trailbrake.units import G

_balance_wheel_loads = getattr(balance_wheel_loads, "py_func", balance_wheel_loads)  # for symbols

STATES = ("offset", "heading", "speed", "side_speed", "yaw_rate")
CONTROLS = ("steer", "pedal", "slip_fl", "slip_fr", "slip_rl", "slip_rr", "accel_x", "accel_y")
UNKNOWNS = STATES + CONTROLS
WHEELS = ("fl", "fr", "rl", "rr")
# m, rad, m/s, m/s, rad/s; rad, 1 (force over weight), slip ratios, 1 (specific forces over gravity)
SCALES = np.array([3.0, 0.2, 30.0, 1.0, 0.5, 0.1, 1.0, 0.05, 0.05, 0.05, 0.05, 1.0, 1.0])
STATE_COUNT = len(STATES)
UNKNOWN_COUNT = len(UNKNOWNS)
BALANCES = 6  # equations of a stage: two accelerations, two of each axle's wheels

FORCE_SCALE = 0.25  # weights, unit of the wheels' equations


class Rounding(NamedTuple):
    """How far the corners of the model are rounded off.

    Attributes:
        pedal: weights, over which a pedal goes from drive to brake.
        load: share of the static load of a wheel over which it lifts off.
        lock_speed: m/s at the tread, difference of the wheels' speeds over which a friction lock takes hold.
        abs_sharpness: how sharply ABS lets go of a wheel about the squared slip 1.
    """

    pedal: float
    load: float
    lock_speed: float
    abs_sharpness: float


COARSE = Rounding(0.05, 0.10, 2.0, 5.0)
FINE = Rounding(0.02, 0.05, 1.0, 5.0)


class StageParameter(IntEnum):
    """What a stage takes from the road."""

    CURVATURE = 0  # 1/m
    GRADE = 1  # dz/ds
    CLIMB_RATE = 2  # 1/m, change of the grade
    BANK = 3  # rad
    GRIP = 4  # 1
    TWIST = 5  # rad/m, change of the bank
    TWIST_RATE = 6  # rad/m^2, change of the twist


@dataclass(frozen=True)
class StageExpressions:
    """The expressions of one stage, in the scaled unknowns `w` and the road's numbers `p`.

    Attributes:
        w: (UNKNOWN_COUNT,) symbols.
        p: (len(StageParameter),) symbols.
        slopes: (STATE_COUNT,) d(scaled state)/ds, 1/m.
        pace: dt/ds, s/m.
        balances: (BALANCES,), zero in a solution.
        limits: (m,), at most zero in a solution: combined slips, drive force.
        outputs: named expressions for the result.
    """

    w: Expression
    p: Expression
    slopes: Expression
    pace: Expression
    balances: Expression
    limits: Expression
    outputs: dict[str, Expression]


class _RoadPlane(NamedTuple):
    """The plane of the road under a car; accelerations over gravity.

    Attributes:
        press: presses the car down.
        pull_x, pull_y: gravity along and across the car.
        drift: m/s away from the centreline, to the left.
        cos_bank: of the bank.
    """

    press: Expression
    pull_x: Expression
    pull_y: Expression
    drift: Expression
    cos_bank: Expression


def _tilt_plane(value: dict[str, Expression], p: Expression) -> _RoadPlane:
    """Return the plane of the road; beside the centreline a change of the bank is a grade.

    A car that crosses such a road goes over a crest or through a dip.
    """
    ca: Any = import_casadi()
    n, heading, u, v, yaw_rate = (value[name] for name in STATES)
    bank, twist = p[StageParameter.BANK], p[StageParameter.TWIST]
    climb = ca.atan(p[StageParameter.GRADE] + n * twist)
    drift = u * ca.sin(heading) + v * ca.cos(heading)
    lift = u * u * (p[StageParameter.CLIMB_RATE] + n * p[StageParameter.TWIST_RATE]) + 2.0 * u * drift * twist
    cos_bank, sin_bank, sin_climb = ca.cos(bank), ca.sin(bank), ca.sin(climb)
    level = ca.cos(climb)
    return _RoadPlane(
        press=level * cos_bank + (lift - u * yaw_rate * sin_bank) / G,
        pull_x=sin_climb * ca.cos(heading) + level * sin_bank * ca.sin(heading),
        pull_y=level * sin_bank * ca.cos(heading) - sin_climb * ca.sin(heading),
        drift=drift,
        cos_bank=cos_bank,
    )


class _TyreForces(NamedTuple):
    """The forces of four tyres, in the order of WHEELS.

    Attributes:
        force_x, force_y: N, all of them, along and across the body.
        moment: N m, about the normal of the road.
        tyres: N, each along and across its wheel.
        rim_speeds: m/s at the tread.
        uses: combined slip, 1 at the peak.
    """

    force_x: Expression
    force_y: Expression
    moment: Expression
    tyres: list[tuple[Expression, Expression]]
    rim_speeds: list[Expression]
    uses: list[Expression]


def _sum_tyre_forces(
    car: VehicleModel, value: dict[str, Expression], loads: list[Expression], grip: Expression
) -> _TyreForces:
    """Return the forces of tyres under `loads` (N), with a share `grip` of their friction."""
    ca: Any = import_casadi()
    body, u, v, yaw_rate = car.body, value["speed"], value["side_speed"], value["yaw_rate"]
    to_front, to_rear = body.cg_to_front, body.wheelbase - body.cg_to_front
    places = (
        (to_front, 0.5 * body.track_front),
        (to_front, -0.5 * body.track_front),
        (-to_rear, 0.5 * body.track_rear),
        (-to_rear, -0.5 * body.track_rear),
    )
    force_x, force_y, moment = 0.0, 0.0, 0.0
    tyres, rim_speeds, uses = [], [], []
    for i, (x, y) in enumerate(places):
        axle, slip = car.front if i < 2 else car.rear, value[f"slip_{WHEELS[i]}"]
        angle = value["steer"] if i < 2 else 0.0
        cos, sin = ca.cos(angle), ca.sin(angle)
        along, across = u - yaw_rate * y, v + yaw_rate * x
        ahead, aside = along * cos + across * sin, across * cos - along * sin
        fx, fy, use = axle.tyre(slip, aside / ahead, loads[i], grip)
        body_x, body_y = fx * cos - fy * sin, fx * sin + fy * cos
        force_x, force_y = force_x + body_x, force_y + body_y
        moment = moment + x * body_y - y * body_x
        tyres.append((fx, fy))
        rim_speeds.append((1.0 + slip) * ahead)
        uses.append(use)
    return _TyreForces(force_x, force_y, moment, tyres, rim_speeds, uses)


def _balance_wheels(
    car: VehicleModel, forces: _TyreForces, drive: Expression, brake: Expression, rounding: Rounding
) -> list[Expression]:
    """Return the equations of all wheels; `drive` and `brake` are forces over the car's weight."""
    weight = car.body.mass * G
    balances: list[Expression] = []
    for k, axle in enumerate((car.front, car.rear)):
        share_drive = car.drive_front if k == 0 else 1.0 - car.drive_front
        share_brake = car.brake_front if k == 0 else 1.0 - car.brake_front
        own = slice(2 * k, 2 * k + 2)
        wheels = _AxleWheels(
            forces=[tyre[0] / weight for tyre in forces.tyres[own]],
            rim_speeds=forces.rim_speeds[own],
            brakes=[
                share_brake * 0.5 * brake * _abs_factor(use, rounding.abs_sharpness if car.abs else 0.0)
                for use in forces.uses[own]
            ],
            drive=share_drive * drive,
        )
        balances += _wheel_balances(axle, wheels, weight, rounding.lock_speed)
    return balances


def build_stage(car: VehicleModel, rounding: Rounding = FINE) -> StageExpressions:
    """Return the stage of a car, its corners rounded off."""
    ca: Any = import_casadi()
    w, p = ca.SX.sym("w", UNKNOWN_COUNT), ca.SX.sym("p", len(StageParameter))
    value = {name: float(SCALES[i]) * w[i] for i, name in enumerate(UNKNOWNS)}
    n, heading, u, v, yaw_rate = (value[name] for name in STATES)
    pedal, gx, gy = value["pedal"], value["accel_x"], value["accel_y"]
    weight = car.body.mass * G
    plane = _tilt_plane(value, p)
    pressed = _balance_wheel_loads(weight * gx, weight * gy, weight * plane.press, u * u, car.body)
    width = rounding.load * 0.25 * weight
    loads = [0.5 * (load + ca.sqrt(load * load + width * width)) for load in pressed]  # never below 0
    forces = _sum_tyre_forces(car, value, loads, p[StageParameter.GRIP])
    uses = forces.uses

    smooth = ca.sqrt(pedal * pedal + rounding.pedal**2)
    drive, brake = 0.5 * (smooth + pedal), 0.5 * (smooth - pedal)
    rolling = car.front.rolling * (loads[0] + loads[1]) + car.rear.rolling * (loads[2] + loads[3])
    balances = [
        *_balance_wheels(car, forces, drive, brake, rounding),
        (forces.force_x - car.drag * u * ca.sqrt(u * u + v * v) - rolling) / weight - gx,
        (forces.force_y - car.drag * v * ca.sqrt(u * u + v * v)) / weight - gy,
    ]
    curvature = p[StageParameter.CURVATURE]
    forward = u * ca.cos(heading) - v * ca.sin(heading)
    pace = (1.0 - n * curvature) / forward
    rates = ca.vertcat(
        plane.drift,
        yaw_rate - curvature / pace,
        G * (gx - plane.pull_x) + yaw_rate * v * plane.cos_bank,
        G * (gy - plane.pull_y) - yaw_rate * u * plane.cos_bank,
        forces.moment / car.yaw_inertia,
    )
    driven = _driven_speed(car, forces.rim_speeds)
    limits = [use * use - 1.0 for use in uses] + [drive - limit(driven) / weight for limit in car.drive_limits]
    outputs = {
        **{f"load_{name}": load for name, load in zip(WHEELS, loads, strict=True)},
        **{f"use_{name}": use for name, use in zip(WHEELS, uses, strict=True)},
        **{f"force_x_{name}": tyre[0] for name, tyre in zip(WHEELS, forces.tyres, strict=True)},
        **{f"force_y_{name}": tyre[1] for name, tyre in zip(WHEELS, forces.tyres, strict=True)},
        "drive_force": drive * weight,
        "brake_force": brake * weight,
    }
    return StageExpressions(
        w=w,
        p=p,
        slopes=rates * pace / SCALES[:STATE_COUNT],
        pace=pace,
        balances=ca.vertcat(*balances),
        limits=ca.vertcat(*limits),
        outputs=outputs,
    )


def _abs_factor(use: Expression, sharpness: float) -> Expression:
    """Return the share of the brake torque that ABS leaves to a wheel: half at the peak of its tyre."""
    return 1.0 / (1.0 + import_casadi().exp(sharpness * (use * use - 1.0))) if sharpness else 1.0


class _AxleWheels(NamedTuple):
    """The wheels of an axle, left and right; forces are over the car's weight.

    Attributes:
        forces: of the tyres along the wheel.
        rim_speeds: m/s at the tread.
        brakes: of the brakes.
        drive: of the drivetrain on both.
    """

    forces: list[Expression]
    rim_speeds: list[Expression]
    brakes: list[Expression]
    drive: Expression


def _wheel_balances(axle: AxleParameters, wheels: _AxleWheels, weight: float, lock_speed: float) -> list[Expression]:
    """Return the two equations of an axle's wheels: the sum of their forces, and the difference.

    Args:
        axle: the axle.
        wheels: their forces and speeds.
        weight: N, of the car.
        lock_speed: m/s, over which a friction lock takes hold.
    """
    left, right = (force + brake for force, brake in zip(wheels.forces, wheels.brakes, strict=True))
    faster = wheels.rim_speeds[1] - wheels.rim_speeds[0]
    total = (left + right - wheels.drive) / FORCE_SCALE
    if axle.coupling == "rigid":
        return [total, faster]
    moved = axle.viscous * faster / weight
    if axle.coupling == "lock":
        lock = axle.preload / weight + axle.lock * wheels.drive
        moved = moved + lock * import_casadi().tanh(faster / lock_speed)
    return [total, (left - right - moved) / FORCE_SCALE]


def _driven_speed(car: VehicleModel, rim_speeds: list[Expression]) -> Expression:
    front, rear = 0.5 * (rim_speeds[0] + rim_speeds[1]), 0.5 * (rim_speeds[2] + rim_speeds[3])
    return car.drive_front * front + (1.0 - car.drive_front) * rear
