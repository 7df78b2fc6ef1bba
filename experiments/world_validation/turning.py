"""Cornering cases: steady circles and the step steer against the linear bicycle, load transfer against statics."""

from functools import cache

import numpy as np
from msgspec.structs import replace

from trailbrake.cars.car_library import load_car
from trailbrake.cars.params import CarParams
from trailbrake.units import G
from trailbrake.world.row_layout import ControlRow, StateRow
from world_validation.case import Array, Case, Check, Curve, Plot, against, below, rms
from world_validation.driving import Field, cornering_stiffness, plain, roll_rates

CARS = ("hatchback", "gt3", "f1")


def axle_stiffnesses(car: CarParams) -> tuple[float, float]:
    """Return the cornering stiffness (N/rad) of both axles at the loads of a car at rest."""
    body = car.body
    front, rear = 0.5 * body.mass * G * body.front_share, 0.5 * body.mass * G * (1.0 - body.front_share)
    return 2.0 * cornering_stiffness(car.tyre_front, front), 2.0 * cornering_stiffness(car.tyre_rear, rear)


def understeer(car: CarParams) -> float:
    """Return the understeer gradient (rad s^2/m) of the linear bicycle."""
    body = car.body
    front, rear = axle_stiffnesses(car)
    return body.mass / body.wheelbase * (body.cg_to_rear / front - body.cg_to_front / rear)


@cache
def steady_circle() -> Case:
    """Yaw gain over speed and the understeer gradient."""
    checks: list[Check] = []
    curves: list[Curve] = []
    speeds = np.array([8.0, 15.0, 22.0, 30.0, 40.0])
    for name in CARS:
        car = plain(load_car(name))
        base, gradient = car.body.wheelbase, understeer(car)
        steer = 0.5 * (base / speeds**2 + gradient)  # for 0.5 m/s^2
        field = Field([car], speeds)
        field.steer(steer)
        field.hold(8.0)
        v, rate = field[StateRow.VX], field[StateRow.YAW_RATE]
        truth = v / (base + gradient * v * v)
        for i, speed in enumerate(speeds):
            if speed in (15.0, 40.0):
                checks.append(
                    against(f"{name}, yaw rate over steer at {speed:.0f} m/s", truth[i], rate[i] / steer[i], "1/s")
                )
        # Slope over lateral acceleration at one speed, from two circles.
        field = Field([car], [25.0, 25.0])
        angles = np.array([0.25, 0.5]) * (base / 25.0**2 + gradient)
        field.steer(angles)
        field.hold(8.0)
        v, rate = field[StateRow.VX], field[StateRow.YAW_RATE]
        more = angles - base * rate / v
        slope = float((more[1] - more[0]) / (v[1] * rate[1] - v[0] * rate[0]))
        front = car.body.mass * car.body.cg_to_rear / base / axle_stiffnesses(car)[0]
        unit = "mrad s²/m"
        checks.append(against(f"{name}, understeer gradient (share of the front axle's {1e3 * front:.3g} {unit})",
                              1e3 * gradient, 1e3 * slope, unit, scale=1e3 * front))  # fmt: skip
        if name == "hatchback":
            accelerations = np.linspace(0.5, 9.0, 18)
            field = Field([car], np.full(18, 25.0))
            field.steer(accelerations * (base / 625.0 + gradient))
            field.hold(10.0)
            v, rate = field[StateRow.VX], field[StateRow.YAW_RATE]
            asked = accelerations * (base / 625.0 + gradient)
            curves = [
                Curve("linear bicycle", accelerations, gradient * accelerations * 1e3, "--"),
                Curve("world", v * rate, (asked - base * rate / v) * 1e3, "o"),
            ]
    return Case(
        "Steady circle",
        "Plain cars (no camber, no toe, parallel steering, no air, no rolling resistance, equal torque on the rear"
        " wheels to hold the speed), fixed steer for 0.5 m/s² of lateral acceleration, 8 s. The gradient comes from"
        " two circles at 25 m/s, of 0.25 and 0.5 m/s².",
        "Yaw gain v / (L + K v²) with K = m / L (b / C_f − a / C_r) (Pacejka 2012, section 1.3; cornering stiffness C"
        " = B C μ F_z / tan(peak slip angle) at the loads at rest).",
        tuple(checks),
        "the closed form's value; of the gradient, which is the difference of two axles, that of the front axle",
        (Plot("circle", "lateral acceleration, m/s²", "steer less L / R, mrad (hatchback)", tuple(curves)),),
        ("The plot goes to the limit, where the linear bicycle has long left the tyres' curves.",),
    )


def bicycle(car: CarParams, v: float, steer: float, times: Array) -> tuple[Array, Array]:
    """Return yaw rate and lateral velocity (n,) of the linear bicycle with relaxing tyres after a step of steer.

    States: lateral velocity, yaw rate, the two axles' slip angles behind their tyres' relaxation lengths. Solved by
    its eigenvalues.
    """
    body = car.body
    front, rear = axle_stiffnesses(car)
    a, b, mass, inertia = body.cg_to_front, body.cg_to_rear, body.mass, body.yaw_inertia
    lag_f, lag_r = v / car.tyre_front.relaxation_y, v / car.tyre_rear.relaxation_y
    matrix = np.array([
        [0.0, -v, -front / mass, -rear / mass],
        [0.0, 0.0, -a * front / inertia, b * rear / inertia],
        [lag_f / v, lag_f * a / v, -lag_f, 0.0],
        [lag_r / v, -lag_r * b / v, 0.0, -lag_r],
    ])  # fmt: skip
    drive = np.array([0.0, 0.0, -lag_f * steer, 0.0])
    rest = -np.linalg.solve(matrix, drive)
    values, vectors = np.linalg.eig(matrix)
    amounts = np.linalg.solve(vectors, (-rest).astype(complex))
    states = (vectors * amounts) @ np.exp(np.outer(values, times)) + rest[:, None]
    return states[1].real, states[0].real


@cache
def step_steer() -> Case:
    """The transient of yaw rate and lateral velocity after a step of steer."""
    checks: list[Check] = []
    curves: list[Curve] = []
    for name, speed in (("hatchback", 30.0), ("gt3", 45.0), ("f1", 45.0)):
        car = plain(load_car(name))
        steer = 0.5 * (car.body.wheelbase / speed**2 + understeer(car))
        field = Field([car], [speed], substeps=1, dt=0.0005)
        field.steer(steer)
        field.torques(np.zeros(4), np.zeros(4))  # no differential's preload either
        times, rates, sides = [], [], []
        while field.time < 3.0:
            field.step()
            times.append(field.time)
            rates.append(float(field[StateRow.YAW_RATE][0]))
            sides.append(float(field[StateRow.VY][0]))
        t, rate, side = np.array(times), np.array(rates), np.array(sides)
        true_rate, true_side = bicycle(car, speed, steer, t)
        checks += [
            below(f"{name}, yaw rate over 3 s at {speed:.0f} m/s, RMS of the difference, share of the steady value",
                  rms(rate - true_rate) / abs(true_rate[-1]), "%", 0.01, 100.0),
            below(f"{name}, lateral velocity, RMS of the difference, share of the largest",
                  rms(side - true_side) / float(np.abs(true_side).max()), "%", 0.01, 100.0),
            against(f"{name}, largest yaw rate", float(true_rate.max()), float(rate.max()), "rad/s"),
        ]  # fmt: skip
        every = slice(None, 3000, 15)
        curves += [Curve(f"{name}, bicycle", t[every], true_rate[every], "--"),
                   Curve(f"{name}, world", t[every], rate[every])]  # fmt: skip
    return Case(
        "Step steer",
        "Plain cars rolling in neutral on the level; the rack steps within one substep of 0.5 ms to an angle worth"
        " 0.5 m/s². 3 s are compared, from the step on.",
        "The linear bicycle with first-order tyres, four states, solved by its eigenvalues (Pacejka 2012, section"
        " 1.3; relaxation lengths: section 7.2.1).",
        tuple(checks),
        "the value named",
        (Plot("step_steer", "time, s", "yaw rate, rad/s", tuple(curves)),),
        ("In the world roll does not move the contact patches sideways, and the body's roll does not act back on the"
         " plane motion but by the loads: in the linear range the plane motion is the bicycle's.",),
    )  # fmt: skip


def transfers(car: CarParams, lateral: float) -> tuple[float, float, float]:
    """Return the load moved (N) across the front and the rear axle, and the roll angle (rad), at m/s^2 of `lateral`.

    Of each axle's side force the links carry the moment up to the roll centre; springs and bars carry what is left
    of the sum, as their shares of the same roll angle, in series with the tyres. The leaning body's weight adds.
    """
    body = car.body
    force = car.body.mass * lateral
    shares = (body.cg_to_rear / body.wheelbase, body.cg_to_front / body.wheelbase)
    axles = (
        (car.suspension_front, car.tyre_front, body.track_front),
        (car.suspension_rear, car.tyre_rear, body.track_rear),
    )
    rates = [roll_rates(links, tyre, track) for links, tyre, track in axles]
    linked = [share * force * links.roll_centre for share, (links, _, _) in zip(shares, axles, strict=True)]
    axis = sum(share * links.roll_centre for share, (links, _, _) in zip(shares, axles, strict=True))
    # Spring moment of an axle: (roll - linked / tyres) / (1 / springs + 1 / tyres); all of it twists the tyres.
    series = [1.0 / (1.0 / springs + 1.0 / tyres) for springs, tyres in rates]
    lean = car.sprung_mass * G * (body.cg_height - axis)
    wanted = force * body.cg_height - sum(linked)
    wanted += sum(s * m / tyres for s, m, (_, tyres) in zip(series, linked, rates, strict=True))
    roll = wanted / (sum(series) - lean)
    moments = [s * (roll - m / tyres) + m for s, m, (_, tyres) in zip(series, linked, rates, strict=True)]
    return moments[0] / body.track_front, moments[1] / body.track_rear, roll


@cache
def load_transfer() -> Case:
    """Loads moved sideways and lengthwise, and roll, against statics."""
    checks: list[Check] = []
    for name in CARS:
        car = load_car(name)
        field = Field([car], [0.0])
        field.put(ControlRow.BRAKE, 1.0)
        while field.time < 6.0:
            field.step()
        share = float(field.four(StateRow.LOAD)[:2].sum() / field.four(StateRow.LOAD).sum())
        checks.append(against(f"{name} at rest, front share", car.body.cg_to_rear / car.body.wheelbase, share, ""))
    for name, lateral in (("hatchback", 5.0), ("gt3", 8.0), ("f1", 8.0)):
        car = plain(load_car(name))
        speed = 25.0
        field = Field([car], [speed])
        field.steer(lateral * (car.body.wheelbase / speed**2 + understeer(car)))
        field.hold(10.0)
        loads, ay = field.four(StateRow.LOAD)[:, 0], float(field[StateRow.AY][0])
        front, rear, roll = transfers(car, ay)
        at = f"{name} at {ay:.1f} m/s²"
        checks += [
            against(f"{at}, front axle", front, 0.5 * float(loads[1] - loads[0]), "N"),
            against(f"{at}, rear axle", rear, 0.5 * float(loads[3] - loads[2]), "N"),
            against(f"{at}, roll", np.degrees(roll), np.degrees(float(field[StateRow.ROLL][0])), "°"),
        ]
    for name in CARS:
        car = plain(load_car(name))
        field = Field([car], [50.0])
        torque = 6.0 * car.body.mass * car.tyre_front.radius
        field.torques(np.zeros(4), 0.5 * torque * np.array([0.6, 0.6, 0.4, 0.4]))
        while field.time < 3.0:
            field.step()
        loads, ax = field.four(StateRow.LOAD)[:, 0], float(field[StateRow.AX][0])
        truth = -car.body.mass * ax * car.body.cg_height / car.body.wheelbase
        moved = float(loads[0] + loads[1]) - car.body.mass * G * car.body.front_share
        checks.append(against(f"{name} braking with {-ax:.1f} m/s²", truth, moved, "N"))
    car = load_car("f1")
    car = replace(plain(car, aero=True), hybrid=None)
    field = Field([car], [80.0])
    field.hold(4.0, 0.5 * car.aero.air_density * 80.0**2 * car.aero.drag_area)
    v = float(field[StateRow.VX][0])
    loads = field.four(StateRow.LOAD)[:, 0]
    half = 0.5 * car.aero.air_density * v * v
    front = half * car.aero.lift_area_front + car.body.mass * G * car.body.front_share
    checks.append(against(f"f1 at {v:.0f} m/s, front axle with downforce", front, float(loads[:2].sum()), "N"))
    return Case(
        "Load transfer",
        "The library's cars at rest. Plain cars: a steady circle at 25 m/s far beyond the tyres' linear range, then"
        " braking in a straight line, the wheels' torques given from outside; then downforce at a steady 80 m/s.",
        "Sideways: m a_y h in all, of which the links carry F_y h_rc of each axle and springs, bars and tyres in"
        " series the rest by their shares, with the leaning body's weight (Milliken and Milliken 1995, chapter 18)."
        " Lengthwise: m a_x h / L. Downforce of an axle: ρ/2 A v² (SAE J1594: the moment of the drag is in the lift"
        " areas).",
        tuple(checks),
    )
