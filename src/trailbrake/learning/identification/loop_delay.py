"""The delay from a command to the car's answer, by the torque of the brakes.

Forces cannot be echoed by a wire as a pedal can. A brake slows the wheels and what turns with them before the tyres
slow the car: its torque is that of the tyres' forces and of what the wheels and the engine lose of their rotation. Mean
rates between two samples are those of the speeds, so a delay shows to a part of the wire's period.
"""

import math

import numpy as np
from numpy.typing import NDArray

from trailbrake.cars.params import CarParams
from trailbrake.learning.identification.actuator_response import LEAST_AMBIGUITY, find_response
from trailbrake.learning.identification.braking import Braking
from trailbrake.learning.identification.drive_table import GAP, DriveTable
from trailbrake.learning.identification.learned_value import LearnedValue, identified
from trailbrake.learning.identification.powertrain import Powertrain, drive_matrix, overall_ratios, wheel_inertia_share

Array = NDArray[np.float64]

MAX_THROTTLE = 0.3  # commanded beside the brake: what the engine adds is known well enough
MAX_SIDE = 4.0  # m/s^2
MIN_SPEED = 6.0  # m/s
TYRE_SHARE = 0.7  # of the hardest deceleration, below which the tyres follow the pedal
QUIET_FALL = 0.05  # of the throttle: engines and drive shafts ring after more
# s for which it has fallen by no more, share of the hardest deceleration that the side force may be, and error (s) that
# comes with them. Cars of much power that brake hard are never quiet.
QUIET = ((0.25, 0.0, 0.0), (0.1, 0.2, 0.002), (0.0, 0.2, 0.004))
MIN_GEAR_AGE = 0.5  # s
LEAST_SPIN = 0.6  # of free rolling: below it a wheel is about to lock, or locked, and no pedal tells its brake's torque
USUAL_LAG = (0.003, 0.006)  # s, of brakes, and what is wrong with the inertias; standard deviation
PERIOD_SHARE = 0.15  # of the wire's period: systematic error


def find_loop_delay(
    table: DriveTable, car: CarParams, braking: Braking | None, powertrain: Powertrain | None
) -> LearnedValue | None:
    """Return the delay (s) from a brake command to the deceleration; None where too little was braked.

    Args:
        table: the drive.
        car: what is known of it: drag and gears.
        braking: its brakes.
        powertrain: its engine.
    """
    if braking is None or powertrain is None:
        return None
    near, held = estimate_brake_force(table, car, powertrain)
    gentle = (
        near & (table.throttle_command < MAX_THROTTLE) & (table.vx > MIN_SPEED)
        & (table.gear_age > MIN_GEAR_AGE) & (held < TYRE_SHARE * braking.peak) & (table.assisted < 0.5)
        & _wheels_turn(table, car)
    )  # fmt: skip
    period = float(np.median(np.diff(table.time)))
    best: LearnedValue | None = None
    for quiet_s, side, doubt in QUIET:
        straight = np.abs(table.fy) < max(MAX_SIDE, side * braking.peak)
        counted = gentle & straight & _throttle_is_quiet(table, quiet_s)
        if not counted.any():
            continue
        response = find_response(
            table.time, table.brake_command, np.where(counted, held, 0.0), usual_rate=math.inf, counted=counted,
            averaged=True, usual_lag=USUAL_LAG,
        )  # fmt: skip
        if response is None:
            continue
        ambiguous = response.delay.sigma > LEAST_AMBIGUITY
        sigma = response.delay.sigma if ambiguous else min(response.delay.sigma, period)
        found = identified(response.delay.value, math.hypot(sigma, PERIOD_SHARE * period, doubt), "brake steps")
        if not ambiguous:
            return found
        best = found if best is None or found.sigma < best.sigma else best
    return best


def estimate_brake_force(table: DriveTable, car: CarParams, powertrain: Powertrain) -> tuple[NDArray[np.bool_], Array]:
    """Return where the row before is near, and the brakes' torque over radii and mass, mean since it: (n,), m/s^2.

    Args:
        table: the drive.
        car: its wheels and gears.
        powertrain: its engine.
    """
    step = np.diff(table.time, prepend=table.time[0] - 1.0)
    near = (step > 0.0) & (step < GAP)
    step = np.where(near, step, np.inf)
    # The mean acceleration since the row before, instead of that of the moment.
    change = np.diff(table.vx, prepend=table.vx[0]) / step - table.vy * table.yaw_rate - table.ax
    unknowns = powertrain.fit.value
    matrix = drive_matrix(table, car, powertrain.speeds)
    spin = np.diff(table.spin, axis=0, prepend=table.spin[:1]) / step[:, None]
    engine = np.diff(table.engine, prepend=table.engine[0]) / step
    if np.isfinite(spin).all() and np.isfinite(engine).all():
        matrix[:, -1] = -overall_ratios(table, car) / car.driven_radius * engine
        wheels = sum(
            tyre.inertia / tyre.radius * spin[:, axle].sum(axis=1)
            for tyre, axle in ((car.tyre_front, slice(0, 2)), (car.tyre_rear, slice(2, 4)))
        ) / car.body.mass  # fmt: skip
        return near, np.asarray(matrix @ unknowns - (table.fx + change) - wheels)
    share = wheel_inertia_share(car)
    return near, np.asarray(matrix @ unknowns - (table.fx + share * table.ax) - (1.0 + share) * change)


def _wheels_turn(table: DriveTable, car: CarParams) -> NDArray[np.bool_]:
    """Return where no wheel is about to lock; everywhere on a wire without wheel speeds."""
    radii = np.repeat([car.tyre_front.radius, car.tyre_rear.radius], 2)
    return ~np.asarray((table.spin * radii < LEAST_SPIN * table.speed[:, None]).any(axis=1))


def _throttle_is_quiet(table: DriveTable, seconds: float) -> NDArray[np.bool_]:
    """Return where the throttle has not fallen for `seconds`."""
    reach = round(seconds / float(np.median(np.diff(table.time))))
    padded = np.concatenate([np.full(reach, table.throttle[0]), table.throttle])
    highest = np.lib.stride_tricks.sliding_window_view(padded, reach + 1).max(axis=1)
    return np.asarray(table.throttle > highest - QUIET_FALL)
