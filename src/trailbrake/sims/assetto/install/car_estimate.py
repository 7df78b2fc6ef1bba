"""A cautious model of a car from its description alone: mass, engine, top speed.

Quantities that the file lacks come from one of our own cars, on the safe side: no downforce, little grip. A driver with
such a model is slow and stays on the road. Source of the file: protocol page assetto-custom-ai, section 7.
"""

import math

import msgspec

from trailbrake.cars.car_checks import check_car
from trailbrake.cars.car_library import load_car
from trailbrake.cars.params import CarParams, Engine, Gearbox
from trailbrake.sims.assetto.install.ui_json import CarUi
from trailbrake.units import RPM, G

BASE = "gt3"  # its frame is that of most cars: two driven wheels at the back, a stiff body
GRIP_RACE = 1.15  # friction on slicks, of about 1.5: as planned with a cold set
GRIP_STREET = 0.85  # on street tyres, of about 1.0
RACE_WORDS = (
    "race", "gt3", "gt2", "gte", "gt1", "gt4", "formula", "prototype", "lmp", "dtm", "touring", "single-seater",
)  # fmt: skip
DRAG_AREA = 0.9  # m^2, where there is no top speed
_GEAR_COUNT = 6
_FIRST_GEAR_RATIO = 2.8  # first gear over top gear, of common boxes
_MASS_LIMITS = (300.0, 4000.0)  # kg; a value outside was misread
_POWER_LIMITS = (15e3, 1.5e6)  # W
_SPEED_LIMITS = (20.0, 130.0)  # m/s


def estimate_car(name: str, description: CarUi, max_rpm: float = 0.0) -> tuple[CarParams, list[str]]:
    """Return a model of the car, and the names of its guessed quantities.

    Args:
        name: for the car.
        description: its description.
        max_rpm: the limiter by acpmf_static; 0 = unknown.

    Raises:
        DataError: the numbers do not make a car.
    """
    base = load_car(BASE)
    guessed: list[str] = []

    def known(value: float | None, limits: tuple[float, float], otherwise: float, what: str) -> float:
        if value is not None and limits[0] <= value <= limits[1]:
            return value
        guessed.append(what)
        return otherwise

    mass = known(description.mass, _MASS_LIMITS, base.body.mass, "mass")
    power = known(
        description.power, _POWER_LIMITS, mass * 200.0, "power"
    )  # 200 W/kg: more than most cars have, so that the plan does not rev too high
    scale = mass / base.body.mass
    racing = any(word in text for word in RACE_WORDS for text in (description.car_class, *description.tags))
    grip = GRIP_RACE if racing else GRIP_STREET
    guessed += ["grip", "gearbox"]
    engine = _estimate_engine(description, base.engine, power, max_rpm)
    top_speed = known(description.top_speed, _SPEED_LIMITS, _estimate_top_speed(engine.peak_power), "top speed")
    drag = min(max(2.0 * engine.peak_power / (base.aero.air_density * top_speed**3), 0.3), 2.5)
    body = msgspec.structs.replace(
        base.body, mass=mass, yaw_inertia=base.body.yaw_inertia * scale, roll_inertia=base.body.roll_inertia * scale,
        pitch_inertia=base.body.pitch_inertia * scale,
    )  # fmt: skip
    axles = {
        side: msgspec.structs.replace(
            axle, spring_rate=axle.spring_rate * scale, bump_damping=axle.bump_damping * scale,
            rebound_damping=axle.rebound_damping * scale, anti_roll_rate=axle.anti_roll_rate * scale,
            unsprung_mass=axle.unsprung_mass * scale, bump_stop_rate=axle.bump_stop_rate * scale,
        )
        for side, axle in (("front", base.suspension_front), ("rear", base.suspension_rear))
    }  # fmt: skip
    tyres = {
        side: msgspec.structs.replace(
            tyre, mu_x=grip, mu_y=grip, nominal_load=tyre.nominal_load * scale, thermal=None,
            vertical_stiffness=tyre.vertical_stiffness * scale, vertical_damping=tyre.vertical_damping * scale,
        )
        for side, tyre in (("front", base.tyre_front), ("rear", base.tyre_rear))
    }  # fmt: skip
    hold = base.body.mass * G * base.tyre_front.mu_x
    brakes = msgspec.structs.replace(
        base.brakes, torque_front=base.brakes.torque_front * mass * G * grip / hold,
        torque_rear=base.brakes.torque_rear * mass * G * grip / hold,
    )  # fmt: skip
    car = msgspec.structs.replace(
        base, name=name, title=description.name or name, body=body, suspension_front=axles["front"],
        suspension_rear=axles["rear"], tyre_front=tyres["front"], tyre_rear=tyres["rear"],
        aero=msgspec.structs.replace(base.aero, drag_area=drag, lift_area_front=0.0, lift_area_rear=0.0),
        engine=engine, gearbox=_estimate_gearbox(base, engine, top_speed), brakes=brakes, hybrid=None,
    )  # fmt: skip
    check_car(car, f"ui_car.json of {name}")
    return car, guessed


def _estimate_top_speed(power: float) -> float:
    return math.cbrt(2.0 * power / (1.2 * DRAG_AREA))  # power = density / 2 * area * v^3


def _estimate_engine(description: CarUi, base: Engine, power: float, max_rpm: float) -> Engine:
    """Return an engine with the file's torque curve; without one, `base` scaled to `power` (W) at its own speeds."""
    curve = [(rpm, torque) for rpm, torque in description.torque_curve if rpm >= 500.0 and torque > 0.0][:32]
    if len(curve) < 2 and len(description.power_curve) >= 2:
        curve = [(rpm, watts / (rpm * RPM)) for rpm, watts in description.power_curve if rpm >= 500.0 and watts > 0.0][
            :32
        ]
    if len(curve) < 2:
        factor = power / base.peak_power
        curve = [(rpm, torque * factor) for rpm, torque in zip(base.rpm, base.torque, strict=True)]
    limiter = max_rpm if 1000.0 <= max_rpm <= 25_000.0 else curve[-1][0]
    idle = min(max(curve[0][0], 700.0), 0.4 * limiter)
    peak = max(torque for _, torque in curve)
    scale = peak / max(base.torque)
    return Engine(
        rpm=tuple(rpm for rpm, _ in curve), torque=tuple(torque for _, torque in curve), idle_rpm=idle,
        limiter_rpm=limiter, inertia=base.inertia * scale, braking_torque_idle=base.braking_torque_idle * scale,
        braking_torque_limiter=base.braking_torque_limiter * scale, source=f"ui_car.json of {description.name}",
    )  # fmt: skip


def _estimate_gearbox(base: CarParams, engine: Engine, top_speed: float) -> Gearbox:
    """Return a gearbox with geometric steps whose top gear reaches `top_speed` (m/s) at the limiter."""
    top = engine.limiter_rpm * RPM * base.driven_radius / top_speed
    ratios = tuple(_FIRST_GEAR_RATIO ** (1.0 - k / (_GEAR_COUNT - 1)) for k in range(_GEAR_COUNT))
    return msgspec.structs.replace(
        base.gearbox, ratios=ratios, reverse=_FIRST_GEAR_RATIO, final_drive=top, upshift_rpm=0.95 * engine.limiter_rpm,
        downshift_rpm=max(0.6 * engine.limiter_rpm, engine.idle_rpm * 1.1),
        clutch_torque=2.0 * max(engine.torque),
    )  # fmt: skip
