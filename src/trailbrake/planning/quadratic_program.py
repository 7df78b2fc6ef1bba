"""A convex quadratic programme with a cyclic pentadiagonal matrix and box bounds.

The search for a minimum-curvature line reduces to it. Solved by a primal-dual interior point method (Nocedal and
Wright, Numerical Optimization, 2nd ed., chapter 16.6); every Newton step is one banded solve, O(n).
"""

from typing import NamedTuple

import numpy as np

from trailbrake.arrays import Array
from trailbrake.kernels import jit

MAX_NEWTON_STEPS = 60  # Newton steps at most; 15 to 25 are usual


class CyclicMatrix(NamedTuple):
    """A symmetric pentadiagonal matrix S that wraps around; indices are modulo n. Zeros at the wrap give a banded one.

    Attributes:
        d0: (n,) main diagonal.
        d1: (n,) S[i, i + 1].
        d2: (n,) S[i, i + 2].
    """

    d0: Array
    d1: Array
    d2: Array


@jit
def _solve_banded(matrix: CyclicMatrix, factors: Array, work: Array) -> None:
    """Solve with the first m rows of `matrix`, without its wrap, by LDL'.

    Args:
        matrix: positive definite.
        factors: (3, m) out: D, and the two subdiagonals of L.
        work: (m, 3) right-hand sides in, solutions out.
    """
    d0, d1, d2 = matrix
    diag, l1, l2 = factors[0], factors[1], factors[2]
    m = diag.shape[0]
    for i in range(m):
        value = d0[i]
        off = d1[i]
        if i >= 1:
            value -= l1[i] * l1[i] * diag[i - 1]
        if i >= 2:
            value -= l2[i] * l2[i] * diag[i - 2]
        diag[i] = value
        if i + 1 < m:
            if i >= 1:
                off -= l2[i + 1] * l1[i] * diag[i - 1]
            l1[i + 1] = off / value
        if i + 2 < m:
            l2[i + 2] = d2[i] / value
    for k in range(3):
        for i in range(1, m):
            work[i, k] -= l1[i] * work[i - 1, k]
            if i >= 2:
                work[i, k] -= l2[i] * work[i - 2, k]
        for i in range(m - 1, -1, -1):
            value = work[i, k] / diag[i]
            if i + 1 < m:
                value -= l1[i + 1] * work[i + 1, k]
            if i + 2 < m:
                value -= l2[i + 2] * work[i + 2, k]
            work[i, k] = value


def solve_cyclic(matrix: CyclicMatrix, rhs: Array) -> Array:
    """Return the solution x (n,) of S x = rhs for a positive definite matrix, n >= 6.

    The last two unknowns border a banded core: LDL' of the core with three right-hand sides, then a 2x2
    Schur complement (Golub and Van Loan, Matrix Computations, sections 3.2.11 and 4.3).
    """
    d0, d1, d2 = matrix
    m = len(d0) - 2
    border = np.zeros((m, 2))  # the core's couplings to unknowns m and m + 1
    border[m - 2, 0] += d2[m - 2]
    border[m - 1, 0] += d1[m - 1]
    border[m - 1, 1] += d2[m - 1]
    border[0, 0] += d2[m]
    border[0, 1] += d1[m + 1]
    border[1, 1] += d2[m + 1]
    work = np.column_stack([rhs[:m], border])
    _solve_banded(matrix, np.zeros((3, m)), work)
    corner = np.array([[d0[m], d1[m]], [d1[m], d0[m + 1]]]) - border.T @ work[:, 1:]
    tail = np.linalg.solve(corner, rhs[m:] - border.T @ work[:, 0])
    return np.concatenate([work[:, 0] - work[:, 1:] @ tail, tail])


def multiply_cyclic(matrix: CyclicMatrix, x: Array) -> Array:
    """Return S x, (n,)."""
    d0, d1, d2 = matrix
    a, b = d1 * x, d2 * x
    return d0 * x + d1 * np.roll(x, -1) + d2 * np.roll(x, -2) + np.roll(a, 1) + np.roll(b, 2)


def _longest_step(value: Array, change: Array) -> float:
    """Return how far along `change` all of `value` (> 0) stays positive, at most 1, with 0.5 % to spare."""
    falling = change < 0.0
    if not falling.any():
        return 1.0
    return min(1.0, float(np.min(-0.995 * value[falling] / change[falling])))


class Bounds(NamedTuple):
    """Bounds of the unknowns, (n,) each; lower < upper strictly."""

    lower: Array
    upper: Array


def solve_box_qp(matrix: CyclicMatrix, linear: Array, bounds: Bounds, start: Array, tolerance: float) -> Array:
    """Return the x (n,) within the bounds that minimises 1/2 x'Sx + linear'x.

    Args:
        matrix: S.
        linear: (n,) linear term.
        bounds: of x.
        start: (n,) first guess; it is moved inside the bounds.
        tolerance: complementarity at which to stop, relative to the first.
    """
    d0, d1, d2 = matrix
    lower, upper = bounds
    width = upper - lower
    x = np.clip(start, lower + 0.05 * width, upper - 0.05 * width)
    gradient = multiply_cyclic(matrix, x) + linear
    first = 0.1 * float(np.mean(np.abs(gradient) * width)) + 1e-12
    z1, z2 = first / (x - lower), first / (upper - x)
    for _ in range(MAX_NEWTON_STEPS):
        s1, s2 = x - lower, upper - x
        gap = float(np.mean(z1 * s1 + z2 * s2))
        if gap < tolerance * first:
            break
        barrier = 0.15 * 0.5 * gap
        gradient = multiply_cyclic(matrix, x) + linear
        newton = CyclicMatrix(d0 + z1 / s1 + z2 / s2, d1, d2)
        dx = solve_cyclic(newton, -gradient + barrier / s1 - barrier / s2)
        dz1 = (barrier - z1 * dx) / s1 - z1
        dz2 = (barrier + z2 * dx) / s2 - z2
        step_x = min(_longest_step(s1, dx), _longest_step(s2, -dx))
        step_z = min(_longest_step(z1, dz1), _longest_step(z2, dz2))
        x = x + step_x * dx
        z1, z2 = z1 + step_z * dz1, z2 + step_z * dz2
    return x
