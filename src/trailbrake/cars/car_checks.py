"""Checks of a car whose values are each in range: do they fit together?"""

import math
from itertools import pairwise

import msgspec

from trailbrake.cars.params import CarParams, Suspension, Tyre
from trailbrake.errors import DataError
from trailbrake.units import G

MAX_HOP_FREQUENCY = 700.0  # rad/s of an unsprung corner: explicit integration at 1 ms is stable up to about 2000
MAX_LINK_SLOPE = 1.5  # of links: an axle that lifts by more of its force hops off the road, from about 3 on
MAX_DAMPING_RATE = 1200.0  # 1/s of an unsprung corner, likewise
MAX_TYRE_DEFLECTION = 0.3  # of the radius, standing: the rim is on the road, as with a mass in g
FRONT_SHARES = 0.25, 0.75  # of the weight, standing: no car is outside, from dragsters to empty vans
MIN_RIDE_FREQUENCY = 0.5  # Hz of the body on its springs; cars have 1 and more (Gillespie 1992, chapter 5)
MIN_DAMPING_RATIO = 0.02  # of that motion; below it the body swings on for ten bumps, as with dampers in N s/mm


class _Requirement:
    """Raises DataError for the car file `where` when a condition does not hold."""

    def __init__(self, where: str) -> None:
        self._where = where

    def __call__(self, condition: bool, key: str, expected: str, got: object) -> None:
        if not condition:
            raise DataError("the values do not fit together", where=f"{self._where}: {key}", expected=expected,
                            got=str(got))  # fmt: skip


def check_car(car: CarParams, where: str) -> None:
    """Raise DataError, naming the file `where` and the key, if the values of `car` do not fit together."""
    need = _Requirement(where)
    for key, value in _list_numbers(msgspec.to_builtins(car), ""):
        need(math.isfinite(value), key, "a finite number", value)
    _check_body(car, need)
    _check_corner(car, "front", need)
    _check_corner(car, "rear", need)
    _check_engine_and_gearbox(car, need)
    _check_driveline(car, need)
    need(car.brakes.torque_front + car.brakes.torque_rear > 0.0, "brakes.torque_rear", "some torque above 0",
         car.brakes.torque_rear)  # fmt: skip
    _check_links(car, need)


def _check_links(car: CarParams, need: _Requirement) -> None:
    reach, drive, brake = car.body.cg_height / car.body.wheelbase, car.drive.front_share, car.brakes.front_share
    for axle, links, shares in (("front", car.suspension_front, (drive, brake)),
                                ("rear", car.suspension_rear, (1.0 - drive, 1.0 - brake))):  # fmt: skip
        for key, share in zip(("anti_squat", "anti_dive"), shares, strict=True):
            most = MAX_LINK_SLOPE * share / reach
            need(share <= 0.0 or getattr(links, key) <= most, f"suspension_{axle}.{key}",
                 f"at most {most:.3g} where the axle has {share:.3g} of the torque: steeper links lift it off the road",
                 getattr(links, key))  # fmt: skip


def _check_body(car: CarParams, need: _Requirement) -> None:
    body = car.body
    need(body.cg_to_front < body.wheelbase, "body.cg_to_front", f"less than the wheelbase {body.wheelbase}",
         body.cg_to_front)  # fmt: skip
    need(body.wheelbase < body.length, "body.length", f"more than the wheelbase {body.wheelbase}", body.length)
    least, most = FRONT_SHARES
    need(least <= body.front_share <= most, "body.cg_to_front",
         f"{(1.0 - most) * body.wheelbase:.3g} .. {(1.0 - least) * body.wheelbase:.3g} m, {least:.0%} to {most:.0%} of "
         "the weight in front", f"{body.cg_to_front:g} m, {body.front_share:.0%}")  # fmt: skip
    need(car.sprung_mass > 0.5 * body.mass, "suspension_front.unsprung_mass",
         f"the four corners to weigh less than half of body.mass {body.mass}",
         f"{body.mass - car.sprung_mass:g} in all")  # fmt: skip
    inertia = {"roll": body.roll_inertia, "pitch": body.pitch_inertia, "yaw": body.yaw_inertia}
    for (axis, value), corners in zip(inertia.items(), car.unsprung_inertia, strict=True):
        others = sum(inertia.values()) - value  # of a rigid body each is at most the sum of the other two
        need(value <= others, f"body.{axis}_inertia", f"at most the sum of the other two, {others:g}", value)
        need(value > corners, f"body.{axis}_inertia", f"more than the {corners:.1f} of the four corners", value)


def _check_corner(car: CarParams, axle: str, need: _Requirement) -> None:
    links: Suspension = getattr(car, f"suspension_{axle}")
    tyre: Tyre = getattr(car, f"tyre_{axle}")
    cg_height, share = car.body.cg_height, car.body.front_share if axle == "front" else 1.0 - car.body.front_share
    load = 0.5 * share * car.body.mass * G
    at = f"suspension_{axle}"
    sinks = load / tyre.vertical_stiffness
    need(
        sinks <= MAX_TYRE_DEFLECTION * tyre.radius,
        "body.mass",
        f"at most {MAX_TYRE_DEFLECTION * tyre.radius:.3g} m of deflection of a standing {axle} tyre",
        f"{sinks:.3g} m",
    )
    _check_springs(links, load / G - links.unsprung_mass, at, need)
    need(links.roll_centre < cg_height, f"{at}.roll_centre", f"below body.cg_height {cg_height}", links.roll_centre)
    # The stiffest that a corner can be: the wheels of the axle in opposite travel, on the bump stop.
    rate = links.spring_rate + 2.0 * links.anti_roll_rate + links.bump_stop_rate + tyre.vertical_stiffness
    hop = math.sqrt(rate / links.unsprung_mass)
    need(hop <= MAX_HOP_FREQUENCY, f"{at}.unsprung_mass",
         f"sqrt(all rates of the corner / unsprung_mass) of up to {MAX_HOP_FREQUENCY:g} rad/s",
         f"{hop:.0f} rad/s with {links.unsprung_mass:g} kg")  # fmt: skip
    damping = (max(links.bump_damping, links.rebound_damping) + tyre.vertical_damping) / links.unsprung_mass
    need(damping <= MAX_DAMPING_RATE, f"{at}.unsprung_mass",
         f"damping over unsprung_mass of up to {MAX_DAMPING_RATE:g} 1/s",
         f"{damping:.0f} 1/s with {links.unsprung_mass:g} kg")  # fmt: skip


def _check_springs(links: Suspension, sprung_mass: float, at: str, need: _Requirement) -> None:
    """Check that springs carry, and dampers damp, the `sprung_mass` (kg) of a corner."""
    need(sprung_mass > 0.0, f"{at}.unsprung_mass", f"less than the corner's {sprung_mass + links.unsprung_mass:.1f} kg",
         links.unsprung_mass)  # fmt: skip
    least = (2.0 * math.pi * MIN_RIDE_FREQUENCY) ** 2 * sprung_mass
    need(links.spring_rate >= least, f"{at}.spring_rate",
         f"at least {least:.0f} N/m under {sprung_mass:.0f} kg: softer springs do not carry the car",
         f"{links.spring_rate:g} N/m")  # fmt: skip
    least = 2.0 * MIN_DAMPING_RATIO * math.sqrt(links.spring_rate * sprung_mass)
    for key in ("bump_damping", "rebound_damping"):
        value = getattr(links, key)
        need(value >= least, f"{at}.{key}", f"at least {least:.0f} N s/m: weaker ones let {sprung_mass:.0f} kg swing",
             f"{value:g} N s/m")  # fmt: skip


def _check_engine_and_gearbox(car: CarParams, need: _Requirement) -> None:
    engine, gearbox = car.engine, car.gearbox
    need(len(engine.rpm) == len(engine.torque), "engine.torque", f"{len(engine.rpm)} values as in engine.rpm",
         len(engine.torque))  # fmt: skip
    need(all(b > a for a, b in pairwise(engine.rpm)), "engine.rpm", "rising values", list(engine.rpm))
    need(max(engine.torque) > 0.0, "engine.torque", "some torque above 0", list(engine.torque))
    need(engine.idle_rpm < engine.limiter_rpm, "engine.idle_rpm", f"below limiter_rpm {engine.limiter_rpm}",
         engine.idle_rpm)  # fmt: skip
    need((engine.turbo_share > 0.0) == (engine.turbo_lag > 0.0), "engine.turbo_lag",
         f"above 0 with a turbo_share above 0, else 0 (turbo_share is {engine.turbo_share})",
         engine.turbo_lag)  # fmt: skip
    need(all(b < a for a, b in pairwise(gearbox.ratios)), "gearbox.ratios", "falling values", list(gearbox.ratios))
    need(all(r > 0.0 for r in gearbox.ratios), "gearbox.ratios", "values above 0", list(gearbox.ratios))
    need(gearbox.downshift_rpm < gearbox.upshift_rpm <= engine.limiter_rpm, "gearbox.upshift_rpm",
         f"between downshift_rpm {gearbox.downshift_rpm} and limiter_rpm {engine.limiter_rpm}",
         gearbox.upshift_rpm)  # fmt: skip
    most = max(engine.torque) + (car.hybrid.torque if car.hybrid else 0.0)
    need(gearbox.clutch_torque > most, "gearbox.clutch_torque", f"more than the engine's {most}",
         gearbox.clutch_torque)  # fmt: skip


def _check_driveline(car: CarParams, need: _Requirement) -> None:
    drive = car.drive
    wanted = {
        "differential_front": drive.layout != "rwd",
        "differential_rear": drive.layout != "fwd",
        "centre": drive.layout == "awd",
    }
    for key, driven in wanted.items():
        there = getattr(drive, key) is not None
        need(there == driven, f"drive.{key}", f"{'one' if driven else 'none'} with layout {drive.layout}",
             "one" if there else "none")  # fmt: skip


def _list_numbers(value: object, key: str) -> list[tuple[str, float]]:
    if isinstance(value, dict):
        return [n for k, v in value.items() for n in _list_numbers(v, f"{key}.{k}" if key else str(k))]
    if isinstance(value, list | tuple):
        return [n for v in value for n in _list_numbers(v, key)]
    return [(key, value)] if isinstance(value, float) else []
