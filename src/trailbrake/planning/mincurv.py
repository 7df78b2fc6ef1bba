"""Minimum-curvature offsets from a centreline: successive box-bounded quadratic programmes.

Method: Heilmeier et al., "Minimum curvature trajectory planning and control for an autonomous race car",
Vehicle System Dynamics 58 (2020), with the curvature linearised about the newest path instead of about the
centreline, and solved by our own banded interior point method.
"""

import numpy as np
from numpy.typing import NDArray

from trailbrake.planning.boxqp import box_qp

Array = NDArray[np.float64]

ROUNDS = 12  # linearisations at most
SETTLED = 0.02  # m, the largest change of an offset at which to stop
REGULARISATION = 1e-8  # pulls to the centreline where nothing else decides (long straights, open ends)


def _differences(x: Array, y: Array) -> tuple[Array, ...]:
    """Return the step lengths before and after each point, their mean, and the unit tangent, all (n,), cyclic."""
    ahead_x, ahead_y = np.roll(x, -1), np.roll(y, -1)
    behind_x, behind_y = np.roll(x, 1), np.roll(y, 1)
    after = np.hypot(ahead_x - x, ahead_y - y)
    before = np.roll(after, 1)
    tx, ty = ahead_x - behind_x, ahead_y - behind_y
    length = np.hypot(tx, ty)
    return before, after, 0.5 * (before + after), tx / length, ty / length


def path_curvature(x: Array, y: Array, closed: bool) -> tuple[Array, Array]:
    """Return (curvature (n,) 1/m, weight (n,) m) of the polyline x, y (n,); an open one has weight 0 at its ends."""
    _before, after, weight, tx, ty = _differences(x, y)
    sx, sy = (np.roll(x, -1) - x) / after, (np.roll(y, -1) - y) / after
    curvature = (tx * (sy - np.roll(sy, 1)) - ty * (sx - np.roll(sx, 1))) / weight
    if not closed:
        curvature[[0, -1]] = weight[[0, -1]] = 0.0
    return curvature, weight


def _linearise(
    x: Array, y: Array, nx: Array, ny: Array, offset: Array, closed: bool
) -> tuple[tuple[Array, Array, Array], Array]:
    """Return the matrix (d0, d1, d2) and linear term of the quadratic model of sum(curvature^2 h) about `offset`."""
    px, py = x + offset * nx, y + offset * ny
    curvature, weight = path_curvature(px, py, closed)
    before, after, mean, tx, ty = _differences(px, py)
    # How curvature i changes with the offsets of points i - 1, i and i + 1.
    r0 = (tx * np.roll(ny, 1) - ty * np.roll(nx, 1)) / (before * mean)
    r1 = -(tx * ny - ty * nx) * (1.0 / after + 1.0 / before) / mean
    r2 = (tx * np.roll(ny, -1) - ty * np.roll(nx, -1)) / (after * mean)
    constant = curvature - (r0 * np.roll(offset, 1) + r1 * offset + r2 * np.roll(offset, -1))
    w0, w1, w2 = weight * r0, weight * r1, weight * r2
    d0 = REGULARISATION + np.roll(w0 * r0, -1) + w1 * r1 + np.roll(w2 * r2, 1)
    d1 = np.roll(w0 * r1, -1) + w1 * r2
    d2 = np.roll(w0 * r2, -1)
    linear = np.roll(w0 * constant, -1) + w1 * constant + np.roll(w2 * constant, 1)
    return (d0, d1, d2), linear


def minimum_curvature(x: Array, y: Array, nx: Array, ny: Array, lower: Array, upper: Array, closed: bool) -> Array:
    """Find the offsets along the normals that minimise the integral of squared curvature.

    Args:
        x: (n,) centreline, m, near-uniform spacing; with y.
        y: (n,) see x.
        nx: (n,) unit normals to the left; with ny.
        ny: (n,) see nx.
        lower: (n,) smallest offset allowed, m (negative = right).
        upper: (n,) largest offset allowed, m; lower < upper.
        closed: whether the last point is followed by the first.

    Returns:
        (n,) offsets in m, positive left.
    """

    def cost(trial: Array) -> float:
        curvature, weight = path_curvature(x + trial * nx, y + trial * ny, closed)
        return float(np.sum(curvature**2 * weight))

    offset = np.clip(np.zeros_like(x), lower, upper)
    best = cost(offset)
    for _ in range(ROUNDS):
        matrix, linear = _linearise(x, y, nx, ny, offset, closed)
        target = box_qp(matrix, linear, lower, upper, offset, 1e-7)
        for step in (1.0, 0.5, 0.25, 0.125):  # the model is local: shorten the step until the true cost falls
            trial = offset + step * (target - offset)
            if (now := cost(trial)) < best:
                break
        else:
            break
        moved = float(np.max(np.abs(trial - offset)))
        offset, best = trial, now
        if moved < SETTLED:
            break
    return offset
