"""A published minimum-time lap of the library's `f1`, replayed: its wheel loads and the forces that it asks for."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from trailbrake.cars.axle_forces import load_parameters, wheel_loads
from trailbrake.cars.car_library import load_car
from trailbrake.cars.ggv_envelope import compute_envelope
from trailbrake.cars.params import CarParams
from trailbrake.world.row_layout import StateRow
from world_validation.case import Array, Case, Check, Curve, Plot, below, rms
from world_validation.driving import Field

STUDY_G = 9.81  # m/s^2, what the study's loads add up with
WHEELS = ("FL", "FR", "RL", "RR")
MOST_USED = 0.95  # of an axle's grip; nearer to the limit the world's car would need a driver to hold it
FOLDER = Path("data") / "reference"


@dataclass(frozen=True, eq=False)
class Lap:
    """Means over the intervals between the nodes of the published solution, ISO 8855 signs, all (n,).

    Attributes:
        time: s, its total.
        along: m, middle of the interval.
        speed: m/s, forward, root of the mean square.
        ahead: m/s^2, longitudinal acceleration of the body.
        aside: m/s^2, lateral acceleration of the body, positive left.
        turn: rad/s^2, yaw acceleration, positive left.
        rate: rad/s, yaw rate.
        steer: rad, of the front wheels, positive left.
        loads: (4, n) N.
    """

    time: float
    along: Array
    speed: Array
    ahead: Array
    aside: Array
    turn: Array
    rate: Array
    steer: Array
    loads: Array


def read(shared: Path) -> Lap:
    """Return the lap in the folder `shared`.

    The solution was found with the trapezoidal rule, which makes the mean acceleration of an interval exactly its
    change of speed over its time; at the nodes themselves one would have to guess it.
    """
    table = np.genfromtxt(shared / FOLDER / "limebeer2014_f1_catalunya_solution.csv", delimiter=",", names=True)
    track = np.genfromtxt(shared / FOLDER / "limebeer2014_f1_catalunya_track.csv", delimiter=",", names=True)
    total = 77.791438  # s, as the folder's README has it
    length = float(track["s_m"][-1] + track["s_m"][1])

    def change(values: Array, more: float = 0.0) -> Array:
        return np.append(values[1:], values[0] + more) - values

    def mean(values: Array) -> Array:
        return values + 0.5 * change(values)

    time, vx, vy, rate = (table[key] for key in ("time", "chassisvelocityx", "chassisvelocityy", "chassisomegaz"))
    steps = change(time, total)
    along = np.asarray(table["roadarclength"])
    loads = np.stack([table[f"chassisforce_z_{key}_g"] for key in ("fl", "fr", "rl", "rr")])
    weight = load_car("f1").body.mass * STUDY_G
    return Lap(
        total,
        along + 0.5 * change(along, length),
        np.sqrt(mean(vx * vx)),
        change(vx) / steps - mean(rate * vy),
        -(change(vy) / steps + mean(rate * vx)),  # z is down in the study, so its y points right
        -change(rate) / steps,
        -mean(rate),
        -mean(table["control_variablesfrontaxlesteeringanglevalues"]),
        -weight * np.stack([mean(one) for one in loads]),
    )


def planned_loads(car: CarParams, lap: Lap) -> Array:
    """Return the loads (4, n) by the planner's quasi-static formulas."""
    rows = [wheel_loads(float(ax), float(ay), float(v), load_parameters(car))
            for ax, ay, v in zip(lap.ahead, lap.aside, lap.speed, strict=True)]  # fmt: skip
    return np.array(rows).T


def driven_loads(car: CarParams, lap: Lap, chosen: Array) -> tuple[Array, Array]:
    """Return the loads (4, m) of the world's car at the nodes `chosen` (m,), and which of them it could hold.

    Speed and curvature are held; what the lap accelerates is given as an inertial force along the car, so that the
    tyres carry the lap's forces in a steady state. Torques and steer are found by feedback.
    """
    v, ax, ay = lap.speed[chosen], lap.ahead[chosen], lap.aside[chosen]
    field = Field([car], v, dt=0.001, substeps=1)
    body = car.body
    rate = ay / v
    drag = 0.5 * car.aero.air_density * car.aero.drag_area * v * v
    wish = body.mass * ax + drag
    error_sum, steer = np.zeros(len(v)), body.wheelbase * rate / v
    share = car.brakes.front_share
    push, fade = np.zeros(len(v)), 0.0
    while field.time < 8.0:
        fade = min(1.0, field.time / 3.0)  # wound on slowly
        field.put(StateRow.GRAVITY_X, -fade * ax)
        error = v - field[StateRow.VX]
        error_sum += error * field.period
        push = fade * wish + body.mass * (5.0 * error + 4.0 * error_sum)
        loads = field.four(StateRow.LOAD)
        left = loads[2] / np.maximum(loads[2] + loads[3], 1.0)
        drive = np.maximum(push, 0.0) * car.tyre_rear.radius
        brake = 0.5 * np.maximum(-push, 0.0) * car.tyre_front.radius
        zero = np.zeros(len(v))
        front, rear = share * brake, (1.0 - share) * brake
        field.torques(np.stack([zero, zero, left * drive, (1.0 - left) * drive]), np.stack([front, front, rear, rear]))
        behind = fade * rate - field[StateRow.YAW_RATE]
        steer += field.period * 0.6 * behind
        field.steer(np.clip(steer * fade + 0.05 * behind, -0.4, 0.4))
        field.step()
    held = (np.abs(field[StateRow.VX] - v) < 0.005 * v) & (np.abs(field[StateRow.AY] - ay) < 0.5)
    return field.four(StateRow.LOAD), held


def use_of_grip(car: CarParams, lap: Lap, loads: Array) -> tuple[Array, Array]:
    """Return the shares (n,) of the front and the rear axle's friction ellipses that the lap's forces take.

    The axles' side forces follow from the balance of side force and yaw moment. The steered front wheels' side forces
    pull back, more so on the outer side, where the load is: that is part of the balance, and worth 2 %.
    """
    body = car.body
    force = body.mass * lap.aside
    most = np.zeros((2, 2, len(force)))  # axle, direction
    across = []
    for wheel, load_ in enumerate(loads):
        tyre = car.tyre_front if wheel < 2 else car.tyre_rear
        over = load_ / tyre.nominal_load - 1.0
        across.append(tyre.mu_y * (1.0 - tyre.mu_y_load * over) * load_)
        most[wheel // 2, 0] += tyre.mu_x * (1.0 - tyre.mu_x_load * over) * load_
        most[wheel // 2, 1] += across[-1]
    front = (force * body.cg_to_rear + body.yaw_inertia * lap.turn) / body.wheelbase
    outward = 0.5 * body.track_front * (across[1] - across[0]) / most[0, 1] * np.sin(lap.steer)
    for _ in range(3):  # the moment of what is looked for: a small correction
        front = (force * body.cg_to_rear + body.yaw_inertia * lap.turn + front * outward) / body.wheelbase
    rear = force - front
    front = front / np.cos(lap.steer)
    push = body.mass * lap.ahead + 0.5 * car.aero.air_density * car.aero.drag_area * lap.speed**2
    push = push + front * np.sin(lap.steer)
    part = np.where(push < 0.0, car.brakes.front_share, car.drive.front_share)
    return np.hypot(part * push / most[0, 0], front / most[0, 1]), np.hypot(
        (1.0 - part) * push / most[1, 0], rear / most[1, 1]
    )


@cache
def lap(shared: Path) -> Case:
    """Replay the lap."""
    car, one = load_car("f1"), read(shared)
    body = car.body
    static = 0.5 * body.mass * STUDY_G * np.array([body.front_share] * 2 + [1.0 - body.front_share] * 2)
    checks: list[Check] = []
    lift = 0.5 * car.aero.air_density * (car.aero.lift_area_front + car.aero.lift_area_rear) * one.speed**2
    weight = body.mass * STUDY_G
    missing = rms(one.loads.sum(0) - weight - lift) / weight
    checks.append(below("sum of the file's loads against weight and our downforce, RMS", missing, "%", 0.05, 100.0))
    planned = planned_loads(car, one)
    for i, wheel in enumerate(WHEELS):
        checks.append(below(f"{wheel}: planner's formulas, {len(one.speed)} intervals, RMS",
                            rms(planned[i] - one.loads[i]) / static[i], "%", 0.05, 100.0))  # fmt: skip
    front, rear = use_of_grip(car, one, planned)
    used = np.maximum(front, rear)
    chosen = np.flatnonzero(used < MOST_USED)[::2]
    driven, held = driven_loads(car, one, chosen)
    for i, wheel in enumerate(WHEELS):
        difference = (driven[i] - one.loads[i, chosen])[held]
        checks.append(below(f"{wheel}: the world's car held at {held.sum()} of {len(chosen)} intervals, RMS",
                            rms(difference) / static[i], "%", 0.05, 100.0))  # fmt: skip
    within = float((used <= 1.0).mean())
    what = f"grip used: {100 * within:.0f} % of the intervals within 1; the most is {used.max():.3f}, over 1 by"
    checks.append(below(what, max(float(used.max()) - 1.0, 0.0), "%", 0.03, 100.0))
    limits = compute_envelope(car)
    lateral = np.interp(one.speed, limits.speeds, limits.lateral)
    beyond = np.abs(one.aside) / lateral
    plots = (
        Plot("lap_loads", "distance along the lap, m", "load, N", (
            Curve("FL, published", one.along, one.loads[0], "--"),
            Curve("FL, world", one.along[chosen][held], driven[0][held], "o"),
            Curve("RR, published", one.along, one.loads[3], "--"),
            Curve("RR, world", one.along[chosen][held], driven[3][held], "o"),
        )),
        Plot("lap_grip", "distance along the lap, m", "share of the axle's friction ellipse", (
            Curve("front", one.along, front), Curve("rear", one.along, rear),
        )),
    )  # fmt: skip
    return Case(
        "A published lap: Formula 1 car on Catalunya",
        "The car `f1` of the library is the car of the study. Each of the 500 intervals of the published minimum-time"
        " lap (77.79 s) asks for a speed, a longitudinal, a lateral and a yaw acceleration. They are put into the"
        " planner's load formulas (`cars/axle_forces.py`), and the world's car, springs, camber and all, is held at"
        f" the same speed and path curvature at every second interval that uses less than {MOST_USED:.0%} of an axle's"
        " grip, with an inertial force along the car for what the lap accelerates there.",
        "Wheel loads of the solution file of fastest-lap (Limebeer 2014 car; Perantoni and Limebeer, Vehicle System"
        " Dynamics 52:5, 2014). Grip: the tyre forces that the path asks for, over the axle's friction ellipse at"
        " those loads.",
        tuple(checks),
        "the wheel's static load; for the sum, the weight; for grip, the limit",
        plots,
        (
            "A minimum-time lap uses all the grip there is, so the required forces lie on the limit for long; they"
            f" leave ours by {100 * (float(used.max()) - 1.0):.1f} % at most, on entry to bends while coasting. Left"
            " out of the replay's bookkeeping: the yaw moment of the study's viscous differential, and that the two"
            " tyres of an axle run at the same slip and not each at its own peak.",
            "The planner's envelope keeps reserves on the rear axle on purpose (3 % in steady bends, 15 % under"
            " braking): the lap's lateral acceleration is beyond its steady limit in"
            f" {100 * float((beyond > 1.0).mean()):.0f} % of the intervals, by {100 * (float(beyond.max()) - 1.0):.1f}"
            " % at most.",
            "Weight: the study's g is 9.81 m/s², ours 9.80665 m/s².",
        ),
    )
