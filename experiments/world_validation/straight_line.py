"""Straight-line cases: braking, top speed, acceleration in a gear, coasting."""

import math
from functools import cache

import numpy as np
from msgspec.structs import replace

from trailbrake.cars.car_library import car_names, load_car
from trailbrake.cars.params import CarParams
from trailbrake.units import KMH, RPM, G
from trailbrake.world.row_layout import ControlRow, StateRow
from world_validation.case import Case, Curve, Plot, against
from world_validation.driving import Field, plain, with_tyres


def curve(car: CarParams, slip: float) -> float:
    """Return the Magic Formula's share of the peak at `slip` (1 = peak)."""
    tyre = car.tyre_front
    x = tyre.stiffness_factor * slip
    return math.sin(tyre.shape * math.atan(x - tyre.curvature * (x - math.atan(x))))


def _stop(field: Field, last: float) -> tuple[list[float], list[float]]:
    """Brake down to `last` (m/s); return speeds and places."""
    speeds, places = [], []
    while field[StateRow.VX][0] > last:
        field.step()
        speeds.append(float(field[StateRow.VX][0]))
        places.append(float(field[StateRow.X][0]))
    return speeds, places


@cache
def braking() -> Case:
    """Locked wheels, and wheels at the peak, against v^2 / (2 mu g)."""
    checks, curves = [], []
    first, last = 40.0, 5.0
    for name in ("hatchback", "gt3", "f1"):
        car = with_tyres(plain(load_car(name)), mu_x_load=0.0, slip_load=0.0, mu_x=1.2)
        car = replace(car, brakes=replace(car.brakes, abs=False))
        field = Field([car], [60.0])
        field.torques(np.zeros(4), np.full(4, 30000.0))
        _stop(field, first)
        start = float(field[StateRow.X][0]), float(field[StateRow.VX][0])
        speeds, places = _stop(field, last)
        friction = 1.2 * curve(car, 1.0 / car.tyre_front.peak_slip_ratio)
        truth = (start[1] ** 2 - speeds[-1] ** 2) / (2.0 * friction * G)
        checks.append(against(f"{name}, wheels locked, 40 to 5 m/s", truth, places[-1] - start[0], "m"))
    for name in ("hatchback", "gt3", "f1"):
        car = with_tyres(plain(load_car(name)), mu_x_load=0.0, slip_load=0.0, mu_x=1.2)
        body = car.body
        share = body.front_share + 1.2 * body.cg_height / body.wheelbase
        torque = 2.0 * 1.2 * body.mass * G * car.tyre_front.radius
        brakes = replace(car.brakes, torque_front=share * torque, torque_rear=(1.0 - share) * torque, abs=True,
                         abs_slip=1.0)  # fmt: skip
        field = Field([replace(car, brakes=brakes)], [60.0])
        field.put(ControlRow.BRAKE, 1.0)
        _stop(field, first)
        start = float(field[StateRow.X][0]), float(field[StateRow.VX][0])
        speeds, places = _stop(field, last)
        truth = (start[1] ** 2 - speeds[-1] ** 2) / (2.0 * 1.2 * G)
        checks.append(against(f"{name}, wheels held at the peak, 40 to 5 m/s", truth, places[-1] - start[0], "m"))
        if name == "gt3":
            along = np.array(places) - start[0]
            ideal = np.sqrt(np.maximum(start[1] ** 2 - 2.0 * 1.2 * G * along, 0.0))
            curves = [Curve("closed form", along, ideal, "--"), Curve("world", along, np.array(speeds))]
    return Case(
        "Braking in a straight line",
        "Friction 1.2 at any load, no air, no rolling resistance. Once with the wheels locked by far too much torque;"
        " once with the car's own ABS at the peak of the curve and brakes of twice the torque that the tyres carry,"
        " split as the loads are under braking. Distance from 40 to 5 m/s, from the moment the car passes 40 m/s.",
        "(v0² − v1²) / (2 μ g). Locked: μ is the friction of the sliding tyre, the Magic Formula at slip ratio −1"
        " (Pacejka, Tire and Vehicle Dynamics, 3rd ed. 2012, section 4.3); at the peak: μ itself.",
        tuple(checks),
        plots=(Plot("braking", "distance, m", "speed, m/s", tuple(curves)),),
    )


def resistance(car: CarParams, v: float) -> float:
    """Return drag and rolling resistance (N) at `v` (m/s), tyres alike on both axles."""
    dynamic = 0.5 * car.aero.air_density * v * v
    load_ = car.body.mass * G + dynamic * (car.aero.lift_area_front + car.aero.lift_area_rear)
    return dynamic * car.aero.drag_area + car.tyre_front.rolling_resistance * load_


def _geared_force(car: CarParams, v: float, gear: int) -> float:
    """Return the full-throttle force (N) at `v` (m/s) in `gear`, wheels rolling."""
    gearbox, engine = car.gearbox, car.engine
    ratio = gearbox.final_drive * gearbox.ratios[gear - 1]
    rpm = v / car.driven_radius * ratio / RPM
    return float(np.interp(rpm, engine.rpm, engine.torque)) * ratio * gearbox.efficiency / car.driven_radius


@cache
def top_speed() -> Case:
    """Each car of the library at full throttle until it is no faster, against power and drag."""
    checks, curves = [], []
    for name in car_names():
        car = load_car(name)
        air = replace(car.aero, ride_gain_front=0.0, ride_gain_rear=0.0, ride_curve_front=0.0, ride_curve_rear=0.0)
        car = plain(replace(car, aero=air), aero=True)
        car = with_tyres(car, rolling_resistance=0.012)
        speeds = np.linspace(5.0, 130.0, 12501)
        top = 0.0
        gear = 1
        for g in range(1, car.gearbox.top_gear + 1):
            ratio = car.gearbox.overall_ratio(g)
            limiter = car.engine.limiter_rpm * RPM / ratio * car.driven_radius
            able = [v for v in speeds if v <= limiter and _geared_force(car, v, g) > resistance(car, v)]
            if able and able[-1] > top:
                top, gear = float(able[-1]), g
        field = Field([car], [0.97 * top])
        field.gear(gear)
        field.put(ControlRow.THROTTLE, 1.0)
        times, path = [], []
        while field.time < 60.0:
            field.step()
            times.append(field.time)
            path.append(float(field[StateRow.VX][0]))
        limited = abs(top - car.engine.limiter_rpm * RPM / car.gearbox.overall_ratio(gear) * car.driven_radius) < 0.02
        what = f"{name}, gear {gear}" + (", at the limiter" if limited else "")
        checks.append(against(what, top / KMH, path[-1] / KMH, "km/h"))
        curves.append(Curve(name, np.array(times)[::60], np.array(path)[::60] / KMH))
    return Case(
        "Top speed",
        "Every car of the library at full throttle on the level, from 97 % of the closed form's speed, for 60 s, in"
        " the gear that is fastest. Downforce does not depend on ride height, rolling resistance 0.012 on both axles.",
        "The largest v with T(v i / r) i η / r = ρ/2 c_d A v² + c_r (m g + downforce), or the limiter's v in that"
        " gear. Slip of the driven tyres, about 1 %, is left out of the closed form.",
        tuple(checks),
        plots=(Plot("top_speed", "time, s", "speed, km/h", tuple(curves)),),
    )


@cache
def in_gear() -> Case:
    """Time to accelerate in one gear against the quadrature of force over mass and spinning parts."""
    checks = []
    curves: list[Curve] = []
    for name, gear, v0, v1 in (("hatchback", 3, 15.0, 30.0), ("gt3", 4, 35.0, 50.0), ("kart", 1, 20.0, 28.0)):
        car = load_car(name)
        air = replace(car.aero, ride_gain_front=0.0, ride_gain_rear=0.0, ride_curve_front=0.0, ride_curve_rear=0.0)
        # Stiff tyres, so that slip does not blur the gear's ratio of engine speed to road speed.
        car = with_tyres(plain(replace(car, aero=air), aero=True), rolling_resistance=0.012, peak_slip_ratio=0.03)
        engine = replace(car.engine, turbo_lag=0.0, turbo_share=0.0)
        car = replace(car, engine=engine)
        gear = min(gear, car.gearbox.top_gear)
        ratio, radius = car.gearbox.overall_ratio(gear), car.driven_radius
        spinning = 2.0 * (
            car.tyre_front.inertia / car.tyre_front.radius**2 + car.tyre_rear.inertia / car.tyre_rear.radius**2
        )
        mass = car.body.mass + spinning + car.engine.inertia * ratio**2 * car.gearbox.efficiency / radius**2
        field = Field([car], [v0 - 3.0])
        field.gear(gear)
        field.put(ControlRow.THROTTLE, 1.0)
        times, path = [], []
        while field[StateRow.VX][0] < v1:
            field.step()
            times.append(field.time)
            path.append(float(field[StateRow.VX][0]))
        took = float(np.interp(v1, path, times) - np.interp(v0, path, times))
        v = np.linspace(v0, v1, 4001)
        pull = np.array([_geared_force(car, x, gear) - resistance(car, x) for x in v])
        truth = float(np.trapezoid(mass / pull, v))
        checks.append(against(f"{name}, gear {gear}, {v0:.0f} to {v1:.0f} m/s", truth, took, "s"))
        if name == "gt3":
            ideal = np.concatenate([[0.0], np.cumsum(0.5 * (mass / pull[1:] + mass / pull[:-1]) * np.diff(v))])
            shift = np.interp(v0, path, times)
            curves += [Curve("closed form", ideal[::40], v[::40], "--"),
                       Curve("world", (np.array(times) - shift)[::5], np.array(path)[::5])]  # fmt: skip
    return Case(
        "Acceleration in one gear",
        "Full throttle in a fixed gear, no turbocharger lag, tyres with their peak at slip ratio 0.03 so that slip"
        " does not blur the ratio of engine speed to road speed. Time between two speeds.",
        "∫ (m + Σ J_w / r² + J_e i² η / r²) dv / (T(v i / r) i η / r − resistance(v)), by the trapezoidal rule on"
        " 4000 intervals (Milliken and Milliken, Race Car Vehicle Dynamics, 1995).",
        tuple(checks),
        plots=(Plot("in_gear", "time, s", "speed, m/s", tuple(curves)),),
    )
