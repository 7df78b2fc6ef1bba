"""The torque of an engine by its power, on wires that supply it, over the car's mass.

Power over engine speed is the torque, whether the tyres hold it or not: so its curve is known at engine speeds at which
the driven wheels spin or traction control brakes them. Where the tyres hold it, what it gives the car is its share over
the mass; low gears and high ones, and part throttle, separate that from the inertia of the engine.
"""

import math

import numpy as np
from numpy.typing import NDArray

from trailbrake.cars.params import CarParams
from trailbrake.learning.identification.drive_table import DriveTable
from trailbrake.learning.identification.powertrain import TorqueCurve, driven_speed, overall_ratios, wheel_inertia_share
from trailbrake.learning.identification.robust_fit import fit_linear
from trailbrake.units import G

Array = NDArray[np.float64]

MIN_ROWS = 100
MIN_BIN_ROWS = 5
BINS = 24  # of engine speed
HIGHEST = 90.0  # percentile of a bin's torques: boost that has not come yet and traction control make it less
MAX_SIDE = 2.0  # m/s^2
MIN_SPEED = 4.0  # m/s
CLUTCH_SLIP = 0.03  # of the engine's speed over that of the driven wheels, beyond which the clutch slips
MIN_GEAR_AGE = 0.5  # s
DRIVING_SHARE = 0.3  # of the largest power that was seen: below it the lash and the ringing of drive shafts count
FULL_THROTTLE, PART_THROTTLE, SHUT_THROTTLE = 0.95, 0.2, 0.03
MAX_SLIP = 0.03  # of driven wheels that hold, ...
MOST_SLIP, MAX_COMBINED_SLIP = 0.06, 0.5  # ... and where the wire supplies the slip over that of the peak
FORCE_ERROR, FORCE_SHARE = 0.1, 0.02  # m/s^2, and of the force: what the model itself is wrong by
TORQUE_FLOOR, PART_ERROR = 0.01, 0.15  # relative, of the method: at full throttle, and at part throttle without boost


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
