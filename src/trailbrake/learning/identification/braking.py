"""Brake force over pedal, from straight braking below the limit of the tyres, and the front axle's share of it."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from trailbrake.arrays import Array
from trailbrake.cars.params import CarParams, Tyre
from trailbrake.cars.tyre import MIN_LOAD_FACTOR
from trailbrake.cars.tyre_fit import magic_formula_curve
from trailbrake.learning.identification.drive_table import DriveTable
from trailbrake.learning.identification.learned_value import LEARNED, LearnedValue, identified
from trailbrake.learning.identification.powertrain import (
    Powertrain,
    axle_inertia_share,
    drive_matrix,
    wheel_inertia_share,
)
from trailbrake.learning.identification.robust_fit import fit_linear
from trailbrake.units import G

STRAIGHT_SIDE, BEND_SIDE = 2.0, 5.0  # m/s^2 across, of braking that is straight; and where there is hardly any
MAX_SLIP = 0.05  # of any wheel
MIN_PEDAL = 0.05
LEAST_BRAKES = 0.1  # m/s^2 at full pedal: a car file has brakes
MIN_ROWS = 40
MIN_SHARE_PEDAL = 0.15  # from which the slips are large enough to be compared
HARDEST = 70.0  # percentile of their forces, above which a centre differential moves little of them between the axles


@dataclass(frozen=True)
class Braking:
    """What was found.

    Attributes:
        force: m/s^2, of all brakes at full pedal over the car's mass, were the tyres to hold it.
        front_share: of that force; None where the slips do not tell.
        peak: m/s^2, the hardest deceleration that was driven, air drag included.
    """

    force: LearnedValue
    front_share: LearnedValue | None
    peak: float


class BrakedForces(NamedTuple):
    """What slows a car besides the air, force over mass, m/s^2, (n,) each.

    Attributes:
        brakes: of all brakes.
        engine: of the engine on the driven wheels, less what it needs to lose its rotation; < 0 where it pulls.
        rolling: rolling resistance.
    """

    brakes: Array
    engine: Array
    rolling: Array


def find_braking(table: DriveTable, car: CarParams, powertrain: Powertrain | None) -> Braking | None:
    """Return the brakes of the car of a drive; None where it hardly braked in a straight line."""
    rows = find_braking_rows(table, car)
    if rows.sum() < MIN_ROWS:
        return None
    t = table.take(rows)
    forces = separate_forces(t, car, powertrain)
    fit = fit_linear(t.brake[:, None], forces.brakes, (np.array([10.0]), np.array([50.0])), t.blocks)
    hard = table.brake > MIN_PEDAL
    peak = float(np.percentile(-table.fx[hard], 99.0)) if hard.any() else 0.0
    force = identified(fit.value[0], fit.sigma[0], "straight braking", floor=0.015)
    return Braking(force, _front_share(t, car, _axle_slips(t, car), forces), peak)


def find_braking_rows(table: DriveTable, car: CarParams) -> NDArray[np.bool_]:
    """Return the rows of steady braking below the limit of the tyres (n,): straight, if there is enough of it."""
    front, rear = _axle_slips(table, car)
    steady = (
        (table.brake > MIN_PEDAL) & (table.vx > 5.0) & (front > -MAX_SLIP) & (rear > -MAX_SLIP)
        & (table.gear_age > 0.3) & (table.assisted < 0.5) & table.steady(table.brake, 0.08, 0.06)
    )  # fmt: skip
    straight, bends = (steady & (np.abs(table.fy) < side) for side in (STRAIGHT_SIDE, BEND_SIDE))
    return np.asarray(straight if straight.sum() >= MIN_ROWS else bends)


def _axle_slips(table: DriveTable, car: CarParams) -> tuple[Array, Array]:
    """Return the slip ratios of the axles, (n,) each."""
    front = table.spin[:, :2].mean(axis=1) * car.tyre_front.radius / table.speed - 1.0
    rear = table.spin[:, 2:].mean(axis=1) * car.tyre_rear.radius / table.speed - 1.0
    return front, rear


def separate_forces(t: DriveTable, car: CarParams, powertrain: Powertrain | None) -> BrakedForces:
    """Return what slows the car in rows of straight braking; without a powertrain the engine gives nothing."""
    engine, rolling = np.zeros(len(t)), np.full(len(t), 0.015 * G)
    if powertrain is not None:
        matrix, unknowns = drive_matrix(t, car, powertrain.speeds), powertrain.fit.value
        others, rolling = matrix @ unknowns, -matrix[:, -2] * unknowns[-2]
        engine = matrix[:, -3] * unknowns[-3] - rolling - others
    else:
        others = -0.5 * car.aero.air_density * car.aero.drag_area / car.body.mass * t.vx**2 - 0.015 * G
    return BrakedForces(others - (t.fx + wheel_inertia_share(car) * t.ax), engine, rolling)


def split_brakes(car: CarParams, over_mass: float, share: float) -> CarParams:
    """Return a car whose brakes give `over_mass` (m/s^2), at least LEAST_BRAKES, at full pedal, `share` of it in front.

    Args:
        car: the car.
        over_mass: m/s^2, force of all brakes over the mass.
        share: 0..1.
    """
    force = max(over_mass, LEAST_BRAKES) * car.body.mass
    front, rear = share * force * car.tyre_front.radius, (1.0 - share) * force * car.tyre_rear.radius
    car = car.with_brakes(front + rear, front / (front + rear))
    return replace(car, brakes=replace(car.brakes, source=LEARNED))


def _front_share(
    t: DriveTable, car: CarParams, slips: tuple[Array, Array], forces: BrakedForces
) -> LearnedValue | None:
    """Return the front share by the slips: the force of an axle is that of the tyre law at its slip and load.

    On the road an axle brakes with its brakes, its share of the engine's drag and its tyres' rolling resistance, less
    what its wheels, and the engine behind them, need to lose their rotation.

    Args:
        t: rows of straight braking.
        car: its loads and tyres.
        slips: (n,) each, of the axles.
        forces: of the whole car.
    """
    body = car.body
    pitch = t.fx * body.cg_height / body.wheelbase
    half = 0.5 * car.aero.air_density / body.mass * t.vx**2
    load_front = G * body.front_share + half * car.aero.lift_area_front - pitch
    load_rear = G * (1.0 - body.front_share) + half * car.aero.lift_area_rear + pitch
    if np.isfinite(t.load).all():
        load_front, load_rear = t.load[:, :2].sum(axis=1) / body.mass, t.load[:, 2:].sum(axis=1) / body.mass
    a = _tyre_force(car.tyre_front, -slips[0], 0.5 * load_front * body.mass)
    b = _tyre_force(car.tyre_rear, -slips[1], 0.5 * load_rear * body.mass)
    held = forces.brakes
    hard = (t.brake > MIN_SHARE_PEDAL) & (a + b > 0.0) & (held > 1.0)
    if hard.sum() < MIN_ROWS:
        return None
    if car.drive.layout == "awd":
        hard &= held >= min(np.percentile(held[hard], HARDEST), np.sort(held[hard])[-MIN_ROWS])
    rolling_front = forces.rolling * load_front / (load_front + load_rear)
    spun_front = -t.ax * axle_inertia_share(car, car.tyre_front)
    on_road = held + forces.engine + forces.rolling + t.ax * wheel_inertia_share(car)
    front = a / np.where(hard, a + b, 1.0) * on_road + spun_front - forces.engine * car.drive.front_share
    share = ((front - rolling_front) / np.where(hard, held, 1.0))[hard]
    middle = float(np.median(share))
    spread = 1.4826 * float(np.median(np.abs(share - middle)))
    blocks = len(np.unique(t.blocks[hard]))
    return identified(
        middle, max(spread / np.sqrt(max(blocks, 1)), 0.03), "slips in straight braking", prior_sigma=0.15
    )


def _tyre_force(tyre: Tyre, slip: Array, load: Array) -> Array:
    """Return the longitudinal force (N) of a tyre's law at slip ratios and loads (N), (n,) each."""
    more = load / tyre.nominal_load - 1.0
    per_peak = np.clip(1.0 - tyre.slip_load * more, MIN_LOAD_FACTOR, 2.0 - MIN_LOAD_FACTOR)
    falling = np.clip(1.0 - tyre.mu_x_load * more, MIN_LOAD_FACTOR, 2.0 - MIN_LOAD_FACTOR)
    slip = np.maximum(slip, 0.0) / tyre.peak_slip_ratio * per_peak
    curve = magic_formula_curve(slip, tyre.stiffness_factor, tyre.shape, tyre.curvature)
    return np.asarray(tyre.mu_x * falling * load * curve)
