"""The Magic Formula's curve as a quotient of polynomials, for kernels that evaluate it millions of times a second.

curve(s) = sin(C atan(B s - E (B s - atan(B s)))) rises from 0 to its peak and falls to a limit, so curve(s) / s is
close to

    (n0 + n1 s + n2 s^2 + n3 s^3) / (1 + d1 s + d2 s^2 + d3 s^3 + d4 s^4),

with the right limits at 0 and far out: one division, no sine, no arctangent. Fitted by linearised least squares
(Sanathanan and Koerner, IEEE Transactions on Automatic Control 8:1, 1963) with Lawson's weights, which level the
error; `error` says how well it fits, as a share of the peak.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from trailbrake.arrays import Array

COEFFICIENTS = 8  # n0 .. n3, d1 .. d4
_ROUNDS, _PLAIN = 40, 8  # iterations of the fit, and those before the error is levelled
_BLOCKS = 40  # of slips, solved one by one: small enough that the linear algebra library starts no threads
_SLIPS = np.sort(np.concatenate([np.geomspace(1e-3, 1e4, 1600), np.linspace(0.02, 4.0, 800)]))


@dataclass(frozen=True, eq=False)
class CurveFit:
    """The curve of one tyre.

    Attributes:
        coefficients: (COEFFICIENTS,), n0 .. n3 and d1 .. d4.
        error: largest difference from the exact curve, whose peak is 1.
    """

    coefficients: Array
    error: float

    def curve_at(self, slip: Array) -> Array:
        """Return the fitted curve at slips (n,) >= 0."""
        above = np.polynomial.polynomial.polyval(slip, self.coefficients[:4])
        below = 1.0 + slip * np.polynomial.polynomial.polyval(slip, self.coefficients[4:])
        value: Array = slip * above / below
        return value


def magic_formula_curve(slip: Array, b: float, c: float, e: float) -> Array:
    """Return the Magic Formula's curve at slips (n,), with its factors B, C and E."""
    x = b * slip
    value: Array = np.sin(c * np.arctan(x - e * (x - np.arctan(x))))
    return value


def _solve_least_squares(matrix: Array, target: Array) -> Array:
    """Return the x (COEFFICIENTS,) that brings matrix @ x (n, COEFFICIENTS) closest to `target` (n,).

    By QR of blocks of rows, then of their triangles.
    """
    blocks = np.column_stack([matrix, target]).reshape(_BLOCKS, -1, COEFFICIENTS + 1)
    triangles: Array = np.asarray(np.linalg.qr(blocks, mode="r")).reshape(-1, COEFFICIENTS + 1)
    rows: Array = np.asarray(np.linalg.qr(triangles, mode="r"))[:COEFFICIENTS]
    found: Array = np.linalg.lstsq(rows[:, :-1], rows[:, -1])[0].astype(np.float64)
    return found


@lru_cache(maxsize=64)
def fit_curve(b: float, c: float, e: float) -> CurveFit:
    """Return the best fit of the curve with stiffness factor `b`, shape factor `c` and curvature factor `e`."""
    slips = _SLIPS
    truth = magic_formula_curve(slips, b, c, e)
    powers = slips[:, None] ** np.arange(5)
    # Unknowns times these are n(s) s - curve (d(s) - 1), which is to be curve.
    terms = np.concatenate([slips[:, None] * powers[:, :4], -truth[:, None] * powers[:, 1:]], axis=1)
    below, level = np.ones_like(slips), np.ones_like(slips)
    best = CurveFit(np.zeros(COEFFICIENTS), np.inf)
    for turn in range(_ROUNDS):
        weight = np.sqrt(level) / below
        weighted = terms * weight[:, None]
        scale = np.linalg.norm(weighted, axis=0)
        found = _solve_least_squares(weighted / scale, truth * weight) / scale
        quotient = 1.0 + slips * np.polynomial.polynomial.polyval(slips, found[4:])
        below = np.abs(quotient)
        one = CurveFit(found, np.inf)
        errors = np.abs(one.curve_at(slips) - truth)
        if errors.max() < best.error and quotient.min() > 0.0:
            best = CurveFit(found, float(errors.max()))
        if turn >= _PLAIN:
            level *= errors / errors.max() + 1e-3
            level /= level.mean()
    return best
