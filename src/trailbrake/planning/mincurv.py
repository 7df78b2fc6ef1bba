"""Minimum-curvature offsets from a centreline: successive box-bounded quadratic programmes.

Method: Heilmeier et al., "Minimum curvature trajectory planning and control for an autonomous race car",
Vehicle System Dynamics 58 (2020), with the curvature linearised about the newest path instead of about the
centreline, and solved by our own banded interior point method.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trailbrake.planning.boxqp import box_qp

Array = NDArray[np.float64]

ROUNDS = 12  # linearisations at most
SETTLED = 0.02  # m, the largest change of an offset at which to stop
REGULARISATION = 1e-8  # pulls to the centreline where nothing else decides (long straights, open ends)


@dataclass(frozen=True, eq=False)
class _Path:
    """A polyline and its discrete curvature. Segment i goes from point i to point i + 1, cyclic; all (n,)."""

    ux: Array  # unit vectors of the segments
    uy: Array
    length: Array  # m, of the segments
    turn: Array  # rad, change of heading at the points; 0 at the ends of an open path
    share: Array  # m, of path that belongs to each point: half of each neighbouring segment

    @classmethod
    def through(cls, x: Array, y: Array, closed: bool) -> "_Path":
        dx, dy = np.roll(x, -1) - x, np.roll(y, -1) - y
        length = np.hypot(dx, dy)
        ux, uy = dx / length, dy / length
        bx, by = np.roll(ux, 1), np.roll(uy, 1)
        turn = np.arctan2(bx * uy - by * ux, bx * ux + by * uy)
        if not closed:
            turn[[0, -1]] = 0.0
        return cls(ux, uy, length, turn, 0.5 * (length + np.roll(length, 1)))

    def cost(self, length_weight: float) -> float:
        """The integral of squared curvature, 1/m, and `length_weight` (1/m^2) times the length."""
        return float(np.sum(self.turn**2 / self.share) + length_weight * np.sum(self.length))


def _linearise(
    path: _Path, nx: Array, ny: Array, offset: Array, closed: bool, length_weight: float
) -> tuple[tuple[Array, Array, Array], Array]:
    """Return the Gauss-Newton matrix (d0, d1, d2) and linear term of the cost about `offset`.

    The residual of a point is turn / sqrt(share). Both change: a segment turns by what its ends move sideways and
    grows by what they move along it. Leaving out the growth, as is often done, pulls every hairpin to its inside.
    """
    after_x, after_y = np.roll(nx, -1), np.roll(ny, -1)
    # Sideways and lengthwise movement of a segment's start and end, per metre of their offsets.
    side_start, side_end = path.ux * ny - path.uy * nx, path.ux * after_y - path.uy * after_x
    grow_start, grow_end = path.ux * nx + path.uy * ny, path.ux * after_x + path.uy * after_y
    side_start, side_end = side_start / path.length, side_end / path.length
    before = [np.roll(a, 1) for a in (side_start, side_end, grow_start, grow_end)]
    root = np.sqrt(path.share)
    shrink = 0.25 * path.turn / (root * path.share)
    r0 = before[0] / root + shrink * before[2]
    r1 = -(side_start + before[1]) / root - shrink * (before[3] - grow_start)
    r2 = side_end / root - shrink * grow_end
    if not closed:
        for r in (r0, r1, r2):
            r[[0, -1]] = 0.0
    constant = path.turn / root - (r0 * np.roll(offset, 1) + r1 * offset + r2 * np.roll(offset, -1))
    d0 = REGULARISATION + np.roll(r0 * r0, -1) + r1 * r1 + np.roll(r2 * r2, 1)
    d1 = np.roll(r0 * r1, -1) + r1 * r2
    d2 = np.roll(r0 * r2, -1)
    linear = np.roll(r0 * constant, -1) + r1 * constant + np.roll(r2 * constant, 1)
    if length_weight:
        # The length to second order: its ends' growth, and length / 2 times the square of how the segment turns.
        half = 0.5 * length_weight * path.length
        now = np.roll(offset, -1) * side_end - offset * side_start
        if not closed:
            half[-1] = 0.0
        d0 += half * side_start**2 + np.roll(half * side_end**2, 1)
        d1 -= half * side_start * side_end
        push_start = -0.5 * length_weight * grow_start * (half > 0.0) + half * side_start * now
        push_end = 0.5 * length_weight * grow_end * (half > 0.0) - half * side_end * now
        linear += push_start + np.roll(push_end, 1)
    return (d0, d1, d2), linear


def minimum_curvature(
    x: Array, y: Array, nx: Array, ny: Array, lower: Array, upper: Array, closed: bool, length_weight: float = 0.0
) -> Array:
    """Find the offsets along the normals that minimise the integral of squared curvature, and some of the length.

    Args:
        x: (n,) centreline, m, near-uniform spacing; with y.
        y: (n,) see x.
        nx: (n,) unit normals to the left; with ny.
        ny: (n,) see nx.
        lower: (n,) smallest offset allowed, m (negative = right).
        upper: (n,) largest offset allowed, m; lower < upper.
        closed: whether the last point is followed by the first.
        length_weight: 1/m^2, what a metre of length costs; 0 = curvature alone, which takes hairpins very wide.

    Returns:
        (n,) offsets in m, positive left.
    """
    offset = np.clip(np.zeros_like(x), lower, upper)
    path = _Path.through(x + offset * nx, y + offset * ny, closed)
    for _ in range(ROUNDS):
        matrix, linear = _linearise(path, nx, ny, offset, closed, length_weight)
        target = box_qp(matrix, linear, lower, upper, offset, 1e-7)
        for step in (1.0, 0.5, 0.25, 0.125):  # the model is local: shorten the step until the true cost falls
            trial = offset + step * (target - offset)
            tried = _Path.through(x + trial * nx, y + trial * ny, closed)
            if tried.cost(length_weight) < path.cost(length_weight):
                break
        else:
            break
        moved = float(np.max(np.abs(trial - offset)))
        offset, path = trial, tried
        if moved < SETTLED:
            break
    return offset
