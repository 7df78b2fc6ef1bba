"""Elementary functions without branches, tables or library calls, which lane code can vectorize.

Polynomials are minimax fits (Remez/Lawson, computed for this file); the stated errors are absolute and are tested.
Arguments are scalars of either precision; constants take the argument's precision in the single-precision twin.
"""

import math

import numpy as np

from trailbrake.kernels import inline_jit

HALF_PI = 0.5 * math.pi
TWO_PI = 2.0 * math.pi


@inline_jit
def sincos_small(x: float) -> tuple[float, float]:
    """Return sin(x), cos(x) for |x| <= pi / 4, to 1e-10; at |x| <= 1 still to 4e-8."""
    u = x * x
    s = 0.008333328786058136 + u * (-0.0001983920314568358 + u * 2.717353250702298e-06)
    c = 0.04166661673917124 + u * (-0.001388661920924489 + u * 2.437992928626398e-05)
    sin = x * (0.9999999999956827 + u * (-0.166666666316356 + u * s))
    return sin, 0.9999999999525984 + u * (-0.499999996154332 + u * c)


@inline_jit
def sincos_tiny(x: float) -> tuple[float, float]:
    """Return sin(x), cos(x) for |x| <= 0.1, to 1e-7: the yaw change of a car in a substep. Taylor series."""
    u = x * x
    return x - (x * u) * (1.0 / 6.0), 1.0 - u * (0.5 - u * (1.0 / 24.0))


@inline_jit
def sincos(x: float) -> tuple[float, float]:
    """Return sin(x), cos(x) for |x| < 1e4, to 1e-10."""
    k = np.floor(x * (1.0 / HALF_PI) + 0.5)
    s, c = sincos_small(x - k * HALF_PI)
    quadrant = k - 4.0 * np.floor(0.25 * k)
    odd = quadrant == 1.0 or quadrant == 3.0
    sin = c if odd else s
    cos = s if odd else c
    return (-sin if quadrant >= 2.0 else sin), (-cos if quadrant == 1.0 or quadrant == 2.0 else cos)


@inline_jit
def cos_turns(x: float) -> float:
    """Return cos(2 pi x) for |x| < 1e4, to 5e-9: a minimax polynomial of the distance to the nearest half turn."""
    away = abs(x - np.floor(x + 0.5)) - 0.25
    u = away * away
    # sin(2 pi v) of |v| <= 1/4, odd; cos(2 pi x) = -sin(2 pi away).
    high = 81.60100406304494 + u * (-76.5497820447802 + u * 39.53670407692092)
    value: float = -away * (6.283185160088883 + u * (-41.34165503126398 + u * high))
    return value


@inline_jit
def wrap_angle(angle: float) -> float:
    """Return `angle` (rad) in [-pi, pi)."""
    result: float = angle - TWO_PI * np.floor(angle * (1.0 / TWO_PI) + 0.5)
    return result


@inline_jit
def clamp(x: float, low: float, high: float) -> float:
    """Return `x` clamped to [low, high]."""
    return min(max(x, low), high)
