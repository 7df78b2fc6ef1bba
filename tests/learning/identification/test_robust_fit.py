"""Fits with known answers: outliers, priors, and honest deviations where samples repeat each other."""

import numpy as np
import pytest

from trailbrake.learning.identification.robust_fit import fit_linear, fit_residuals

FREE = (np.zeros(2), np.full(2, np.inf))


def line(rows, rng, noise=0.1):
    x = np.linspace(0.0, 1.0, rows)
    return np.column_stack([np.ones(rows), x]), 2.0 + 3.0 * x + noise * rng.standard_normal(rows)


def test_outliers_hardly_move_a_line():
    matrix, y = line(200, np.random.default_rng(1))
    y[::10] += 30.0
    assert fit_linear(matrix, y, FREE).value == pytest.approx([2.0, 3.0], abs=0.15)


def test_a_deviation_is_that_of_the_estimates():
    rng = np.random.default_rng(2)
    fits = [fit_linear(*line(80, rng), FREE) for _ in range(150)]
    spread = np.std([fit.value for fit in fits], axis=0)
    assert np.mean([fit.sigma for fit in fits], axis=0) == pytest.approx(spread, rel=0.25)


def test_below_a_known_scale_the_fit_is_the_posterior_mean():
    """With residuals far below `least_scale` nothing is an outlier: (A'A / s^2 + P)^-1 (A'y / s^2 + P m)."""
    rng = np.random.default_rng(7)
    matrix, y = line(40, rng)
    scale, mean, deviation = 5.0, np.array([1.0, -2.0]), np.array([0.5, 2.0])
    precision = np.diag(deviation**-2.0)
    wanted = np.linalg.solve(
        matrix.T @ matrix / scale**2 + precision, matrix.T @ y / scale**2 + precision @ mean
    )  # fmt: skip
    fit = fit_linear(matrix, y, (mean, deviation), least_scale=scale)
    assert fit.value == pytest.approx(wanted, rel=1e-6)
    assert (fit.scale, fit.rows) == (scale, 40)
    free = fit_linear(matrix, y, FREE, least_scale=scale)
    assert free.value == pytest.approx(np.linalg.lstsq(matrix, y, rcond=None)[0], rel=1e-6)
    ratio, sigma = free.derive(lambda x: 3.0 * x[0] - x[1])  # linear: exact propagation
    slope = np.array([3.0, -1.0])
    assert (ratio, sigma) == pytest.approx((slope @ free.value, (slope @ free.covariance @ slope) ** 0.5), rel=1e-4)


def test_samples_that_repeat_each_other_teach_no_more_than_their_blocks():
    rng = np.random.default_rng(3)
    matrix, y = line(60, rng)
    once = fit_linear(matrix, y, FREE, np.arange(60))
    ten = fit_linear(np.repeat(matrix, 10, axis=0), np.repeat(y, 10), FREE, np.repeat(np.arange(60), 10))
    assert ten.sigma == pytest.approx(once.sigma, rel=0.05)


def test_a_prior_holds_what_the_data_do_not_tell():
    x = np.ones((50, 1))
    both = np.hstack([x, x])  # only the sum is applied
    fit = fit_linear(
        both, 5.0 + 0.01 * np.random.default_rng(5).standard_normal(50), (np.array([0.0, 2.0]), np.array([np.inf, 0.1]))
    )
    assert fit.value == pytest.approx([3.0, 2.0], abs=0.02)
    assert fit.sigma[1] == pytest.approx(0.1, rel=0.01)


def test_quiet_residuals_outweigh_no_prior_below_the_least_scale():
    rng = np.random.default_rng(6)
    matrix = np.column_stack([np.ones(200), 1e-3 * rng.standard_normal(200)])  # the second is hardly told
    y = 2.0 + 2e-3 * matrix[:, 1] / 1e-3  # and wrong by what the model leaves out
    prior = (np.array([0.0, 0.1]), np.array([np.inf, 0.1]))
    assert fit_linear(matrix, y, prior).value[1] > 1.0
    assert fit_linear(matrix, y, prior, least_scale=0.05).value[1] == pytest.approx(0.1, abs=0.02)


def test_a_curve_is_fitted_within_limits_and_a_quotient_has_its_deviation():
    x = np.linspace(0.0, 2.0, 100)
    y = 1.5 * np.exp(-0.7 * x) + 0.01 * np.random.default_rng(4).standard_normal(100)
    fit = fit_residuals(lambda p: p[0] * np.exp(-p[1] * x) - y, np.array([1.0, 0.1]), FREE)
    assert fit.value == pytest.approx([1.5, 0.7], abs=0.02)
    ratio, sigma = fit.derive(lambda p: p[0] / p[1])
    assert abs(ratio - 1.5 / 0.7) < 3.0 * sigma
    held = fit_residuals(
        lambda p: p[0] * np.exp(-p[1] * x) - y, np.array([1.0, 0.1]), FREE,
        limits=(np.array([0.0, 0.0]), np.array([1.2, 2.0])),
    )  # fmt: skip
    assert held.value[0] == pytest.approx(1.2)


def test_a_parameter_that_its_prior_holds_costs_no_evaluation():
    matrix, y = line(80, np.random.default_rng(4))
    calls = []

    def residuals(p):
        calls.append(p.copy())
        return matrix @ p[:2] + p[2] - y

    prior = np.array([0.0, 0.0, 0.5]), np.array([np.inf, np.inf, 1e-9])
    fit = fit_residuals(residuals, np.array([1.0, 1.0, 0.5]), prior)
    assert fit.value[2] == pytest.approx(0.5, abs=1e-6)
    assert fit.sigma[2] == pytest.approx(1e-9, rel=1e-3)
    alone = fit_linear(matrix, y - 0.5, FREE)
    assert fit.value[:2] == pytest.approx(alone.value, abs=1e-5)
    steps = [p for p in calls if 1e-12 < abs(p[2] - 0.5) < 1e-3 and np.all(p[:2] == calls[0][:2])]
    assert not steps
