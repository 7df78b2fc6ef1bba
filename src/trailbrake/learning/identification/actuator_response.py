"""Delay, rate limit and lag of an actuator, from the commands and what the wire says that is applied.

A model of the actuator (a transport delay, then a first-order lag, then a limit of its rate) is run over the commands
in steps much shorter than the wire's, and fitted to what was applied. So a delay is found to a fraction of the wire's
period.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trailbrake.kernels import jit
from trailbrake.learning.identification.learned_value import LearnedValue, identified
from trailbrake.learning.identification.robust_fit import fit_residuals

Array = NDArray[np.float64]

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
