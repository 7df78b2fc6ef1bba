"""Delay, rate limit and lag of an actuator, from the commands and what the wire says that is applied.

A model of the actuator (a transport delay, then a first-order lag, then a limit of its rate) is run over the commands
in steps much shorter than the wire's, and fitted to what was applied. So a delay is found to a fraction of the wire's
period.

The delay from a command to the car's answer, by the torque of the brakes.

Forces cannot be echoed by a wire as a pedal can. A brake slows the wheels and what turns with them before the tyres
slow the car: its torque is that of the tyres' forces and of what the wheels and the engine lose of their rotation. Mean
rates between two samples are those of the speeds, so a delay shows to a part of the wire's period.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array
from trailbrake.cars.params import CarParams
from trailbrake.kernels import jit
from trailbrake.learning.identification.braking import Braking
from trailbrake.learning.identification.drive_table import GAP, DriveTable
from trailbrake.learning.identification.learned_value import LearnedValue, identified
from trailbrake.learning.identification.powertrain import Powertrain, drive_matrix, overall_ratios, wheel_inertia_share
from trailbrake.learning.identification.robust_fit import fit_residuals

STEP = 0.001  # s of the model
MAX_DELAY = 0.3  # s
MOST_SECONDS = 60.0  # of the liveliest driving that is used
REWEIGHTINGS = 6  # of a fit of least absolute deviations
LEAST_RESIDUAL = 0.03  # of the standard deviation, that such a fit takes for none
WINDOW_S = 2.0
MIN_ACTIVITY = 0.02  # of the range, in a window that is used
DELAY_FLOOR_S = 0.001
LEAST_AMBIGUITY = 0.02  # s, half the range of delays that fit nearly as well as the best, from which it counts
MOST_UNEXPLAINED = 0.8  # of the standard deviation of what was applied: beyond it the commands are not its cause

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


@dataclass(frozen=True)
class ActuatorResponse:
    """What was found.

    Attributes:
        delay: s, from the sample that was answered to the actuator's first move.
        lag: s, time constant.
        rate: applied units per s, the fastest change; infinite sigma where it was never reached.
        gain: applied units per unit that was commanded, in steady state.
        error: applied units, standard deviation of what is left.
    """

    delay: LearnedValue
    lag: LearnedValue
    rate: LearnedValue
    gain: LearnedValue
    error: float


@jit
def run_actuator(drive: Array, parameters: Array, averaged: bool, out: Array) -> None:
    """Write what an actuator does.

    Args:
        drive: (4, n) time (s), command (held until the next), where the actuator is, and 1 where the model begins anew.
        parameters: delay (s), lag (s), rate (applied/s), gain, offset.
        averaged: whether a value counts as the mean since the one before; else as that of its moment.
        out: (n,) written.
    """
    time, commanded, applied, restarts = drive[0], drive[1], drive[2], drive[3]
    delay, lag, rate, gain, offset = parameters[0], parameters[1], parameters[2], parameters[3], parameters[4]
    now = applied[0]
    filtered = applied[0]
    at = 0
    for k in range(time.shape[0]):
        if k == 0 or restarts[k] > 0.0:
            now = applied[k]
            filtered = applied[k]
            out[k] = now
            at = k
            continue
        span = time[k] - time[k - 1]
        steps = max(round(span / 0.001), 1)
        h = span / steps
        total = 0.0
        for i in range(steps):
            # The command in force at the middle of the step, a delay ago; a part of a step counts in proportion.
            moment = time[k - 1] + (i + 0.5) * h - delay
            while at + 1 < time.shape[0] and time[at + 1] <= moment - 0.5 * h:
                at += 1
            while at > 0 and time[at] > moment - 0.5 * h:
                at -= 1
            goal = commanded[at]
            if at + 1 < time.shape[0] and time[at + 1] < moment + 0.5 * h:
                late = (moment + 0.5 * h - time[at + 1]) / h
                goal += late * (commanded[at + 1] - goal)
            goal = gain * goal + offset
            filtered += (goal - filtered) * (h / (lag + h) if lag > 0.0 else 1.0)
            now += min(max(filtered - now, -rate * h), rate * h)
            total += now
        out[k] = total / steps if averaged else now


def find_response(
    time: Array,
    commanded: Array,
    applied: Array,
    *,
    usual_rate: float,
    counted: NDArray[np.bool_] | None = None,
    averaged: bool = False,
    usual_lag: tuple[float, float] = (0.01, 0.02),
) -> ActuatorResponse | None:
    """Return the response of an actuator; None where it was not moved enough, or does not follow the commands.

    Args:
        time: (n,) s, rising.
        commanded: (n,) commands.
        applied: (n,) what the wire says; no NaN.
        usual_rate: of the class of cars, applied units per s; infinite: none.
        counted: (n,) rows that the actuator alone explains; None: all.
        averaged: whether a row of `applied` is the mean since the row before.
        usual_lag: s, what the lag is before anything is measured, and its standard deviation.
    """
    rows = _lively_rows(time, commanded, np.ones(len(time), bool) if counted is None else counted)
    if len(rows) < 100:
        return None
    t, u, y = time[rows], commanded[rows], applied[rows]
    limited = math.isfinite(usual_rate)
    usual_rate = usual_rate if limited else 1e3 * float(np.ptp(y))
    restarts = (np.diff(t, prepend=t[0] - 1.0) > 0.1).astype(np.float64)
    use = np.ones(len(t), bool) if counted is None else counted[rows]
    # Until the delayed commands are those of the same window, the model cannot know them.
    since = t - t[np.maximum.accumulate(np.where(restarts > 0, np.arange(len(t)), 0))]
    use &= since > MAX_DELAY
    if use.sum() < 100:
        return None
    spread = max(float(np.std(y[use])), 1e-9)
    drive, out = np.stack([t, u, y, restarts]), np.empty(len(t))

    def residuals(p: Array) -> Array:
        run_actuator(drive, p, averaged, out)
        return np.asarray((out[use] - y[use]) / spread)

    gain0 = float(u[use] @ y[use]) / max(float(u[use] @ u[use]), 1e-12)
    mean = np.array([0.03, usual_lag[0], usual_rate, gain0, 0.0])
    deviation = np.array([0.2, usual_lag[1], 2.0 * usual_rate if limited else 1e-3, np.inf, 0.1 * spread])
    limits = (np.array([0.0, 0.0, 0.05 * usual_rate, -np.inf, -spread]),
              np.array([MAX_DELAY, 0.5, 20.0 * usual_rate, np.inf, spread]))  # fmt: skip
    # The cost has kinks where a command's change meets a sample: begin near the best.
    apart = 0.004 if averaged else 0.01  # s
    starts = apart * np.arange(round(0.2 / apart) + 1)
    lag0 = usual_lag[0] if averaged else 0.0
    guesses = [np.array([d, lag0, usual_rate, gain0, 0.0]) for d in starts]
    if averaged and not limited:
        guesses = [_fit_gain(drive, guess, use) for guess in guesses]
    costs = np.array([float(np.mean(np.abs(residuals(guess)))) for guess in guesses])
    start = np.clip(guesses[int(np.argmin(costs))], *limits)
    blocks = np.floor(t[use]).astype(np.int64)
    # Few braking moments fit two delays nearly as well: then neither is known.
    likely = starts[costs <= costs.min() * (1.0 + 1.0 / math.sqrt(len(np.unique(t[use] // WINDOW_S))))]
    ambiguity = 0.5 * float(np.ptp(likely))
    doubt = ambiguity if averaged and ambiguity > LEAST_AMBIGUITY else DELAY_FLOOR_S
    steps = np.array([5e-4, 5e-4, 0.01 * usual_rate, 1e-3 * abs(gain0), 1e-3 * spread])
    fit = fit_residuals(residuals, start, (mean, deviation), blocks, limits=limits, steps=steps)
    delay, lag, rate, gain, _ = fit.value
    run_actuator(drive, fit.value, averaged, out)
    if np.std(out[use] - y[use]) > MOST_UNEXPLAINED * spread:
        return None
    return ActuatorResponse(
        delay=identified(delay, float(np.hypot(fit.sigma[0], doubt)), "applied against commanded"),
        lag=identified(lag, float(np.hypot(fit.sigma[1], DELAY_FLOOR_S)), "applied against commanded"),
        rate=identified(rate, fit.sigma[2], "applied against commanded", floor=0.02, prior_sigma=2.0 * usual_rate),
        gain=identified(gain, fit.sigma[3], "applied against commanded", floor=0.005),
        error=float(np.std(out[use] - y[use])),
    )  # fmt: skip


def _fit_gain(drive: Array, guess: Array, use: NDArray[np.bool_]) -> Array:
    """Return parameters (5,) with the gain and the offset of least absolute deviations for a delay, of means."""
    unit = guess.copy()
    unit[3:] = 1.0, 0.0
    out, applied = np.empty(drive.shape[1]), drive[2, use]
    run_actuator(np.stack([drive[0], drive[1], np.zeros_like(drive[2]), drive[3]]), unit, True, out)
    matrix = np.column_stack([out[use], np.ones(len(applied))])
    weights, least = np.ones(len(applied)), LEAST_RESIDUAL * max(float(np.std(applied)), 1e-9)
    for _ in range(REWEIGHTINGS):
        fitted = np.linalg.lstsq(matrix * weights[:, None], applied * weights, rcond=None)[0]
        weights = 1.0 / np.sqrt(np.maximum(np.abs(applied - matrix @ fitted), least))
    unit[3:] = fitted
    return unit


def _lively_rows(time: Array, commanded: Array, counted: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the rows of the windows in which most was commanded in rows that count, in order of time."""
    window = np.floor(time / WINDOW_S).astype(np.int64)
    _, which = np.unique(window, return_inverse=True)
    change = np.abs(np.diff(commanded, prepend=commanded[0]))
    activity = np.bincount(which, np.where(counted, change, 0.0))
    best = np.argsort(-activity)[: int(MOST_SECONDS / WINDOW_S)]
    best = best[activity[best] > MIN_ACTIVITY]
    return np.flatnonzero(np.isin(which, best))


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
