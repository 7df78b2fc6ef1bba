"""The banded solver and the box QP, against dense numpy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trailbrake.planning.quadratic_program import Bounds, CyclicMatrix, multiply_cyclic, solve_box_qp, solve_cyclic


def _system(seed: int, n: int) -> tuple[np.ndarray, CyclicMatrix, np.ndarray]:
    rng = np.random.default_rng(seed)
    rows = np.zeros((n, n))
    for i in range(n):
        for j in (-1, 0, 1):
            rows[i, (i + j) % n] = rng.normal()
    dense = rows.T @ rows + 0.05 * np.eye(n)
    index = np.arange(n)
    return (
        dense,
        CyclicMatrix(dense[index, index], dense[index, (index + 1) % n], dense[index, (index + 2) % n]),
        rng.normal(size=n),
    )


@given(seed=st.integers(0, 10_000), n=st.integers(6, 40))
@settings(max_examples=40)
def test_solves_what_numpy_solves(seed: int, n: int) -> None:
    dense, bands, rhs = _system(seed, n)
    assert np.allclose(multiply_cyclic(bands, rhs), dense @ rhs)
    assert np.allclose(solve_cyclic(bands, rhs), np.linalg.solve(dense, rhs), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_minimiser_satisfies_the_optimality_conditions(seed: int) -> None:
    dense, bands, linear = _system(seed, 30)
    lower, upper = -np.full(30, 0.4), np.full(30, 0.3)
    x = solve_box_qp(bands, linear, Bounds(lower, upper), np.zeros(30), 1e-10)
    gradient = dense @ x + linear
    inside = (x > lower + 1e-5) & (x < upper - 1e-5)
    assert ((x >= lower) & (x <= upper)).all()
    assert np.abs(gradient[inside]).max(initial=0.0) < 1e-4
    assert (gradient[x <= lower + 1e-5] > -1e-4).all()
    assert (gradient[x >= upper - 1e-5] < 1e-4).all()
