"""Classes of cars: what a car of a class is like before anything is measured, and how far such cars differ.

Figures of classes, from textbooks (Milliken and Milliken, Race Car Vehicle Dynamics, 1995; Gillespie, Fundamentals of
Vehicle Dynamics, 1992), not of single cars. What a drive cannot tell is filled in from here: springs and dampers by
natural frequency and damping ratio, inertias by radii of gyration.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

from trailbrake.cars.params import (
    Aero,
    Body,
    Brakes,
    CarParams,
    Differential,
    Driveline,
    Engine,
    Fuel,
    Gearbox,
    SteeringGear,
    Suspension,
    Tyre,
)
from trailbrake.units import RPM, G

SOURCE = "prior: class of cars"
AIR_DENSITY = 1.2  # kg/m^3
TORQUE_SHARES = (0.6, 0.8, 0.9, 0.96, 1.0, 1.0, 0.94, 0.82)  # of the most torque, at even steps up to the limiter
WHEEL_GYRATION = 0.75  # radius of gyration of a wheel over its radius


@dataclass(frozen=True)
class CarClass:
    """A class of cars.

    Attributes:
        name: of the class.
        mass: kg, with driver.
        wheelbase, track, cg_height, radius: m.
        front_share: of the weight.
        frequency: Hz, of the body on its springs.
        friction: 1, peak of a tyre.
        slip_angle: rad, of that peak.
        downforce: m^2, lift area of both axles together.
        drag_area: m^2.
        rolling: 1, rolling resistance.
        torque: N m, of the engine.
        idle, limiter: rpm.
        max_steer: rad, at the road wheels.
        steer_rate: rad/s.
        steer_ratio: steering wheel over road wheel.
        shift_time: s.
        brake: m/s^2 at full pedal.
        engine_inertia: kg m^2.
        assisted: whether such cars have ABS and traction control.
    """

    name: str
    mass: float
    wheelbase: float
    track: float
    cg_height: float
    radius: float
    front_share: float
    frequency: float
    friction: float
    slip_angle: float
    downforce: float
    drag_area: float
    rolling: float
    torque: float
    idle: float
    limiter: float
    max_steer: float
    steer_rate: float
    steer_ratio: float
    shift_time: float
    brake: float
    engine_inertia: float
    assisted: bool

    @property
    def load(self) -> float:
        """Load on the tyres at 50 m/s over the weight."""
        return 1.0 + 0.5 * AIR_DENSITY * self.downforce * 50.0**2 / (self.mass * G)

    @property
    def power(self) -> float:
        """Most power of the engine over the mass, W/kg."""
        share = max(k / 8.0 * torque for k, torque in enumerate(TORQUE_SHARES, 1))
        return share * self.torque * self.limiter * RPM / self.mass


CLASSES = (
    CarClass("road", 1450.0, 2.65, 1.54, 0.53, 0.315, 0.56, 1.5, 1.05, 0.14, 0.0, 0.65, 0.012, 300.0, 850.0, 6600.0,
             0.58, 1.0, 15.0, 0.25, 11.0, 0.16, True),
    CarClass("sports", 1550.0, 2.68, 1.64, 0.46, 0.345, 0.44, 2.0, 1.25, 0.13, 0.6, 0.70, 0.013, 600.0, 900.0, 8800.0,
             0.58, 1.0, 13.5, 0.12, 13.0, 0.20, True),
    CarClass("touring", 1300.0, 2.65, 1.62, 0.47, 0.335, 0.48, 3.0, 1.55, 0.12, 2.0, 1.0, 0.014, 450.0, 1200.0, 8000.0,
             0.50, 1.5, 10.0, 0.08, 17.0, 0.14, True),
    CarClass("formula", 700.0, 3.2, 1.50, 0.31, 0.33, 0.46, 4.5, 1.65, 0.115, 3.5, 1.2, 0.010, 350.0, 2500.0, 12500.0,
             0.40, 1.6, 9.0, 0.04, 22.0, 0.06, False),
    CarClass("kart", 165.0, 1.06, 1.15, 0.24, 0.13, 0.43, 5.5, 1.95, 0.11, 0.0, 0.55, 0.025, 20.0, 2500.0, 15000.0,
             0.60, 3.0, 1.4, 0.05, 12.0, 0.003, False),
)  # fmt: skip
# How much a relative difference counts.
TRACK_WEIGHT, RADIUS_WEIGHT, MASS_WEIGHT, GRIP_WEIGHT, REV_WEIGHT, POWER_WEIGHT = 8.0, 8.0, 4.0, 3.0, 2.0, 1.0


class SeenCar(NamedTuple):
    """What can be seen of any car; NaN where it is not known.

    Attributes:
        radius: m, of the wheels.
        track: m.
        grip: 1, the most force over weight that was seen.
        limiter: rpm, the highest that was seen.
        mass: kg.
        load: 1, load on the tyres at 50 m/s over the weight: downforce.
        grip_speed: m/s, at which that force was seen: downforce is in it; 0: it is free of it.
        power: W/kg, the least that its engine has, as its quickest gains of speed show.
    """

    radius: float
    track: float
    grip: float
    limiter: float
    mass: float = math.nan
    load: float = math.nan
    grip_speed: float = 0.0
    power: float = math.nan


def find_class(seen: SeenCar) -> CarClass:
    """Return the class that is nearest to what is known of a car."""

    def distance(kind: CarClass) -> float:
        grip = kind.friction * (1.0 + (kind.load - 1.0) * (seen.grip_speed / 50.0) ** 2)
        pairs = ((seen.radius, kind.radius, RADIUS_WEIGHT), (seen.track, kind.track, TRACK_WEIGHT),
                 (seen.grip, grip, GRIP_WEIGHT), (seen.limiter, kind.limiter, REV_WEIGHT),
                 (seen.mass, kind.mass, MASS_WEIGHT), (seen.load, kind.load, GRIP_WEIGHT),
                 (seen.power, min(seen.power, kind.power), POWER_WEIGHT))  # fmt: skip
        return sum(weight * math.log(value / usual) ** 2 for value, usual, weight in pairs if value > 0.0)

    return min(CLASSES, key=distance)


def make_prior_car(kind: CarClass, layout: str = "rwd") -> CarParams:
    """Return a car of a class, driven by `layout`."""
    corner = 0.25 * kind.mass
    unsprung = 0.03 * kind.mass if kind.mass > 400.0 else 0.04 * kind.mass
    rate = (2.0 * math.pi * kind.frequency) ** 2 * (corner - unsprung)
    damping = 2.0 * math.sqrt(rate * (corner - unsprung))
    to_front = (1.0 - kind.front_share) * kind.wheelbase
    yaw_inertia = 0.9 * kind.mass * to_front * (kind.wheelbase - to_front) + 0.05 * kind.mass * kind.track**2
    differential = Differential(kind="lsd", preload=0.03 * kind.torque, lock_power=0.25, lock_coast=0.15)
    return CarParams(
        name="learned",
        title=f"a car of the class {kind.name}",
        body=Body(
            source=SOURCE, mass=kind.mass, yaw_inertia=yaw_inertia, roll_inertia=0.28 * yaw_inertia + 0.04 * kind.mass,
            pitch_inertia=0.95 * yaw_inertia, cg_height=kind.cg_height, wheelbase=kind.wheelbase,
            cg_to_front=to_front, track_front=kind.track, track_rear=kind.track, length=1.6 * kind.wheelbase,
            width=1.18 * kind.track,
        ),
        suspension_front=_suspension(kind, rate, damping, unsprung),
        suspension_rear=_suspension(kind, rate, damping, unsprung),
        aero=Aero(source=SOURCE, air_density=AIR_DENSITY, drag_area=kind.drag_area,
                  lift_area_front=0.45 * kind.downforce, lift_area_rear=0.55 * kind.downforce),
        tyre_front=_tyre(kind, unsprung),
        tyre_rear=_tyre(kind, unsprung),
        engine=Engine(
            source=SOURCE, rpm=tuple(kind.limiter * k / 8.0 for k in range(1, 9)),
            torque=tuple(kind.torque * share for share in TORQUE_SHARES),
            idle_rpm=kind.idle, limiter_rpm=kind.limiter, inertia=kind.engine_inertia,
            braking_torque_idle=0.06 * kind.torque, braking_torque_limiter=0.2 * kind.torque,
        ),
        gearbox=Gearbox(
            source=SOURCE, ratios=(3.6, 2.3, 1.7, 1.3, 1.05, 0.87), reverse=3.4, final_drive=3.6, efficiency=0.92,
            shift_time=kind.shift_time, upshift_rpm=0.95 * kind.limiter, downshift_rpm=0.6 * kind.limiter,
            clutch_torque=2.5 * kind.torque, blip=True,
        ),
        drive=Driveline(
            source=SOURCE, layout=layout,  # type: ignore[arg-type]
            differential_front=differential if layout != "rwd" else None,
            differential_rear=differential if layout != "fwd" else None,
            centre=differential if layout == "awd" else None, awd_front_share=0.4,
        ),
        brakes=Brakes(
            source=SOURCE, torque_front=0.66 * kind.brake * kind.mass * kind.radius,
            torque_rear=0.34 * kind.brake * kind.mass * kind.radius,
            handbrake_torque=0.25 * kind.brake * kind.mass * kind.radius, abs=kind.assisted, abs_slip=1.0,
            tc=kind.assisted, tc_slip=1.0,
        ),
        steering=SteeringGear(
            source=SOURCE, max_angle=kind.max_steer, ratio=kind.steer_ratio, max_rate=kind.steer_rate, ackermann=0.4
        ),
        fuel=Fuel(source=SOURCE, capacity=60.0, density=0.745, specific_consumption=290.0),
    )  # fmt: skip


def _suspension(kind: CarClass, rate: float, damping: float, unsprung: float) -> Suspension:
    return Suspension(
        source=SOURCE, spring_rate=rate, bump_damping=0.35 * damping, rebound_damping=0.55 * damping,
        anti_roll_rate=0.3 * rate, roll_centre=0.12 * kind.cg_height, anti_dive=0.2, anti_squat=0.2,
        unsprung_mass=unsprung, bump_travel=2.5 * G / (2.0 * math.pi * kind.frequency) ** 2,
        droop_travel=2.0 * G / (2.0 * math.pi * kind.frequency) ** 2, bump_stop_rate=rate, camber=-0.02,
        camber_gain=-0.4, toe=0.0,
    )  # fmt: skip


def _tyre(kind: CarClass, unsprung: float) -> Tyre:
    load = 0.25 * kind.mass * G
    return Tyre(
        source=SOURCE, radius=kind.radius, inertia=0.55 * unsprung * (WHEEL_GYRATION * kind.radius) ** 2,
        nominal_load=load, mu_x=1.03 * kind.friction, mu_y=kind.friction, mu_x_load=0.08, mu_y_load=0.12,
        peak_slip_ratio=0.10, peak_slip_angle=kind.slip_angle, slip_load=0.1, shape=1.45, curvature=-0.4,
        rolling_resistance=kind.rolling, relaxation_x=0.5 * kind.radius, relaxation_y=kind.radius,
        vertical_stiffness=70.0 * load, vertical_damping=0.1 * load, camber_thrust=0.08, camber_loss=2.0,
    )  # fmt: skip
