"""Cubic splines through points in the plane, closed or open (de Boor, A Practical Guide to Splines, 1978)."""

from typing import NamedTuple

import numpy as np

from trailbrake.arrays import Array
from trailbrake.planning.quadratic_program import CyclicMatrix, solve_cyclic


def second_derivatives(t: Array, values: Array, closed: bool) -> Array:
    """Return the (n,) second derivatives of the cubic spline through values (n,) at rising parameters t.

    Args:
        t: (n + 1,) for a closed spline, where t[n] is the parameter of the first point again; (n,) for an open one.
        values: (n,).
        closed: periodic, else natural (second derivative 0 at the ends).
    """
    n = len(values)
    if closed:
        step = np.diff(t)
        slope = (np.roll(values, -1) - values) / step
        before = np.roll(step, 1)
        diagonal, off = (before + step) / 3.0, step / 6.0
        rhs = slope - np.roll(slope, 1)
    else:
        step = np.append(np.diff(t), 0.0)
        slope = np.append(np.diff(values) / step[:-1], 0.0)
        before = np.roll(step, 1)
        diagonal, off = (before + step) / 3.0, step / 6.0
        rhs = slope - np.roll(slope, 1)
        # Natural ends: decouple the first and last unknowns and hold them at 0.
        diagonal[[0, -1]] = 1.0
        rhs[[0, -1]] = 0.0
        off[[0, -2, -1]] = 0.0
    return np.asarray(solve_cyclic(CyclicMatrix(diagonal, off, np.zeros(n)), rhs))


def resample_path(x: Array, y: Array, closed: bool, spacing: float) -> tuple[Array, Array, Array, Array, float]:
    """Resample the path through (x, y) at uniform arc length.

    Args:
        x: (n,) m.
        y: (n,) m.
        closed: whether the last point is followed by the first.
        spacing: m, approximate: the exact one divides the length.

    Returns:
        x, y, yaw (rad, unwrapped), curvature (1/m), each (m,), and the exact spacing (m).
    """
    ring_x, ring_y = (np.append(x, x[0]), np.append(y, y[0])) if closed else (x, y)
    t = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(ring_x), np.diff(ring_y)))])
    mx, my = second_derivatives(t, x, closed), second_derivatives(t, y, closed)
    if closed:
        mx, my = np.append(mx, mx[0]), np.append(my, my[0])
    # Arc length of the spline on a fine grid of its chord-length parameter, then inverted by interpolation.
    fine = np.linspace(0.0, t[-1], 8 * len(t))
    spline = _PlaneSpline(t, ring_x, ring_y, mx, my)
    _, _, dx, dy, _, _ = _evaluate_spline(spline, fine)
    speed = np.hypot(dx, dy)
    arc = np.concatenate([[0.0], np.cumsum(0.5 * (speed[1:] + speed[:-1]) * np.diff(fine))])
    count = max(round(arc[-1] / spacing), 8)
    exact = arc[-1] / count
    stations = np.arange(count if closed else count + 1) * exact
    at = np.interp(stations, arc, fine)
    px, py, dx, dy, ddx, ddy = _evaluate_spline(spline, at)
    curvature = (dx * ddy - dy * ddx) / np.hypot(dx, dy) ** 3
    return px, py, np.unwrap(np.arctan2(dy, dx)), curvature, float(exact)


class _PlaneSpline(NamedTuple):
    """A spline through points (x, y), m, at parameters t; mx and my are the second derivatives. All (n,)."""

    t: Array
    x: Array
    y: Array
    mx: Array
    my: Array


def _evaluate_spline(spline: _PlaneSpline, at: Array) -> tuple[Array, ...]:
    """Return x, y and their first and second derivatives at the parameters `at`."""
    t = spline.t
    i = np.clip(np.searchsorted(t, at, side="right") - 1, 0, len(t) - 2)
    h = t[i + 1] - t[i]
    b = (at - t[i]) / h
    a = 1.0 - b
    out: list[Array] = []
    for value, m in ((spline.x, spline.mx), (spline.y, spline.my)):
        place = a * value[i] + b * value[i + 1] + ((a**3 - a) * m[i] + (b**3 - b) * m[i + 1]) * h * h / 6.0
        first = (value[i + 1] - value[i]) / h + ((1.0 - 3.0 * a * a) * m[i] + (3.0 * b * b - 1.0) * m[i + 1]) * h / 6.0
        out += [place, first, a * m[i] + b * m[i + 1]]
    return out[0], out[3], out[1], out[4], out[2], out[5]
