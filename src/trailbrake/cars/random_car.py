"""Random cars from a seed: a car of the library in which everything that a driver has to learn has another size.

`random:SEED` draws a base from the library and the sizes; `random:SEED:BASE` draws the same sizes for a base of the
user's. The rest of the car follows, so that it stays a car: springs, wheels and tyres suit its mass, the gears its top
speed, the brakes what its tyres can hold.

The only random numbers are those of `Generator.random` of NumPy's PCG64, whose stream is fixed: a seed is the same car
everywhere, to rounding.
"""

import math
from typing import Any, Literal, NamedTuple

import numpy as np
from msgspec.structs import replace

from trailbrake.cars.car_checks import check_car
from trailbrake.cars.drivetrain import Differential, Driveline
from trailbrake.cars.params import Aero, CarParams, Suspension, Tyre
from trailbrake.errors import UsageError
from trailbrake.name_lists import SEED_DIGITS
from trailbrake.units import G

PREFIX = "random:"  # before the seed of a random car
BASES = ("f1", "gt3", "hatchback", "sports_awd")  # from which `random:SEED` draws
LIFT_PER_DRAG = 6.0  # of a wing: more downforce costs a sixth of it in drag (class estimate)

DOWNFORCE_SPEED = 60.0  # m/s, at which a car with downforce of this share of its weight is one that lives on it
DOWNFORCE_SHARE = 0.1
TC_FROM = 1.05  # of the base's power per mass: from here on a car without traction control gets one

MASS_RANGE = (0.7, 1.5)
POWER_RANGE = (0.5, 2.0)
GRIP_RANGE = (0.8, 1.3)
AERO_RANGE = (0.0, 2.0)
STEER_RATIO_RANGE = (0.7, 1.4)
LOCK_RANGE = (0.8, 1.25)
BRAKE_RANGE = (0.75, 1.4)
BIAS_RANGE = (-0.02, 0.08)  # added to the front share: more rear brake would let a car without ABS spin
AWD_SHARE_RANGE = (0.3, 0.5)
DELAY_RANGE = (0.0, 0.060)  # s


class CarFactors(NamedTuple):
    """The sizes of a random car, as shares of its base's unless a unit is given.

    Attributes:
        base: name in the library.
        mass: of the mass, and of everything that suits it.
        power: of the engine's torque at every speed.
        layout: driven wheels.
        awd_front_share: front share of the torque, if all wheels are driven and the base's are not.
        grip: of the friction of all tyres.
        aero: of the downforce (or lift) of both axles.
        steer_ratio: of the angle of the steering wheel per angle of the road wheels.
        lock: of the angle of the road wheels at full lock.
        brakes: of the brake torque, over what suits mass and grip.
        bias: added to the front share of the brake torque.
        delay: s, of the controls.
    """

    base: str
    mass: float
    power: float
    layout: Literal["fwd", "rwd", "awd"]
    awd_front_share: float
    grip: float
    aero: float
    steer_ratio: float
    lock: float
    brakes: float
    bias: float
    delay: float


def parse_name(name: str) -> tuple[int, str]:
    """Return seed and base ("" = drawn) of `random:SEED` or `random:SEED:BASE`; UsageError for another text."""
    seed, colon, base = name.removeprefix(PREFIX).partition(":")
    if not (seed.isascii() and seed.isdigit() and len(seed) <= SEED_DIGITS) or (colon and not base):
        wanted = f"{PREFIX}SEED or {PREFIX}SEED:CAR, a whole number of {SEED_DIGITS} digits at most"
        raise UsageError("no such seed", where=repr(name), expected=wanted, hint=f"try {PREFIX}1")
    if base.startswith(PREFIX):
        raise UsageError("a random car of a random car", where=repr(name), expected="a car's name or file behind it")
    return int(seed), base


def draw_factors(seed: int) -> CarFactors:
    """Return the sizes of car `seed`, each uniform in its range; those that multiply are uniform in their logarithm."""
    rng = np.random.Generator(np.random.PCG64(seed))

    def between(lo: float, hi: float) -> float:
        return lo + (hi - lo) * float(rng.random())

    def between_factors(lo: float, hi: float) -> float:
        return math.exp(between(math.log(lo), math.log(hi)))

    layouts: tuple[Literal["fwd", "rwd", "awd"], ...] = ("fwd", "rwd", "awd")
    return CarFactors(
        base=BASES[int(len(BASES) * rng.random())],
        mass=between_factors(*MASS_RANGE),
        power=between_factors(*POWER_RANGE),
        layout=layouts[int(len(layouts) * rng.random())],
        awd_front_share=between(*AWD_SHARE_RANGE),
        grip=between(*GRIP_RANGE),
        aero=between(*AERO_RANGE),
        steer_ratio=between_factors(*STEER_RATIO_RANGE),
        lock=between_factors(*LOCK_RANGE),
        brakes=between_factors(*BRAKE_RANGE),
        bias=between(*BIAS_RANGE),
        delay=between(*DELAY_RANGE),
    )


def build_random_car(base: CarParams, factors: CarFactors, name: str) -> CarParams:
    """Return `base` with other sizes.

    Args:
        base: the car that is changed.
        factors: the sizes; their `base` is not used.
        name: of the new car.

    Raises:
        DataError: the values do not fit together.
    """
    mass, grip = factors.mass, factors.grip
    # A car that lives on downforce gets springs that hold it up: the bump stops are no springs to corner on.
    lift_area = base.aero.lift_area_front + base.aero.lift_area_rear
    downforce = 0.5 * base.aero.air_density * lift_area * DOWNFORCE_SPEED**2
    stiffness = max(mass, factors.aero) if downforce > DOWNFORCE_SHARE * base.body.mass * G else mass
    body = base.body
    car = replace(
        base,
        name=name,
        body=replace(
            body, mass=body.mass * mass, yaw_inertia=body.yaw_inertia * mass, roll_inertia=body.roll_inertia * mass,
            pitch_inertia=body.pitch_inertia * mass,
        ),
        suspension_front=_scale_suspension(base.suspension_front, mass, stiffness),
        suspension_rear=_scale_suspension(base.suspension_rear, mass, stiffness),
        aero=_scale_aero(base.aero, factors.aero),
        tyre_front=_scale_tyre(base.tyre_front, mass, grip),
        tyre_rear=_scale_tyre(base.tyre_rear, mass, grip),
        brakes=_scale_brakes(base, factors),
        steering=replace(
            base.steering,
            max_angle=base.steering.max_angle * factors.lock,
            ratio=base.steering.ratio * factors.steer_ratio,
            max_rate=base.steering.max_rate / factors.steer_ratio,  # the same hands
        ),
        actuation=replace(base.actuation, delay=factors.delay),
        drive=_convert_driveline(base.drive, factors),
    )  # fmt: skip
    car = _scale_power(base, car, factors.power)
    car = replace(car, title=_describe_car(base, car))
    check_car(car, name)
    return car


def _describe_car(base: CarParams, car: CarParams) -> str:
    power = car.engine.peak_power + (car.hybrid.power if car.hybrid else 0.0)
    return f"{car.name}: {base.name} of {car.body.mass:.0f} kg, {power / 1e3:.0f} kW, {car.drive.layout}"


def _scale_suspension(links: Suspension, mass: float, stiffness: float) -> Suspension:
    """Return the links for another mass; dampers keep their share of the critical damping."""
    damping = math.sqrt(mass * stiffness)
    return replace(
        links, spring_rate=links.spring_rate * stiffness, anti_roll_rate=links.anti_roll_rate * stiffness,
        bump_stop_rate=links.bump_stop_rate * stiffness, bump_damping=links.bump_damping * damping,
        rebound_damping=links.rebound_damping * damping, unsprung_mass=links.unsprung_mass * mass,
    )  # fmt: skip


def _scale_aero(aero: Aero, factor: float) -> Aero:
    """Return the air's forces with another downforce, and with the drag of the wings that make it."""
    before = max(aero.lift_area_front + aero.lift_area_rear, 0.0)
    drag = aero.drag_area + before * (factor - 1.0) / LIFT_PER_DRAG
    return replace(
        aero, drag_area=drag, lift_area_front=aero.lift_area_front * factor, lift_area_rear=aero.lift_area_rear * factor
    )


def _scale_tyre(tyre: Tyre, mass: float, grip: float) -> Tyre:
    """Return a tyre of the same law for another load, with another friction."""
    thermal: Any = tyre.thermal
    if thermal is not None:
        thermal = replace(
            thermal, heat_capacity=thermal.heat_capacity * mass, cooling=thermal.cooling * mass,
            cooling_speed=thermal.cooling_speed * mass, wear_per_joule=thermal.wear_per_joule / mass,
        )  # fmt: skip
    return replace(
        tyre, inertia=tyre.inertia * mass, nominal_load=tyre.nominal_load * mass, mu_x=tyre.mu_x * grip,
        mu_y=tyre.mu_y * grip, vertical_stiffness=tyre.vertical_stiffness * mass,
        vertical_damping=tyre.vertical_damping * mass, thermal=thermal,
    )  # fmt: skip


def _scale_brakes(base: CarParams, factors: CarFactors) -> Any:
    brakes = base.brakes
    suits = factors.mass * factors.grip
    total = (brakes.torque_front + brakes.torque_rear) * suits * factors.brakes
    share = brakes.front_share
    if 0.0 < share < 1.0:  # a car without front brakes keeps its rear brakes
        share = min(max(share + factors.bias, 0.4), 0.9)
    # More power per mass than the base has, on one axle perhaps, is more than a right foot can meter.
    stronger = factors.power / factors.mass > TC_FROM
    return replace(
        brakes, torque_front=total * share, torque_rear=total * (1.0 - share),
        handbrake_torque=brakes.handbrake_torque * suits, tc=brakes.tc or stronger,
    )  # fmt: skip


def _convert_driveline(drive: Driveline, factors: CarFactors) -> Driveline:
    """Return the driveline of another layout; new axles get the differential of the axle that was driven."""
    if factors.layout == drive.layout:
        return drive
    own = drive.differential_rear or drive.differential_front
    front = drive.differential_front or Differential(kind="open")
    centre = Differential(kind="lsd", preload=40.0, lock_power=0.3, lock_coast=0.1)
    if factors.layout == "fwd":
        return replace(drive, layout="fwd", differential_front=own, differential_rear=None, centre=None)
    if factors.layout == "rwd":
        return replace(drive, layout="rwd", differential_front=None, differential_rear=own, centre=None)
    return replace(
        drive, layout="awd", differential_front=front, differential_rear=own, centre=centre,
        awd_front_share=factors.awd_front_share,
    )  # fmt: skip


def _scale_power(base: CarParams, car: CarParams, power: float) -> CarParams:
    """Return `car` with `power` times the torque of `base`, and gears that suit its new top speed."""
    engine, hybrid = base.engine, base.hybrid
    engine = replace(
        engine, torque=tuple(torque * power for torque in engine.torque), inertia=engine.inertia * power,
        braking_torque_idle=engine.braking_torque_idle * power,
        braking_torque_limiter=engine.braking_torque_limiter * power,
    )  # fmt: skip
    if hybrid is not None:
        hybrid = replace(
            hybrid, power=hybrid.power * power, torque=hybrid.torque * power, capacity=hybrid.capacity * power,
            recharge=hybrid.recharge * power,
        )  # fmt: skip
    car = replace(car, engine=engine, hybrid=hybrid)
    slower = _drag_limited_speed(base) / _drag_limited_speed(car)
    final_drive = base.gearbox.final_drive * slower * car.driven_radius / base.driven_radius
    gearbox = replace(base.gearbox, final_drive=final_drive, clutch_torque=base.gearbox.clutch_torque * power)
    return replace(car, gearbox=gearbox)


def _drag_limited_speed(car: CarParams) -> float:
    """Return the speed (m/s) at which drag takes all of the engine's power at the wheels."""
    power = car.engine.peak_power * car.gearbox.efficiency
    return math.cbrt(power / (0.5 * car.aero.air_density * max(car.aero.drag_area, 0.1)))
