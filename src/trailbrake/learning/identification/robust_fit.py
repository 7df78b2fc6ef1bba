"""Least squares with robust weights and priors, and the covariance of what they find.

Levenberg and Marquardt with Huber's weights by iteration (Huber and Ronchetti, Robust Statistics, 2nd ed. 2009, chapter
7). Priors are further residuals. Neighbouring samples of a drive repeat each other's errors, so the covariance is that
of residuals which are independent between blocks of time alone (Liang and Zeger, Biometrika 73:1, 1986).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array, Ints

HUBER = 1.5  # residual over its scale from which its weight falls
ROUNDS = 40  # iterations, at most
THREAD_ROWS = 500  # of a product: BLAS shares larger ones among threads
STEP_SHARE = 1e-6  # of a parameter's prior sigma, or of itself: the step of the numerical Jacobian
CONVERGED = 1e-6  # relative change of the cost below which a fit is done
LEAST_SCALE = 0.01  # of the root mean square
MAX_DAMPING = 1e8
HELD = 1e-5  # deviation of a prior over its mean up to which the prior holds a parameter, whatever the residuals say


@dataclass(frozen=True)
class Fit:
    """A fit.

    Attributes:
        value: (k,) the parameters.
        sigma: (k,) their standard deviations.
        covariance: (k, k).
        scale: robust standard deviation of the weighted residuals: 1 where they are as large as was declared.
        rows: how many residuals there were, priors not counted.
    """

    value: Array
    sigma: Array
    covariance: Array
    scale: float
    rows: int

    def derive(self, function: Callable[[Array], float]) -> tuple[float, float]:
        """Return a function of the parameters and its standard deviation, by its slope."""
        value = float(function(self.value))
        slope: Array = np.zeros(len(self.value))
        for k, sigma in enumerate(self.sigma):
            step = max(1e-3 * sigma, 1e-9)
            beside = self.value.copy()
            beside[k] += step
            slope[k] = (function(beside) - value) / step
        return value, math.sqrt(max(float(slope @ self.covariance @ slope), 0.0))


def fit_linear(
    matrix: Array,
    target: Array,
    prior: tuple[Array, Array],
    blocks: Ints | None = None,
    least_scale: float = 0.0,
    limits: tuple[Array, Array] | None = None,
) -> Fit:
    """Return the x (k,) that brings matrix @ x closest to `target`.

    Args:
        matrix: (n, k).
        target: (n,).
        prior: mean and standard deviation (k,) of the parameters; infinite deviation: none.
        blocks: (n,) number of the block of time of each row; None: rows are independent.
        least_scale: as for `fit_residuals`.
        limits: as for `fit_residuals`.
    """
    return fit_residuals(
        lambda x: matrix @ x - target, prior[0], prior, blocks, jacobian=lambda x: matrix, least_scale=least_scale,
        limits=limits,
    )  # fmt: skip


def fit_residuals(
    residuals: Callable[[Array], Array],
    start: Array,
    prior: tuple[Array, Array],
    blocks: Ints | None = None,
    *,
    limits: tuple[Array, Array] | None = None,
    jacobian: Callable[[Array], Array] | None = None,
    steps: Array | None = None,
    least_scale: float = 0.0,
) -> Fit:
    """Return the parameters with the least robust cost.

    Args:
        residuals: (n,) of the parameters; of any common scale, which is estimated.
        start: (k,) where to begin.
        prior: mean and standard deviation (k,) of the parameters; infinite deviation: none.
        blocks: (n,) number of the block of time of each residual; None: they are independent.
        limits: least and largest parameters, (k,) each.
        jacobian: (n, k) derivative of the residuals; left out: by differences.
        steps: (k,) of the differences; left out: a small share of the prior's deviation.
        least_scale: below which the scale of the residuals is not estimated: what the model itself is wrong by. Without
            it, quiet residuals outweigh the priors of what they hardly tell.
    """
    mean, deviation = prior
    pull = np.where(np.isfinite(deviation), 1.0 / np.maximum(deviation, 1e-300), 0.0)
    if steps is None:
        steps = STEP_SHARE * np.where(np.isfinite(deviation), deviation, np.maximum(np.abs(start), 1.0))
    low, high = limits or (np.full(len(start), -np.inf), np.full(len(start), np.inf))
    free = ~(deviation <= HELD * np.maximum(np.abs(mean), 1e-3))
    x = np.clip(start.astype(np.float64), low, high)
    r = residuals(x)
    # A block counts as one residual, however many samples it has: so priors keep their weight.
    repeats = np.sqrt(len(r) / max(len(np.unique(blocks)), 1)) if blocks is not None and len(r) else 1.0
    scale = max(_robust_scale(r), least_scale) * repeats
    damping, cost = 1e-3, np.inf
    weight = np.ones_like(r)
    matrix = np.zeros((len(r), len(x)))
    for _ in range(ROUNDS):
        scale = max(_robust_scale(r), least_scale) * repeats
        weight = 1.0 / np.maximum(np.abs(r) * repeats / (HUBER * scale), 1.0)
        matrix = jacobian(x) if jacobian else _differences(residuals, x, r, steps, free)
        cost = _cost(np.abs(r) * repeats / scale, pull * (x - mean), repeats)
        normal = _multiply(matrix * (weight / scale**2)[:, None], matrix) + np.diag(pull**2)
        slope = _multiply(matrix, weight * r) / scale**2 + pull**2 * (x - mean)
        moved = False
        while damping < MAX_DAMPING:
            # In units of each parameter's own information: priors may differ by many powers of ten.
            size = np.sqrt(np.maximum(np.diag(normal), 1e-300))
            damped = normal / np.outer(size, size) + damping * np.eye(len(x))
            trial = np.clip(x - np.linalg.lstsq(damped, slope / size, rcond=None)[0] / size, low, high)
            r_trial = residuals(trial)
            new = _cost(np.abs(r_trial) * repeats / scale, pull * (trial - mean), repeats)
            if new < cost:
                moved = cost - new > CONVERGED * max(cost, 1.0)
                x, r, damping = trial, r_trial, max(damping / 5.0, 1e-9)
                break
            damping *= 5.0
        if not moved:
            break
    normal = _multiply(matrix * (weight / scale**2)[:, None], matrix) + np.diag(pull**2)
    covariance = _compute_covariance(normal, matrix * (weight * r / scale**2)[:, None], pull, blocks)
    sigma = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    return Fit(x, sigma, covariance, scale / repeats, len(r))


def _multiply(left: Array, right: Array) -> Array:
    """Return left.T @ right, of (n, k) and (n, ...), in parts of one thread: those of BLAS wait for a busy machine."""
    parts = range(0, len(left), THREAD_ROWS)
    return np.asarray(sum(left[k : k + THREAD_ROWS].T @ right[k : k + THREAD_ROWS] for k in parts))


def _compute_covariance(normal: Array, scores: Array, pull: Array, blocks: Ints | None) -> Array:
    """Return the covariance (k, k) of a fit.

    Args:
        normal: (k, k) normal matrix, priors included.
        scores: (n, k) slope of the cost by residual.
        pull: (k,) one over the deviations of the priors.
        blocks: as for `fit_residuals`.
    """
    size = np.sqrt(np.maximum(np.diag(normal), 1e-300))
    inverse = np.linalg.pinv(normal / np.outer(size, size), hermitian=True) / np.outer(size, size)
    if blocks is not None:
        _, which = np.unique(blocks, return_inverse=True)
        sums = np.zeros((int(which.max(initial=0)) + 1, len(pull)))
        np.add.at(sums, which, scores)
        scores = sums * np.sqrt(len(sums) / max(len(sums) - 1.0, 1.0))
    covariance: Array = inverse @ (_multiply(scores, scores) + np.diag(pull**2)) @ inverse
    return covariance


def _robust_scale(r: Array) -> float:
    """Return the scale of residuals by their median; of those that are mostly 0, a share of their mean square."""
    if not len(r):
        return 1.0
    return max(1.4826 * float(np.median(np.abs(r))), LEAST_SCALE * float(np.sqrt(np.mean(r**2))), 1e-9)


def sum_huber_cost(size: Array) -> float:
    """Return Huber's cost of the absolute values of residuals over their scale (n,)."""
    return float(np.where(size < HUBER, 0.5 * size**2, HUBER * size - 0.5 * HUBER**2).sum())


def _cost(size: Array, pulled: Array, repeats: float) -> float:
    """Return Huber's cost of residuals over their scale (n,), a block's counting as one, and of priors (k,)."""
    return float(sum_huber_cost(size) / repeats**2 + 0.5 * np.sum(pulled**2))


def _differences(
    residuals: Callable[[Array], Array], x: Array, r: Array, steps: Array, free: NDArray[np.bool_]
) -> Array:
    """Return the Jacobian (n, k) by differences; 0 for parameters that are not `free` (k,)."""
    matrix = np.zeros((len(r), len(x)))
    for k in np.flatnonzero(free):
        beside = x.copy()
        beside[k] += steps[k]
        matrix[:, k] = (residuals(beside) - r) / steps[k]
    return matrix
