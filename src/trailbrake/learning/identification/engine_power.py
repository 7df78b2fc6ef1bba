"""The torque of an engine by its power, on wires that supply it, over the car's mass.

Power over engine speed is the torque, whether the tyres hold it or not: so its curve is known at engine speeds at which
the driven wheels spin or traction control brakes them. Where the tyres hold it, what it gives the car is its share over
the mass; low gears and high ones, and part throttle, separate that from the inertia of the engine.

The turbocharger of a car: the share of its torque that comes with boost, and how long boost takes to build up.

At part throttle a turbocharged engine gives less than the pedal's share of its torque. Rows at many throttles and the
same engine speeds tell how much less, and rows soon after the pedal has moved how late. The law is that of a car file.

The mass of a car from the power of its engine, on wires that tell it: what drives the car, over what it gives it.

What the engine gives, less the gearbox's loss, is the mass times the force over mass that was felt, and what turns the
wheels and the engine, the air and the tyres' rolling. Many speeds and gears separate them.
"""

import math
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from trailbrake.arrays import Array
from trailbrake.cars.params import CarParams
from trailbrake.learning.identification.drive_table import GAP, DriveTable
from trailbrake.learning.identification.learned_value import LearnedValue, identified
from trailbrake.learning.identification.powertrain import (
    FULL_THROTTLE,
    KNOTS,
    SHUT_THROTTLE,
    TorqueCurve,
    drive_matrix,
    driven_speed,
    estimate_force_error,
    find_free_rows,
    find_pedal_rows,
    make_prior,
    make_smoothness,
    overall_ratios,
    pedal_rows,
    wheel_inertia_share,
)
from trailbrake.learning.identification.robust_fit import fit_linear, fit_residuals, sum_huber_cost
from trailbrake.units import G

MIN_ROWS = 100
MIN_BIN_ROWS = 5
BINS = 24  # of engine speed
HIGHEST = 90.0  # percentile of a bin's torques: boost that has not come yet and traction control make it less
MAX_SIDE = 2.0  # m/s^2
MIN_SPEED = 4.0  # m/s
CLUTCH_SLIP = 0.03  # of the engine's speed over that of the driven wheels, beyond which the clutch slips
MIN_GEAR_AGE = 0.5  # s
DRIVING_SHARE = 0.3  # of the largest power that was seen: below it the lash and the ringing of drive shafts count
PART_THROTTLE = 0.2
MAX_SLIP = 0.03  # of driven wheels that hold, ...
MOST_SLIP, MAX_COMBINED_SLIP = 0.06, 0.5  # ... and where the wire supplies the slip over that of the peak
FORCE_ERROR, FORCE_SHARE = 0.1, 0.02  # m/s^2, and of the force: what the model itself is wrong by
TORQUE_FLOOR, PART_ERROR = 0.01, 0.15  # relative, of the method: at full throttle, and at part throttle without boost

LAGS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.65, 0.8, 1.0)  # s
USUAL_SHARE = (0.2, 0.3)  # of the torque, and its standard deviation: engines with and without
MOST_SHARE = 0.9  # no engine has so much of it: then it is something else
LEAST_THROTTLE = 0.15
WHOLE_BOOST_THROTTLE = 0.9  # below it boost is not whole ...
LEAST_PART = (100, 10)  # ... and rows and blocks of time with it that tell how much there is
MOST_DOUBT = 0.12  # standard deviation of the share beyond which it was not learned
LEAST_SHARE = 0.2  # below it an engine counts as one without a turbocharger: throttle maps are not straight either
SHARE_ERROR, LAG_ERROR = 0.03, 0.25  # of the method: 1, and relative
MIN_LOADED_SPEED = 10.0  # m/s
STEADY_S = 0.3  # of the pedal
MODEL_ERROR, MODEL_SHARE = 0.1, 0.03  # m/s^2, and of the force: what the model itself is wrong by
MASS_FLOOR = 0.05  # relative: the gearbox's loss and the inertias are those of the class
MASS_DOUBT = 10.0  # of the class's mass: none of it is believed


def find_torque_curve(table: DriveTable, car: CarParams) -> TorqueCurve | None:
    """Return the torque by the engine's power; None where the wire supplies none, or too little was driven.

    Args:
        table: the drive.
        car: what is known of it: gears and radii found before, the rest of its class.
    """
    if not np.isfinite(table.engine_power).any():
        return None
    surface = np.maximum(driven_speed(table, car), 1.0)
    ratios = overall_ratios(table, car)
    lever = ratios / car.driven_radius
    closed = np.abs(table.engine / np.maximum(lever * surface, 1.0) - 1.0) < CLUTCH_SLIP
    power = np.nan_to_num(table.engine_power)
    torque = power / np.maximum(table.engine, 1.0)
    driven = (ratios > 0.0) & (table.gear_age > MIN_GEAR_AGE) & (table.brake < 0.01)
    curve = _find_curve(table, torque, driven)
    rows = (
        driven & (power > 0.0) & closed & (np.abs(table.fy) < MAX_SIDE) & (table.vx > MIN_SPEED)
        & (power > DRIVING_SHARE * power.max(initial=0.0)) & _find_held_rows(table, car, surface)
    )  # fmt: skip
    if curve is None or rows.sum() < MIN_ROWS:
        return None
    t, lever, torque = table.take(rows), lever[rows], torque[rows]
    target = t.fx + wheel_inertia_share(car) * t.ax
    pull = torque * lever * car.gearbox.efficiency
    matrix = np.column_stack([pull, -(lever**2) * t.ax, -(t.vx**2), np.full(len(t), -G)])
    mass = car.body.mass
    half = 0.5 * car.aero.air_density / mass
    rolling = car.tyre_front.rolling_resistance
    mean = np.array([1.0 / mass, car.engine.inertia / mass, half * car.aero.drag_area, rolling])
    deviation = np.array([math.inf, 0.7 * mean[1], mean[2], 0.007])
    error = FORCE_ERROR + FORCE_SHARE * np.abs(target)
    fit = fit_linear(
        matrix / error[:, None], target / error, (mean, deviation), t.blocks, least_scale=1.0,
        limits=(np.zeros(4), np.full(4, np.inf)),
    )  # fmt: skip
    per_mass, sigma = float(fit.value[0]), float(fit.sigma[0])
    if not per_mass > 0.0:
        return None
    speeds, values, doubt = curve
    return TorqueCurve(speeds, per_mass * values, np.hypot(sigma / per_mass, doubt),
                       (float(fit.value[1]), float(fit.sigma[1])))  # fmt: skip


def _find_held_rows(table: DriveTable, car: CarParams, surface: Array) -> NDArray[np.bool_]:
    """Return where the driven tyres are far from their limit (n,), `surface` (n,) being their speed in m/s."""
    slip = surface / table.speed - 1.0
    combined = table.combined_slip
    if not np.isfinite(combined).all():
        return np.asarray(np.abs(slip) < MAX_SLIP)
    driven = np.array([car.drive.front_share > 0.0] * 2 + [car.drive.front_share < 1.0] * 2)
    return np.asarray((combined[:, driven].max(axis=1) < MAX_COMBINED_SLIP) & (np.abs(slip) < MOST_SLIP))


def _find_curve(table: DriveTable, torque: Array, driven: NDArray[np.bool_]) -> tuple[Array, Array, Array] | None:
    """Return engine speeds (rad/s), the torque (N m) at full throttle there, and its relative error; None if too few.

    Below the lowest engine speed that full throttle was driven at, it is that of part throttle over the pedal, engine
    braking counted: which is right as far as a throttle is proportional.

    Args:
        table: the drive.
        torque: (n,) N m, negative while the engine brakes.
        driven: rows in gear.
    """
    full = driven & (table.throttle > FULL_THROTTLE) & (torque > 0.0)
    if full.sum() < MIN_ROWS:
        return None
    speeds, values = _average_bins(table.engine[full], torque[full], HIGHEST)
    errors = np.full(len(speeds), TORQUE_FLOOR)
    shut = driven & (table.throttle < SHUT_THROTTLE) & (torque < 0.0)
    part = driven & (table.throttle > PART_THROTTLE) & (torque > 0.0) & (table.engine < table.engine[full].min())
    if len(speeds) and shut.sum() >= MIN_ROWS and part.sum() >= MIN_BIN_ROWS:
        slope, level = np.polyfit(table.engine[shut], -torque[shut], 1)
        braking = np.maximum(level + slope * table.engine[part], 0.0)
        pedal = table.throttle[part]
        low, below = _average_bins(table.engine[part], (torque[part] + (1.0 - pedal) * braking) / pedal, 50.0)
        errors = np.append(np.full(len(low), PART_ERROR), errors)
        speeds, values = np.append(low, speeds), np.append(below, values)
    return (speeds, values, errors) if len(speeds) > 1 else None


def _average_bins(speeds: Array, values: Array, percentile: float) -> tuple[Array, Array]:
    """Return the mean speeds of BINS bins and the percentile of the values there; bins with few rows are left out."""
    edges = np.linspace(speeds.min(), speeds.max() + 1e-6, BINS + 1)
    place = np.searchsorted(edges, speeds, side="right") - 1
    kept = [k for k in range(BINS) if (place == k).sum() >= MIN_BIN_ROWS]
    return (np.array([np.mean(speeds[place == k]) for k in kept]),
            np.array([np.percentile(values[place == k], percentile) for k in kept]))  # fmt: skip


class Boost(NamedTuple):
    """What was found.

    Attributes:
        share: of the torque at full throttle that comes with boost.
        lag: s, time constant of the boost.
    """

    share: LearnedValue
    lag: LearnedValue


def find_boost(table: DriveTable, car: CarParams) -> Boost | None:
    """Return the turbocharger of the car of a drive; None where it has none, or the drive does not tell.

    Args:
        table: the drive.
        car: what is known of it: gears and radii found before, the rest of its class.
    """
    rows = find_pedal_rows(table, car) & find_free_rows(table, car)
    pulling = rows & (table.throttle > LEAST_THROTTLE)
    part = pulling & (table.throttle < WHOLE_BOOST_THROTTLE)
    if part.sum() < LEAST_PART[0] or len(np.unique(table.blocks[part])) < LEAST_PART[1]:
        return None
    chosen = pulling | (rows & (table.throttle < SHUT_THROTTLE))
    found = [_fit_share(table, car, chosen, lag) for lag in LAGS]
    best = min(range(len(LAGS)), key=lambda k: found[k][1])
    share, lag = found[best][0], LAGS[best]
    if not LEAST_SHARE <= share.value < MOST_SHARE or share.sigma > MOST_DOUBT:
        return None
    return Boost(share, identified(lag, 0.0, "torque after the pedal has moved", floor=LAG_ERROR))


def build_up_boost(table: DriveTable, lag: float) -> Array:
    """Return the boost (0..1) of each row (n,): the throttle with a first-order lag (s), begun anew behind a gap."""
    steps = np.diff(table.time, prepend=table.time[:1]).tolist()
    boost, built = table.throttle.copy(), 0.0
    for k, (step, throttle) in enumerate(zip(steps, table.throttle.tolist(), strict=True)):
        built = built + (throttle - built) * step / (lag + step) if 0.0 < step < GAP else throttle
        boost[k] = built
    return boost


def _fit_share(table: DriveTable, car: CarParams, rows: NDArray[np.bool_], lag: float) -> tuple[LearnedValue, float]:
    """Return the share of the torque that comes with boost of a lag (s), and the cost of the best fit."""
    t = table.take(rows)
    late = 1.0 - build_up_boost(table, lag)[rows]
    low, high = np.percentile(t.engine, [0.5, 99.5])
    speeds = np.linspace(low, high, KNOTS)
    bare = replace(car, engine=replace(car.engine, turbo_share=0.0))
    matrix = drive_matrix(t, bare, speeds)
    target = t.fx + wheel_inertia_share(car) * t.ax
    error = estimate_force_error(t, target)
    matrix, target = matrix / error[:, None], target / error
    blocks = np.concatenate([t.blocks, -1 - np.arange(KNOTS - 2)])
    repeats = float(np.sqrt(len(t) / len(np.unique(t.blocks))))
    smooth = make_smoothness(car, repeats)
    prior = tuple(np.append(*pair) for pair in zip(make_prior(car), USUAL_SHARE, strict=True))
    pull = matrix[:, :KNOTS]

    def residuals(x: Array) -> Array:
        torque = (pull @ x[:KNOTS]) * (1.0 - x[-1] * late)
        return np.concatenate([torque + matrix[:, KNOTS:] @ x[KNOTS:-1] - target, smooth @ x[:-1]])

    def jacobian(x: Array) -> Array:
        boosted = pull * (1.0 - x[-1] * late)[:, None]
        of_share = -(pull @ x[:KNOTS]) * late
        driven = np.column_stack([boosted, matrix[:, KNOTS:], of_share])
        return np.vstack([driven, np.pad(smooth, ((0, 0), (0, 1)))])

    fit = fit_residuals(
        residuals, prior[0], (prior[0], prior[1]), blocks, jacobian=jacobian, least_scale=1.0,
        limits=(np.zeros(KNOTS + 6), np.append(np.full(KNOTS + 5, np.inf), MOST_SHARE)),
    )  # fmt: skip
    share = identified(fit.value[-1], float(np.hypot(fit.sigma[-1], SHARE_ERROR)), "torque over throttle")
    return share, sum_huber_cost(np.abs(residuals(fit.value)))


def find_mass(table: DriveTable, car: CarParams) -> LearnedValue | None:
    """Return the mass, kg; None where the wire tells no power, or too little was driven straight in gear.

    Args:
        table: the drive.
        car: what is known of it: gears and radii found before, the rest of its class.
    """
    rows = _choose_rows(table, car)
    if rows.sum() < MIN_ROWS:
        return None
    t = table.take(rows)
    force = car.gearbox.efficiency * t.engine_power / np.maximum(driven_speed(t, car), 1.0)
    lever = overall_ratios(t, car) / car.driven_radius
    mass, engine, half = car.body.mass, car.engine, 0.5 * car.aero.air_density
    rolling = G * 0.5 * (car.tyre_front.rolling_resistance + car.tyre_rear.rolling_resistance)
    matrix = np.column_stack([t.fx + wheel_inertia_share(car) * t.ax + rolling, t.vx**2, lever**2 * t.ax])
    mean = np.array([mass, half * car.aero.drag_area, engine.inertia])
    deviation = np.array([MASS_DOUBT * mass, half * car.aero.drag_area, 0.7 * engine.inertia])
    error = MODEL_ERROR * mass + MODEL_SHARE * np.abs(force)
    fit = fit_linear(
        matrix / error[:, None], force / error, (mean, deviation), t.blocks, least_scale=1.0,
        limits=(np.zeros(3), np.full(3, np.inf)),
    )  # fmt: skip
    value, sigma = float(fit.value[0]), float(fit.sigma[0])
    if not (math.isfinite(value) and value > 0.0):
        return None
    return identified(value, sigma, "engine power over acceleration", floor=MASS_FLOOR)


def _choose_rows(table: DriveTable, car: CarParams) -> NDArray[np.bool_]:
    power = np.nan_to_num(table.engine_power)
    return np.asarray(
        pedal_rows(table, car) & find_free_rows(table, car) & (table.brake < 0.01) & (table.vx > MIN_LOADED_SPEED)
        & (power > DRIVING_SHARE * power.max(initial=0.0)) & table.steady(table.throttle, STEADY_S, 0.04)
    )  # fmt: skip
