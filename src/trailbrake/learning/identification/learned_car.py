"""A car from its drives: each estimator in turn, and a car file's numbers out of what they found and of priors.

Only the motion over the wire enters. A mass is known where the wire tells wheel loads or the engine's power; elsewhere
every force is known over the mass alone, and the car file has the mass of the class: its plans, which are
accelerations, do not change.
"""

import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import msgspec
import numpy as np
from msgspec.structs import replace

from trailbrake.arrays import Array
from trailbrake.cars.car_checks import FRONT_SHARES, check_car
from trailbrake.cars.params import CarParams, SteerRange, Tyre
from trailbrake.errors import DataError
from trailbrake.learning.identification.actuator_response import ActuatorResponse, find_loop_delay, find_response
from trailbrake.learning.identification.braking import Braking, find_braking, split_brakes
from trailbrake.learning.identification.car_draft import CarDraft, LoadModel, find_load_model, put_loads, put_mass
from trailbrake.learning.identification.class_priors import CLASSES, CarClass, SeenCar, find_class, make_prior_car
from trailbrake.learning.identification.drive_quality import check_same_car, describe_gaps
from trailbrake.learning.identification.drive_table import DriveTable
from trailbrake.learning.identification.engine_power import build_up_boost, find_boost, find_mass, find_torque_curve
from trailbrake.learning.identification.figure_uncertainty import UNLEARNED_SPLIT, find_lift_error, find_uncertainty
from trailbrake.learning.identification.gearing import Gearing, append_gears, find_gearing
from trailbrake.learning.identification.geometry import Geometry, find_geometry
from trailbrake.learning.identification.learned_value import LEARNED, LearnedValue, identified, prior, weigh_with_class
from trailbrake.learning.identification.powertrain import Powertrain, find_powertrain
from trailbrake.learning.identification.shown_limits import (
    ShownLimits,
    find_brakes,
    find_friction,
    find_shown_limits,
)
from trailbrake.learning.identification.tyre_forces import (
    STEER_SPEEDS,
    P,
    TyreFit,
    find_tyres,
    steer_shares,
    tyre_numbers,
)
from trailbrake.units import RPM, G

USUAL_DELAY = 0.02  # s
STEER_DELAY_ERROR = 0.002  # s, of the delay of the steering for that of all controls

# Relative errors of single tyre numbers: they trade against each other, and roll and camber are in none of them.
PEAK_FLOOR, LIFT_FLOOR, CURVATURE_ERROR = 0.1, 0.1, 0.15
ENGINE_BRAKING_FLOOR = 0.1  # relative: rolling resistance, drag and the gearbox's loss are in it
LOAD_ALONG = 0.7  # loss of friction with load along the tyre, over that across it
WHEELBASE_SPREAD, ARM_SPREAD = 0.07, 0.12  # relative, within a class of cars
WEAK_BRAKES = 2.0  # m/s^2 at full pedal, below which it is said
LOW_TORQUE = 0.55  # torque at idle, over that at the lowest engine speed that was driven
MOST_RATE = 3.0  # of the class's steering rate: what is faster is no rack
SEEN_GRIP = 98.5  # percentile of the force over weight that tells the class


@dataclass(frozen=True, eq=False)
class LearnedCar:
    """What was learned of a car.

    Attributes:
        car: a car file's numbers.
        kind: the class of cars whose priors fill it up.
        values: what was identified, by the key of the car file or a name of its own.
        missing: what could not be learned, and why, one line each.
        seconds: of driving that it was learned from.
        geometry, gearing, loads, powertrain, tyres, shown, braking, steering: the findings in full; `shown` in place
            of the tyres where the drives have no slip of the body.
    """

    car: CarParams
    kind: CarClass
    values: Mapping[str, LearnedValue]
    missing: tuple[str, ...]
    seconds: float
    geometry: Geometry
    gearing: Gearing | None
    loads: LoadModel | None
    powertrain: Powertrain | None
    tyres: TyreFit | None
    shown: ShownLimits | None
    braking: Braking | None
    steering: ActuatorResponse | None

    @property
    def used(self) -> tuple[float, float]:
        """The most slip over that of its peak that front and rear tyres were driven at.

        1 where the limits are those of what was driven: the doubt of their grip says how far it is from the peak.
        """
        if self.tyres is None:
            return (0.0, 0.0) if self.shown is None else (1.0, 1.0)
        return self.tyres.used_front, self.tyres.used_rear


def learn_car(table: DriveTable, name: str = "learned") -> LearnedCar:
    """Return the car of a drive.

    Args:
        table: of one or more drives of the same car.
        name: of the car.

    Raises:
        DataError: nothing was driven on the road, the drives are of different cars, or what was found does not make a
            car.
    """
    if not len(table):
        raise DataError("nothing can be learned of a car", where="recordings", expected="driving on a road",
                        got="no row without a gap, a contact, or a wheel beside the road")  # fmt: skip
    check_same_car(table)
    geometry = find_geometry(table)
    gearing = find_gearing(table, geometry)
    loads = find_load_model(table)
    kind, draft = _begin_draft(table, geometry, gearing)
    if loads is not None:
        put_loads(draft, loads)
    else:
        mass = find_mass(table, draft.car) if gearing else None
        if mass is not None:  # it tells the class as well
            kind, draft = _begin_draft(table, geometry, gearing, mass.value)
        put_mass(draft, mass)
    table = _put_boost(table, draft) if gearing else table
    powertrain = find_powertrain(table, draft.car, find_torque_curve(table, draft.car)) if gearing else None
    slips = has_slips(table)  # without, engine and brakes are those of the limits that were driven
    if slips or powertrain is not None:
        _put_powertrain(draft, powertrain)
    _append_gears(draft, gearing)
    braking = find_braking(table, draft.car, powertrain)
    if braking is not None:
        _put_brakes(draft, braking)
    elif slips:
        put_shown_brakes(table, draft)
    tyres = find_tyres(table, draft.car, known_lift=loads is not None) if slips else None
    shown = None if slips else _put_shown_limits(table, draft)
    if slips:
        _put_tyres(draft, tyres, known_lift=loads is not None)
    draft.keep_upright()
    if braking is not None:
        braking = find_braking(table, _roll_freely(draft.car, tyres), powertrain) or braking  # by the tyres found
        _put_brakes(draft, braking)
    steering = _find_steering(table, draft, tyres)
    turned = steering if tyres is not None and tyres.signal == "wheel_angle" else None
    put_delay(draft, find_loop_delay(table, draft.car, braking, powertrain), turned)
    doubt = find_uncertainty(
        draft.car, tyres.fit if tyres else None, partial(replace_tyres, known_lift=loads is not None), powertrain,
        draft.values,
    )  # fmt: skip
    if shown is not None and shown.power is not None:
        doubt = replace(doubt, drive_force=shown.power.sigma / shown.power.value)
    title = f"learned in {table.seconds():.0f} s of driving, class {kind.name}"
    car = replace(draft.car, uncertainty=doubt, name=name, title=title)
    car = msgspec.convert(msgspec.to_builtins(car, enc_hook=float), CarParams)  # numbers of NumPy become Python's
    check_car(car, name)
    return LearnedCar(car, kind, draft.values, tuple(draft.missing), table.seconds(), geometry, gearing, loads,
                      powertrain, tyres, shown, braking, steering)  # fmt: skip


def has_slips(table: DriveTable) -> bool:
    """Return whether a drive has the slip of the body and the speeds of the wheels, of which tyres are fitted."""
    return bool(np.isfinite(table.vy).any() and np.isfinite(table.spin).any())


def _begin_draft(
    table: DriveTable, geometry: Geometry, gearing: Gearing | None, mass: float = math.nan
) -> tuple[CarClass, CarDraft]:
    """Return the class of a car of `mass` (kg, NaN: not known), and a draft with its geometry and its gears."""
    kind = _class_of(table, geometry, gearing, mass)
    draft = CarDraft(make_prior_car(kind, gearing.layout if gearing else "rwd"), missing=list(describe_gaps(table)))
    _put_geometry(draft, geometry)
    _put_gearing(draft, gearing)
    return kind, draft


def _class_of(table: DriveTable, geometry: Geometry, gearing: Gearing | None, mass: float) -> CarClass:
    radii = [radius.value for radius in (geometry.radius_front, geometry.radius_rear) if radius]
    radius = sum(radii) / len(radii) if radii else math.nan
    track = geometry.track_front.value if geometry.track_front else math.nan
    force = np.hypot(table.fx, table.fy)
    most, load, power = float(np.percentile(force, SEEN_GRIP)), math.nan, math.nan
    grip, grip_speed = most / G, float(np.median(table.vx[force >= most]))
    if not has_slips(table):
        found = find_friction(table, make_prior_car(CLASSES[0]))
        grip, load, grip_speed = found.friction.value, found.load, 0.0
        power = float(np.percentile(table.vx * table.fx, SEEN_GRIP))
    limiter = gearing.limiter.value / RPM if gearing else math.nan
    return find_class(SeenCar(radius, track, grip, limiter, mass, load, grip_speed, power))


def _put_geometry(draft: CarDraft, found: Geometry) -> None:
    usual = draft.car.body
    base, front = found.wheelbase, found.to_front
    if base is None or not 0.6 * usual.wheelbase < base.value < 1.6 * usual.wheelbase:
        base = front = None
        draft.missing.append("wheelbase and centre of mass: no slow, tight bends")
    if base is not None and front is not None:
        base = weigh_with_class(base, usual.wheelbase, WHEELBASE_SPREAD)
        front = weigh_with_class(front, usual.cg_to_front, ARM_SPREAD)
    draft.put("body", wheelbase=base, cg_to_front=front, track_front=found.track_front, track_rear=found.track_rear)
    body = draft.car.body
    if not FRONT_SHARES[0] < body.front_share < FRONT_SHARES[1]:
        body = replace(body, cg_to_front=0.5 * body.wheelbase)
    yaw = usual.yaw_inertia * (body.wheelbase / usual.wheelbase) ** 2
    body = replace(
        body, length=max(body.length, 1.3 * body.wheelbase), width=1.18 * max(body.track_front, body.track_rear),
        yaw_inertia=yaw, pitch_inertia=body.pitch_inertia * yaw / body.yaw_inertia,
    )  # fmt: skip
    draft.car = replace(draft.car, body=body)
    for axle, radius in (("tyre_front", found.radius_front), ("tyre_rear", found.radius_rear)):
        draft.put(axle, radius=radius)
    if found.radius_front is None:
        draft.missing.append("radius of the wheels: the wire tells no wheel speeds, or nothing was driven straight")


def _put_gearing(draft: CarDraft, found: Gearing | None) -> None:
    if found is None:
        draft.missing.append("gears: the wire tells no gear or no engine speed")
        return
    car, box, engine = draft.car, draft.car.gearbox, draft.car.engine
    known = {gear: value for gear, value in enumerate(found.ratios, 1) if value is not None}
    if not known:
        draft.missing.append("gears: no gear was driven for long enough")
        return
    top = max(known)
    gears = np.array(sorted(known))
    overall = np.exp(np.interp(np.arange(1, top + 1), gears, np.log([known[g].value for g in gears])))
    for gear in range(1, min(known)):  # gears below the lowest that was driven, in the usual steps
        overall[gear - 1] = overall[min(known) - 1] * 1.35 ** (min(known) - gear)
    unseen = [g for g in range(1, top + 1) if g not in known]
    if unseen:
        draft.missing.append(f"ratio of gear {', '.join(map(str, unseen))}: not driven for long enough")
    for a in range(1, top):  # a gear is shorter than the next
        overall[a] = min(overall[a], 0.999 * overall[a - 1])
    limiter = found.limiter.value / RPM
    idle = min(found.idle.value / RPM if found.idle else engine.idle_rpm, 0.5 * limiter)
    up = min(found.upshift.value / RPM if found.upshift else 0.96 * limiter, limiter)
    down = min(found.downshift.value / RPM if found.downshift else 0.6 * limiter, 0.9 * up)
    shift = found.shift_time or prior(box.shift_time, 0.5)
    for gear, value in known.items():
        draft.values[f"gearbox.overall_ratio.{gear}"] = value
    draft.values["gearbox.shift_time"] = shift
    draft.values["engine.limiter_rpm"] = identified(limiter, found.limiter.sigma / RPM, found.limiter.note)
    draft.car = replace(
        car,
        gearbox=replace(box, ratios=tuple(float(r) / box.final_drive for r in overall), shift_time=shift.value,
                        upshift_rpm=up, downshift_rpm=down, blip=box.blip if found.blip is None else found.blip,
                        source=LEARNED),
        engine=replace(engine, limiter_rpm=limiter, idle_rpm=idle),
        drive=replace(car.drive, awd_front_share=min(max(found.front_drive, 0.0), 1.0), source=LEARNED),
    )  # fmt: skip


def _append_gears(draft: CarDraft, found: Gearing | None) -> None:
    """Append gears beyond the highest that was driven."""
    top = draft.car.gearbox.top_gear
    if found is not None:
        draft.car = append_gears(draft.car, found)
    if draft.car.gearbox.top_gear > top:
        draft.missing.append(f"gears above {top}: never reached; those in the file are guesses by the car's top speed")


def _put_boost(table: DriveTable, draft: CarDraft) -> DriveTable:
    """Put the turbocharger; return the drive with the boost that had built up."""
    found = find_boost(table, draft.car)
    if found is None:
        return table
    draft.put("engine", turbo_share=found.share, turbo_lag=found.lag)
    return dataclasses.replace(table, boost=build_up_boost(table, found.lag.value))


def _put_powertrain(draft: CarDraft, found: Powertrain | None) -> None:
    if found is None:
        draft.missing.append("drive force, engine braking and drag: too little was driven straight in gear")
        return
    car, mass = draft.car, draft.car.body.mass
    if not found.covered.any():
        draft.missing.append("drive force: never at full throttle")
        return
    torque = np.maximum(found.torque, 0.0) * mass
    inside = np.flatnonzero(found.covered)
    # Between and beyond what was driven: as beside it.
    torque = np.interp(found.speeds, found.speeds[inside], torque[inside])
    rpm = found.speeds / RPM
    # Below the lowest speed that was driven the torque falls as the class's does.
    low, first = min(engine_floor(car), 0.8 * rpm[inside[0]]), inside[0]
    rpm, torque = np.append(low, rpm[first:]), np.append(LOW_TORQUE * torque[first], torque[first:])
    half = 0.5 * car.aero.air_density
    drag, sigma = max(found.air[0], 0.0) * mass / half, found.air[1] * mass / half
    ends = found.speeds[[0, -1]] / RPM
    sloped = (found.drag_limiter - found.drag_idle) / max(ends[1] - ends[0], 1.0)
    idle = max(found.drag_idle + sloped * (car.engine.idle_rpm - ends[0]), 0.0) * mass
    limiter = max(found.drag_idle + sloped * (car.engine.limiter_rpm - ends[0]), 0.0) * mass
    known = zip(found.speeds / RPM, found.torque * mass, found.torque_sigma * mass, found.covered, strict=True)
    for speed, value, s, covered in known:
        if covered:
            draft.values[f"engine.torque.{speed:.0f}"] = identified(value, s, "full throttle")
    draft.values["engine.braking_torque_limiter"] = identified(
        limiter, found.drag_sigma * mass, "coasting", floor=ENGINE_BRAKING_FLOOR
    )
    draft.put("aero", drag_area=identified(drag, sigma, "coasting and pulls", prior_sigma=1.0 * car.aero.drag_area))
    for axle in ("tyre_front", "tyre_rear"):
        draft.put(
            axle,
            rolling_resistance=identified(min(found.rolling[0], 0.1), found.rolling[1], "coasting", prior_sigma=0.007),
        )
    engine = replace(
        draft.car.engine, source=LEARNED, rpm=tuple(map(float, rpm)), torque=tuple(map(float, torque)),
        braking_torque_idle=idle, braking_torque_limiter=limiter, inertia=max(found.engine_inertia[0], 1e-5) * mass,
    )  # fmt: skip
    box = replace(draft.car.gearbox, clutch_torque=2.0 * max(float(torque.max()), 1.0))
    draft.car = replace(draft.car, engine=engine, gearbox=box)


def engine_floor(car: CarParams) -> float:
    """Return the engine speed (rpm) from which a torque curve is applied: idle, or a part of the limiter's."""
    return min(car.engine.idle_rpm, 0.4 * car.engine.limiter_rpm)


def _roll_freely(car: CarParams, tyres: TyreFit | None) -> CarParams:
    """Return a car with the radius of its driven tyres by the tyres' fit.

    By pulls and coasting alone, as it was found, it has a part of their slip in it. Where all wheels are driven the
    axles hold each other.
    """
    if tyres is None or car.drive.layout == "awd":
        return car
    name, factor = ("tyre_front", P.RADIUS_FRONT) if car.drive.layout == "fwd" else ("tyre_rear", P.RADIUS_REAR)
    tyre: Tyre = getattr(car, name)
    return replace(car, **{name: replace(tyre, radius=tyre.radius * float(tyres.fit.value[factor]))})


def put_shown_brakes(table: DriveTable, draft: CarDraft) -> None:
    """Put the brakes of the class into a draft, or those that give the hardest deceleration of a drive if it is more.

    Args:
        table: the drive, without steady braking.
        draft: of its car.
    """
    car = draft.car
    force = max(car.full_brake_force / car.body.mass, find_brakes(table, car).value)
    draft.missing.append("brakes: hardly braked in a straight line")
    draft.car = split_brakes(car, force, car.front_brake_force_share)


def _put_brakes(draft: CarDraft, found: Braking) -> None:
    car = draft.car
    share = found.front_share.value if found.front_share else car.front_brake_force_share
    share = min(max(share, 0.0), 1.0)
    if found.force.value < WEAK_BRAKES:
        draft.missing.append(f"brakes: the whole pedal slows the car by {found.force.value:.1f} m/s^2 only")
    draft.values["brakes.force_over_mass"] = found.force
    draft.values["brakes.front_share"] = found.front_share or prior(share, UNLEARNED_SPLIT)
    draft.car = split_brakes(car, found.force.value, share)


def replace_tyres(car: CarParams, p: Array, *, known_lift: bool) -> CarParams:
    """Return a car with the tyres, and unless it is known the downforce, of parameters `P` of the tyres' fit."""
    numbers = tyre_numbers(p)
    tyres = [
        replace(
            tyre, mu_y=numbers.mu_y[a], mu_x=numbers.mu_x[a], peak_slip_angle=numbers.peak_slip_angle[a],
            peak_slip_ratio=numbers.peak_slip_ratio[a], mu_y_load=max(p[P.MU_LOAD], 0.0),
            mu_x_load=max(LOAD_ALONG * p[P.MU_LOAD], 0.0), shape=p[P.SHAPE], curvature=p[P.CURVATURE],
            slip_load=p[P.SLIP_LOAD],
        )
        for a, tyre in enumerate((car.tyre_front, car.tyre_rear))
    ]  # fmt: skip
    aero = car.aero
    if not known_lift:
        half = 0.5 * aero.air_density / car.body.mass
        aero = replace(aero, lift_area_front=numbers.lift[0] / half, lift_area_rear=numbers.lift[1] / half)
    return replace(car, tyre_front=tyres[0], tyre_rear=tyres[1], aero=aero)


def _put_shown_limits(table: DriveTable, draft: CarDraft) -> ShownLimits:
    draft.car, found = find_shown_limits(table, draft.car)
    draft.values |= {"shown.grip": found.grip, "brakes.force_over_mass": found.brakes}
    if found.power is not None and found.drag_area is not None:
        draft.values |= {"shown.power": found.power, "aero.drag_area": found.drag_area}
    draft.missing.append("tyres: the recordings have no slip of the body (velocity_y), or no wheel speeds. The car is "
                         "that of its class, scaled to the accelerations that were driven")  # fmt: skip
    return found


def _put_tyres(draft: CarDraft, found: TyreFit | None, *, known_lift: bool) -> None:
    if found is None:
        draft.missing.append("tyres: too little was driven")
        return
    car, fit = draft.car, found.fit

    def of(function: Callable[[Array], float], floor: float, note: str, spread: float) -> LearnedValue:
        value, sigma = fit.derive(function)
        return identified(value, sigma, note, floor=floor, prior_sigma=spread)

    across, along, deviation = "motion in bends", "motion under power and braking", found.deviation
    mu, angle, ratio = car.tyre_front.mu_y, car.tyre_front.peak_slip_angle, car.tyre_front.peak_slip_ratio
    for a, name in enumerate(("tyre_front", "tyre_rear")):
        # A rear tyre's or a longitudinal value is tied to the front's, so little of the drive may be in it.
        draft.put(
            name,
            mu_y=of(_axle_number("mu_y", a), 0.04, across, 0.06 * mu if a else deviation[P.MU]),
            mu_x=of(_axle_number("mu_x", a), 0.06, along, 0.08 * mu),
            peak_slip_angle=of(
                _axle_number("peak_slip_angle", a), PEAK_FLOOR, across, 0.1 * angle if a else deviation[P.ANGLE]
            ),
            peak_slip_ratio=of(
                _axle_number("peak_slip_ratio", a), PEAK_FLOOR, along, 0.1 * ratio if a else deviation[P.RATIO]
            ),
            mu_y_load=of(lambda p: p[P.MU_LOAD], 0.3, across, deviation[P.MU_LOAD]),
            shape=of(lambda p: p[P.SHAPE], 0.08, across, deviation[P.SHAPE]),
            curvature=_widen(of(lambda p: p[P.CURVATURE], 0.0, across, deviation[P.CURVATURE]), CURVATURE_ERROR),
        )
    car = replace_tyres(draft.car, fit.value, known_lift=known_lift)
    scale = fit.value[P.INERTIA]
    body = replace(car.body, yaw_inertia=car.body.yaw_inertia * scale, pitch_inertia=car.body.pitch_inertia * scale)
    draft.car = replace(car, body=body)
    if not known_lift:
        half, error = 0.5 * car.aero.air_density / car.body.mass, 0.5 * find_lift_error(found.rows)
        for a, name in enumerate(("front", "rear")):
            value, sigma = fit.derive(_axle_number("lift", a))
            sigma = math.hypot(sigma, error)
            lift = identified(value, sigma, "grip over speed", floor=LIFT_FLOOR, prior_sigma=0.5 * deviation[P.LIFT])
            area = LearnedValue(lift.value / half, lift.sigma / half, lift.source, lift.note)
            draft.put("aero", **{f"lift_area_{name}": area})
    for axle, used in (("front", found.used_front), ("rear", found.used_rear)):
        if used < 0.8:
            draft.missing.append(
                f"limit of the {axle} tyres: driven up to {100.0 * used:.0f} % of the slip of their peak"
            )


def _widen(value: LearnedValue, error: float) -> LearnedValue:
    """Return a value whose standard deviation has an error of the method, in its own unit, besides."""
    return LearnedValue(value.value, math.hypot(value.sigma, error), value.source, value.note)


def _axle_number(name: str, axle: int) -> Callable[[Array], float]:
    """Return the function of the fit's parameters that gives a number of one axle."""
    return lambda p: float(getattr(tyre_numbers(p), name)[axle])


def _find_steering(table: DriveTable, draft: CarDraft, tyres: TyreFit | None) -> ActuatorResponse | None:
    """Put the steering's lock, ratio and rate, and return its response; needs the tyres' fit for the gain."""
    if tyres is None:
        return None
    car, fit_value = draft.car, tyres.fit.value
    gain = fit_value[P.STEER]
    base = draft.values["body.wheelbase"]  # of which the lock is the curvature's multiple
    sigma = math.hypot(tyres.fit.sigma[P.STEER], 0.015 * gain, base.sigma / base.value * gain)
    applied = getattr(table, tyres.signal)
    response = None
    if tyres.signal != "steer" and np.isfinite(table.steer).all():
        usual = car.steering
        scale = usual.ratio if tyres.signal == "wheel_angle" else 1.0 / usual.max_angle
        response = find_response(table.time, table.steer, applied, usual_rate=scale * usual.max_rate)
    lock = gain * (response.gain.value if response else 1.0)
    lock = min(max(lock, 0.02), 1.3)
    deviation = tyres.deviation[P.STEER]
    if math.isfinite(deviation):
        draft.missing.append("lock of the steering: the game limits the steer at speed, and nothing was driven slowly")
    found = {"max_angle": identified(lock, sigma * lock / gain, "curvature over steer", floor=0.005,
                                     prior_sigma=deviation)}  # fmt: skip
    if tyres.signal == "wheel_angle":
        found["ratio"] = identified(1.0 / gain, sigma / gain**2, "curvature over steering wheel")
    rate = response.rate if response else None
    # A wire that echoes the command shows no rate: then it is much faster than any rack.
    if rate is not None and rate.source == "identified" and rate.value * gain < MOST_RATE * car.steering.max_rate:
        found["max_rate"] = LearnedValue(rate.value * gain, rate.sigma * gain, rate.source, rate.note)
    draft.put("steering", **found)
    if tyres.limited_steer:
        shares = tuple(float(share) for share in steer_shares(fit_value))
        draft.car = replace(draft.car, steer_range=SteerRange(source=LEARNED, speeds=STEER_SPEEDS, shares=shares))
    return response


def put_delay(draft: CarDraft, braked: LearnedValue | None, turned: ActuatorResponse | None) -> None:
    """Put the delay by the brakes and by a steering wheel whose angle the wire supplies: their weighted mean."""
    steered = None if turned is None else _widen(turned.delay, STEER_DELAY_ERROR)
    found = braked or steered
    if braked is not None and steered is not None:
        share = steered.sigma**2 / (steered.sigma**2 + braked.sigma**2)
        mean = share * braked.value + (1.0 - share) * steered.value
        sigma = math.hypot(math.sqrt(share) * braked.sigma, 0.5 * (steered.value - braked.value))
        found = LearnedValue(mean, sigma, "identified", "brake steps, and the steering wheel")
    if found is None:
        draft.missing.append("delay: too little was braked in a straight line")
        found = LearnedValue(USUAL_DELAY, USUAL_DELAY, "prior", "of games with a pad")
    draft.put("actuation", delay=found)
