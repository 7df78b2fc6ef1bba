"""Minimum-curvature offsets from a centreline: successive box-bounded quadratic programmes.

Method: Heilmeier et al., "Minimum curvature trajectory planning and control for an autonomous race car",
Vehicle System Dynamics 58 (2020), with the curvature linearised about the newest path instead of about the
centreline, and solved by the banded interior point method of `quadratic_program.py`.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trailbrake.planning.quadratic_program import Bounds, CyclicMatrix, solve_box_qp

Array = NDArray[np.float64]

MAX_ITERATIONS = 12  # linearisations at most
OFFSET_TOLERANCE = 0.02  # m, the largest change of an offset at which to stop
REGULARISATION = 1e-8  # pulls to the centreline where nothing else decides (long straights, open ends)


class Centreline(NamedTuple):
    """Points of a centreline at nearly uniform spacing, with unit normals to the left; (n,) each.

    Attributes:
        x, y: m.
        nx, ny: unit normals.
        closed: whether the last point is followed by the first.
    """

    x: Array
    y: Array
    nx: Array
    ny: Array
    closed: bool


@dataclass(frozen=True, eq=False)
class _DiscretePath:
    """A polyline and its discrete curvature. Segment i goes from point i to point i + 1, cyclic; all (n,)."""

    ux: Array  # unit vectors of the segments
    uy: Array
    length: Array  # m, of the segments
    turn: Array  # rad, change of heading at the points; 0 at the ends of an open path
    share: Array  # m, of path that belongs to each point: half of each neighbouring segment

    @classmethod
    def from_points(cls, x: Array, y: Array, closed: bool) -> "_DiscretePath":
        dx, dy = np.roll(x, -1) - x, np.roll(y, -1) - y
        length = np.hypot(dx, dy)
        ux, uy = dx / length, dy / length
        bx, by = np.roll(ux, 1), np.roll(uy, 1)
        turn = np.arctan2(bx * uy - by * ux, bx * ux + by * uy)
        if not closed:
            turn[[0, -1]] = 0.0
        return cls(ux, uy, length, turn, 0.5 * (length + np.roll(length, 1)))

    def bending_cost(self, length_weight: float) -> float:
        """The integral of squared curvature, 1/m, and `length_weight` (1/m^2) times the length."""
        return float(np.sum(self.turn**2 / self.share) + length_weight * np.sum(self.length))


def _linearise_cost(
    path: _DiscretePath, centre: Centreline, offset: Array, length_weight: float
) -> tuple[CyclicMatrix, Array]:
    """Return the Gauss-Newton matrix and linear term of the cost about `offset`.

    The residual of a point is turn / sqrt(share). Both change: a segment turns with the sideways movement of its ends
    and grows with their lengthwise movement. Without the growth, often omitted, every hairpin is pulled to its inside.
    """
    nx, ny, closed = centre.nx, centre.ny, centre.closed
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
    return CyclicMatrix(d0, d1, d2), linear


def minimise_curvature(centre: Centreline, bounds: Bounds, length_weight: float = 0.0) -> Array:
    """Return the offsets (n,), m, positive left, that minimise the integral of squared curvature.

    Args:
        centre: the points and normals along which the offsets go.
        bounds: m, smallest and largest offset.
        length_weight: 1/m^2, cost of a metre of length; 0 = curvature alone, which takes hairpins very wide.
    """
    x, y, nx, ny, closed = centre
    offset = np.clip(np.zeros_like(x), bounds.lower, bounds.upper)
    path = _DiscretePath.from_points(x + offset * nx, y + offset * ny, closed)
    for _ in range(MAX_ITERATIONS):
        matrix, linear = _linearise_cost(path, centre, offset, length_weight)
        target = solve_box_qp(matrix, linear, bounds, offset, 1e-7)
        for step in (1.0, 0.5, 0.25, 0.125):  # the model is local: shorten the step until the true cost falls
            trial = offset + step * (target - offset)
            tried = _DiscretePath.from_points(x + trial * nx, y + trial * ny, closed)
            if tried.bending_cost(length_weight) < path.bending_cost(length_weight):
                break
        else:
            break
        moved = float(np.max(np.abs(trial - offset)))
        offset, path = trial, tried
        if moved < OFFSET_TOLERANCE:
            break
    return offset
