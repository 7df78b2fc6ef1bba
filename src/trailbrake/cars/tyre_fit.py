"""The Magic Formula's curve as a polynomial, for kernels that evaluate it a hundred million times a second.

curve(s) / s, with curve(s) = sin(C atan(B s - E (B s - atan(B s)))), is a smooth function of w in [-1, 1] when slips
are mapped by

    part = 1 / (s + at),   w = 1 - 2 at part,   so that s = 0, at, infinity become w = -1, 0, 1,

and curve(s) / s = part * (c0 + c1 w + ... + c11 w^11) is evaluated with one division and no root, sine or arctangent.
Interpolated at Chebyshev points, the best of a few `at`; `error` says how well it fits, as a share of the peak.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from numpy.typing import NDArray

Array = NDArray[np.float64]

COEFFICIENTS = 12
CANDIDATES = (0.3, 0.5, 0.7, 1.0, 1.4)


@dataclass(frozen=True, eq=False)
class Fit:
    """The curve of one tyre.

    Attributes:
        at: the slip (over that of the peak) in the middle of the polynomial's range.
        coefficients: (COEFFICIENTS,), of the powers 0, 1, 2, ... of w.
        error: largest difference from the exact curve, whose peak is 1.
    """

    at: float
    coefficients: Array
    error: float

    def curve(self, slip: Array) -> Array:
        """Return the fitted curve at slips (n,) >= 0."""
        part = 1.0 / (slip + self.at)
        value: Array = slip * part * np.polynomial.polynomial.polyval(1.0 - 2.0 * self.at * part, self.coefficients)
        return value


def exact(slip: Array, b: float, c: float, e: float) -> Array:
    """Return the Magic Formula's curve at slips (n,)."""
    x = b * slip
    value: Array = np.sin(c * np.arctan(x - e * (x - np.arctan(x))))
    return value


@lru_cache(maxsize=64)
def fit(b: float, c: float, e: float) -> Fit:
    """Return the best fit of the curve with stiffness `b`, shape `c` and curvature `e`."""
    fits = [_fit(b, c, e, at) for at in CANDIDATES]
    return min(fits, key=lambda one: one.error)


def _fit(b: float, c: float, e: float, at: float) -> Fit:
    def quotient(w: Array) -> Array:
        slip = at * (1.0 + w) / np.maximum(1.0 - w, 1e-12)
        return 2.0 * exact(slip, b, c, e) / (1.0 + w)  # curve / (s * part): s * part = (1 + w) / 2

    series = Chebyshev.interpolate(quotient, COEFFICIENTS - 1)
    result = Fit(at, np.asarray(series.convert(kind=Polynomial).coef, np.float64), 0.0)
    slips = np.concatenate([np.linspace(0.0, 4.0, 801)[1:], np.geomspace(4.0, 1e4, 400)])
    return Fit(at, result.coefficients, float(np.abs(result.curve(slips) - exact(slips, b, c, e)).max()))
