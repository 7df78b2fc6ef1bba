"""The turbocharger of a car: the share of its torque that comes with boost, and how long boost takes to build up.

At part throttle a turbocharged engine gives less than the pedal's share of its torque. Rows at many throttles and the
same engine speeds tell how much less, and rows soon after the pedal has moved how late. The law is that of a car file.
"""

from typing import NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from trailbrake.cars.params import CarParams
from trailbrake.learning.identification.drive_table import GAP, DriveTable
from trailbrake.learning.identification.learned_value import LearnedValue, identified
from trailbrake.learning.identification.powertrain import (
    KNOTS,
    SHUT_THROTTLE,
    drive_matrix,
    estimate_force_error,
    find_free_rows,
    find_pedal_rows,
    make_prior,
    make_smoothness,
    wheel_inertia_share,
)
from trailbrake.learning.identification.robust_fit import fit_residuals, sum_huber_cost

Array = NDArray[np.float64]

LAGS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.65, 0.8, 1.0)  # s
USUAL_SHARE = (0.2, 0.3)  # of the torque, and its standard deviation: engines with and without
MOST_SHARE = 0.9  # no engine has so much of it: then it is something else
LEAST_THROTTLE = 0.15
PART_THROTTLE = 0.9  # below it boost is not whole ...
LEAST_PART = (100, 10)  # ... and rows and blocks of time with it that tell how much there is
MOST_DOUBT = 0.12  # standard deviation of the share beyond which it was not learned
LEAST_SHARE = 0.2  # below it an engine counts as one without a turbocharger: throttle maps are not straight either
SHARE_ERROR, LAG_ERROR = 0.03, 0.25  # of the method: 1, and relative


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
    part = pulling & (table.throttle < PART_THROTTLE)
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
