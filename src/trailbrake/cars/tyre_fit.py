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
from numpy.typing import NDArray

Array = NDArray[np.float64]

COEFFICIENTS = 8  # n0 .. n3, d1 .. d4
_ROUNDS, _PLAIN = 40, 8  # of the fit; how many of them before the error is levelled
_SLIPS = np.sort(np.concatenate([np.geomspace(1e-3, 1e4, 1600), np.linspace(0.02, 4.0, 800)]))
_NEAR_NOTHING = 0.2  # a share of the small slips' relative error that counts beside the error itself


@dataclass(frozen=True, eq=False)
class Fit:
    """The curve of one tyre.

    Attributes:
        coefficients: (COEFFICIENTS,), n0 .. n3 and d1 .. d4.
        error: largest difference from the exact curve, whose peak is 1.
    """

    coefficients: Array
    error: float

    def curve(self, slip: Array) -> Array:
        """Return the fitted curve at slips (n,) >= 0."""
        above = np.polynomial.polynomial.polyval(slip, self.coefficients[:4])
        below = 1.0 + slip * np.polynomial.polynomial.polyval(slip, self.coefficients[4:])
        value: Array = slip * above / below
        return value


def exact(slip: Array, b: float, c: float, e: float) -> Array:
    """Return the Magic Formula's curve at slips (n,)."""
    x = b * slip
    value: Array = np.sin(c * np.arctan(x - e * (x - np.arctan(x))))
    return value


@lru_cache(maxsize=64)
def fit(b: float, c: float, e: float) -> Fit:
    """Return the best fit of the curve with stiffness `b`, shape `c` and curvature `e`."""
    slips = _SLIPS
    truth = exact(slips, b, c, e)
    powers = slips[:, None] ** np.arange(5)
    # Unknowns times these are n(s) s - curve (d(s) - 1), which is to be curve.
    terms = np.concatenate([slips[:, None] * powers[:, :4], -truth[:, None] * powers[:, 1:]], axis=1)
    below, level = np.ones_like(slips), np.ones_like(slips)
    best = Fit(np.zeros(COEFFICIENTS), np.inf)
    for turn in range(_ROUNDS):
        weight = np.sqrt(level) / below
        scale = np.linalg.norm(terms * weight[:, None], axis=0)
        found = np.linalg.lstsq(terms * weight[:, None] / scale, truth * weight)[0] / scale
        below = np.abs(1.0 + powers[:, 1:] @ found[4:])
        one = Fit(found, np.inf)
        errors = np.abs(one.curve(slips) - truth)
        if errors.max() < best.error and (1.0 + powers[:, 1:] @ found[4:]).min() > 0.0:
            best = Fit(found, float(errors.max()))
        if turn >= _PLAIN:
            level *= errors / errors.max() + 1e-3
            level /= level.mean()
    return best
