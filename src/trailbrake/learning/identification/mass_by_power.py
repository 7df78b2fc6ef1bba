"""The mass of a car from the power of its engine, on wires that tell it: what drives the car, over what it gives it.

What the engine gives, less the gearbox's loss, is the mass times the force over mass that was felt, and what turns the
wheels and the engine, the air and the tyres' rolling. Many speeds and gears separate them.
"""

import math

import numpy as np
from numpy.typing import NDArray

from trailbrake.cars.params import CarParams
from trailbrake.learning.identification.drive_table import DriveTable
from trailbrake.learning.identification.learned_value import LearnedValue, identified
from trailbrake.learning.identification.powertrain import (
    driven_speed,
    find_free_rows,
    overall_ratios,
    pedal_rows,
    wheel_inertia_share,
)
from trailbrake.learning.identification.robust_fit import fit_linear
from trailbrake.units import G

MIN_ROWS = 100
MIN_SPEED = 10.0  # m/s
DRIVING_SHARE = 0.3  # of the largest power that was seen: below it throttle maps and engine braking are in it
STEADY_S = 0.3  # of the pedal
FORCE_ERROR, FORCE_SHARE = 0.1, 0.03  # m/s^2, and of the force: what the model itself is wrong by
MASS_FLOOR = 0.05  # relative: the gearbox's loss and the inertias are those of the class
MASS_DOUBT = 10.0  # of the class's mass: none of it is believed


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
    error = FORCE_ERROR * mass + FORCE_SHARE * np.abs(force)
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
        pedal_rows(table, car) & find_free_rows(table, car) & (table.brake < 0.01) & (table.vx > MIN_SPEED)
        & (power > DRIVING_SHARE * power.max(initial=0.0)) & table.steady(table.throttle, STEADY_S, 0.04)
    )  # fmt: skip
