"""Run-off that fits: walls of different stretches of a road must not reach into each other, nor beyond a bend's centre.

Two places belong to different stretches where the way along the road is much longer than the way across: more than
`DETOUR` times, while within one bend of less than a full turn back it is at most pi / 2 times. The ground between
two stretches is shared half and half. Inside a bend the wall stays short of the centre (`INSIDE` of the radius).
"""

import math

import numpy as np

from trailbrake.kernels import jit
from trailbrake.tracks.columns import Column
from trailbrake.tracks.geometry import Array, blend
from trailbrake.tracks.road import Road

DETOUR = 1.8
INSIDE = 0.85
RAMP = 30.0  # m along the road over which run-off changes
_EVERY = 3.0  # m along the road between the places that are compared
_SAME = 12.0  # m along the road within which two places are of one stretch


def _narrowest(values: Array, half: int, closed: bool) -> Array:
    # The least of each value and its `half` neighbours on either side.
    padded = np.pad(values, half, mode="wrap" if closed else "edge")
    least: Array = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1).min(axis=1)
    return least


@jit
def _shares(table: Array, spacing: float, closed: bool, step: int, left: Array, right: Array) -> None:
    # For every `step`-th row of a road, how far its wall may stand on either side for the sake of other
    # stretches, m, into `left` and `right`: half of the gap between the edges, reckoned from this row's centreline.
    n = table.shape[0]
    length = n * spacing
    for a in range(left.shape[0]):
        i = a * step
        half = 0.5 * (table[i, Column.WIDTH_LEFT] + table[i, Column.WIDTH_RIGHT])
        left[a] = right[a] = math.inf
        for b in range(left.shape[0]):
            j = b * step
            dx = table[j, Column.X] - table[i, Column.X]
            dy = table[j, Column.Y] - table[i, Column.Y]
            along = abs(i - j) * spacing
            if closed:
                along = min(along, length - along)
            across = math.sqrt(dx * dx + dy * dy)
            if along <= max(DETOUR * across, _SAME):
                continue
            other = 0.5 * (table[j, Column.WIDTH_LEFT] + table[j, Column.WIDTH_RIGHT])
            share = 0.5 * (across - other + half)
            if dy * table[i, Column.TANGENT_X] - dx * table[i, Column.TANGENT_Y] > 0.0:
                left[a] = min(left[a], share)
            else:
                right[a] = min(right[a], share)


def room(road: Road) -> tuple[Array, Array]:
    """Return how far a wall may stand to the left and to the right of a road's centreline, m, (n,) each.

    Infinite where nothing is near. Less than the road's own width where not even the road has room.
    """
    n = len(road.table)
    step = max(1, round(_EVERY / road.spacing))
    coarse = np.empty((2, (n + step - 1) // step))
    _shares(road.table, road.spacing, road.closed, step, coarse[0], coarse[1])
    sides = []
    for found, sign in zip(coarse, (1.0, -1.0), strict=True):
        bend = sign * road.column(Column.CURVATURE)
        inside = np.where(bend > 0.0, INSIDE / np.maximum(bend, 1e-9), np.inf)
        sides.append(np.minimum(np.repeat(_narrowest(found, 1, road.closed), step)[:n], inside))
    return sides[0], sides[1]


def cut_runoff(road: Road) -> float:
    """Cut the run-off in the road's own table to what fits, smoothly along the road. For roads being made.

    Returns:
        The least room beyond an edge before cutting, m; negative where even the road itself does not fit.
    """
    least = np.inf
    half = max(1, round(0.5 * RAMP / road.spacing) + 1)
    for space, width, runoff in zip(
        room(road), (Column.WIDTH_LEFT, Column.WIDTH_RIGHT), (Column.RUNOFF_LEFT, Column.RUNOFF_RIGHT), strict=True
    ):
        free = space - road.column(width)
        least = min(least, float(free.min()))
        wanted = np.minimum(road.column(runoff), np.maximum(free, 0.0))
        road.table[:, runoff] = blend(_narrowest(wanted, half, road.closed), RAMP, road.spacing, road.closed)
    return least
