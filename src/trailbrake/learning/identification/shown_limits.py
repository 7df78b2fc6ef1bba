"""The limits of a car by the accelerations that were driven, where no log tells the slip of the body.

A GPS receiver tells speed and path alone, of which no tyre can be fitted. Then the car of the class is scaled to what
was driven: its tyres until the g-g-v envelope holds nearly all of it, and a margin, since a person seldom is at the
limit; its engine and its drag by the quickest gain of speed at each speed.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from trailbrake.arrays import Array
from trailbrake.cars.ggv_envelope import DOWNFORCE_SPEED, compute_envelope, full_throttle_force, running_resistance
from trailbrake.cars.params import CarParams
from trailbrake.errors import DataError
from trailbrake.learning.identification.braking import split_brakes
from trailbrake.learning.identification.drive_table import DriveTable
from trailbrake.learning.identification.figure_uncertainty import UNLEARNED_GRIP, UNSEEN_DRIVE
from trailbrake.learning.identification.learned_value import LEARNED, LearnedValue, identified, prior
from trailbrake.learning.identification.robust_fit import fit_linear, fit_residuals
from trailbrake.learning.identification.tyre_forces import PEAK_SHARE
from trailbrake.units import RPM, G
from trailbrake.world.car_scaling import scale_car

UNSHOWN_GROWTH = 1.06  # of the grip that was shown, where the tyres never came near their peak
ROUNDS = 4  # of scaling: downforce and drag make the envelope no multiple of the tyres' friction
MIN_SPEED = 5.0  # m/s
ENOUGH_BRAKES, SLOWING = 60.0, 1.0  # m/s^2: brakes that no tyre holds; and deceleration from which a car is braked
STRAIGHT = 0.3  # share of the lateral limit below which a gain of speed tells the engine
BAND, BAND_ROWS = 2.0, 8  # m/s, and the rows in such a band from which it counts
TYRES_HOLD = 0.9  # share of the traction limit below which the engine, and not the tyres, limits
REACH = 1.1  # speed that the top gear reaches at least, over the highest that was seen
DRAG_SPREAD = 0.4  # relative, in a class of cars
LIFT_SPREAD, LEAST_LIFT_SPREAD = 1.0, 0.002  # relative, in a class of cars; and 1/m, of the downforce over the mass
LIMITED, PEAK_ERROR = 0.8, 0.05  # share of the limit; and relative, of the largest force in a band
PULL_ERROR = 0.2  # m/s^2, of the quickest gain of speed in a band


@dataclass(frozen=True, eq=False)
class ShownLimits:
    """What was found.

    Attributes:
        grip: friction of the tyres over that of the class, with the margin.
        lift_area: m^2, of both axles.
        brakes: m/s^2, force of all brakes over the mass, with the margin; more than the tyres hold where those limit.
        power: full-throttle force over that of the class, with a top gear for the speeds driven; None: hardly pulled.
        drag_area: m^2, likewise.
        top_speed: m/s, the highest that was driven.
    """

    grip: LearnedValue
    lift_area: LearnedValue
    brakes: LearnedValue
    power: LearnedValue | None
    drag_area: LearnedValue | None
    top_speed: float


def find_shown_limits(table: DriveTable, car: CarParams) -> tuple[CarParams, ShownLimits]:
    """Return the car scaled to what a drive has shown, and by how much.

    Args:
        table: the drive, with forces and speed.
        car: of the class, with what is known of it.
    """
    t = table.take(table.vx > MIN_SPEED)
    fastest = float(t.vx.max())
    share = car.front_brake_force_share
    car = split_brakes(_reach_speed(car, REACH * fastest), ENOUGH_BRAKES, share)
    lift = find_friction(t, car).lift
    usual = car.aero.lift_area_front + car.aero.lift_area_rear
    front = car.aero.lift_area_front / usual if usual > 0.0 else car.body.front_share
    car = replace(car, aero=replace(car.aero, source=LEARNED, lift_area_front=front * lift.value,
                                    lift_area_rear=(1.0 - front) * lift.value))  # fmt: skip
    grip, power, drag = 1.0, None, None
    for _ in range(ROUNDS):
        step = float(np.percentile(measure_use(t, car), PEAK_SHARE))
        grip, car = grip * step, scale_car(car, grip=step)
    grip, car = grip * UNSHOWN_GROWTH, scale_car(car, grip=UNSHOWN_GROWTH)
    brakes = find_brakes(t, car)
    car = split_brakes(car, brakes.value, share)
    found = _find_pull(t, car)
    if found is not None:
        power, drag = found
        car = replace(
            car, aero=replace(car.aero, drag_area=drag.value, source=LEARNED),
            engine=replace(car.engine, torque=tuple(power.value * each for each in car.engine.torque), source=LEARNED),
            gearbox=replace(car.gearbox, clutch_torque=power.value * car.gearbox.clutch_torque),
        )  # fmt: skip
    shown = identified(grip, 0.0, "accelerations that were driven", floor=UNLEARNED_GRIP)
    return car, ShownLimits(shown, lift, brakes, power, drag, fastest)


class Friction(NamedTuple):
    """Force over load that was driven, and what pressed the car down.

    Attributes:
        friction: 1.
        lift: m^2, lift area of both axles.
        load: 1, load at DOWNFORCE_SPEED over the weight.
    """

    friction: LearnedValue
    lift: LearnedValue
    load: float


def find_friction(table: DriveTable, car: CarParams) -> Friction:
    """Return the friction and the downforce by the largest forces in bends and under braking at each speed.

    Speeds at which the road asks for less than LIMITED of what the others tell are left out.

    Args:
        table: the drive.
        car: of the class, whose drag, downforce and mass count.
    """
    t = table.take(table.vx > MIN_SPEED)
    air = running_resistance(car, t.vx) / car.body.mass
    speeds, peaks = _find_peaks(t.vx, np.hypot(t.fy, np.minimum(t.fx + air, 0.0)))
    if not len(speeds):
        raise DataError("nothing can be learned of a car", where="recordings",
                        expected=f"driving faster than {MIN_SPEED:g} m/s")  # fmt: skip
    half = 0.5 * car.aero.air_density / car.body.mass
    usual = half * (car.aero.lift_area_front + car.aero.lift_area_rear)
    prior_of = np.array([1.0, usual]), np.array([math.inf, max(LIFT_SPREAD * usual, LEAST_LIFT_SPREAD)])
    limits = np.array([0.1, 0.0]), np.full(2, np.inf)
    used = np.ones(len(speeds), np.bool_)
    for _ in range(ROUNDS):
        v, peak = speeds[used], peaks[used]
        fit = fit_residuals(partial(_miss_peaks, v, peak), prior_of[0], prior_of, limits=limits, least_scale=1.0)
        used = peaks > LIMITED * fit.value[0] * (G + fit.value[1] * speeds**2)
    note = "forces over speed"
    return Friction(identified(fit.value[0], fit.sigma[0], note, floor=UNLEARNED_GRIP),
                    identified(fit.value[1] / half, fit.sigma[1] / half, note, prior_sigma=prior_of[1][1] / half),
                    1.0 + float(fit.value[1]) * DOWNFORCE_SPEED**2 / G)  # fmt: skip


def _miss_peaks(speeds: Array, peaks: Array, p: Array) -> Array:
    return np.asarray((p[0] * (G + p[1] * speeds**2) - peaks) / (PULL_ERROR + PEAK_ERROR * peaks))


def _find_peaks(speeds: Array, values: Array) -> tuple[Array, Array]:
    """Return the mean speeds of bands with enough rows, and the high percentiles of the values there."""
    place = np.floor(speeds / BAND)
    bands = [place == k for k in np.unique(place) if (place == k).sum() >= BAND_ROWS]
    return (np.array([float(np.mean(speeds[band])) for band in bands]),
            np.array([float(np.percentile(values[band], PEAK_SHARE)) for band in bands]))  # fmt: skip


def measure_use(table: DriveTable, car: CarParams) -> Array:
    """Return the share (n,) of the car's limit in bends and under braking that each row of a drive has used."""
    limits = compute_envelope(car)
    across = table.fy / np.interp(table.vx, limits.speeds, limits.lateral)
    along = np.minimum(table.fx, 0.0) / np.interp(table.vx, limits.speeds, limits.brake[:, 0])
    return np.hypot(across, along)


def find_brakes(table: DriveTable, car: CarParams) -> LearnedValue:
    """Return the force of all brakes over the mass, m/s^2, by the hardest deceleration; a car's own without any."""
    braked = table.take(table.fx < -SLOWING)
    if not len(braked):
        return prior(car.full_brake_force / car.body.mass, UNLEARNED_GRIP)
    peak = float(np.percentile(-braked.fx, PEAK_SHARE))
    return identified(UNSHOWN_GROWTH * peak, 0.0, "hardest deceleration", floor=UNLEARNED_GRIP)


def _reach_speed(car: CarParams, speed: float) -> CarParams:
    """Return the car with gears that reach a speed (m/s)."""
    box = car.gearbox
    reached = car.engine.limiter_rpm * RPM * car.driven_radius / box.overall_ratio(box.top_gear)
    return replace(car, gearbox=replace(box, final_drive=box.final_drive * min(1.0, reached / speed)))


def _find_pull(table: DriveTable, car: CarParams) -> tuple[LearnedValue, LearnedValue] | None:
    """Return the full-throttle force over the car's and the drag area, m^2; None where it hardly gained speed."""
    limits = compute_envelope(car)
    straight = np.abs(table.fy) < STRAIGHT * np.interp(table.vx, limits.speeds, limits.lateral)
    t = table.take(straight & (table.fx > 0.0))
    speeds, pulls = _find_peaks(t.vx, t.fx)
    free = pulls < TYRES_HOLD * np.interp(speeds, limits.speeds, limits.traction[:, 0])
    if free.sum() < 2:
        return None
    speeds, pulls = speeds[free], pulls[free]
    mass, air = car.body.mass, 0.5 * car.aero.air_density * speeds**2
    rolling = (running_resistance(car, speeds) - air * car.aero.drag_area) / mass
    matrix = np.column_stack([full_throttle_force(car, speeds), -air]) / mass / PULL_ERROR
    usual = np.array([1.0, car.aero.drag_area])
    fit = fit_linear(matrix, (pulls + rolling) / PULL_ERROR, (usual, np.array([math.inf, DRAG_SPREAD * usual[1]])),
                     least_scale=1.0, limits=(np.array([0.05, 0.0]), np.full(2, np.inf)))  # fmt: skip
    note = "quickest gain of speed"
    return (identified(fit.value[0], fit.sigma[0], note, floor=UNSEEN_DRIVE),
            identified(fit.value[1], fit.sigma[1], note, prior_sigma=DRAG_SPREAD * usual[1]))  # fmt: skip
