"""Run-off that fits: walls of different stretches of a road must not meet, nor reach beyond the centre of a bend.

Two places belong to different stretches where the distance along the road is much longer than the distance across:
more than `MIN_DETOUR` times, while within one bend of less than a full turn it is at most pi / 2 times. The ground
between two stretches is shared half and half. Inside a bend the wall stays short of the centre
(`INNER_RADIUS_SHARE` of the radius).
"""

import math

import numpy as np

from trailbrake.arrays import Array
from trailbrake.kernels import jit
from trailbrake.tracks.frenet import RoadTable
from trailbrake.tracks.geometry import cosine_average
from trailbrake.tracks.road import Road
from trailbrake.tracks.road_columns import RoadColumn

MIN_DETOUR = 1.8
INNER_RADIUS_SHARE = 0.85
RAMP = 30.0  # m along the road over which run-off changes
_EVERY = 3.0  # m along the road between compared places
_SAME = 12.0  # m along the road within which two places belong to one stretch


def _running_minimum(values: Array, half: int, closed: bool) -> Array:
    # The minimum over each value and its `half` neighbours on either side.
    padded = np.pad(values, half, mode="wrap" if closed else "edge")
    least: Array = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1).min(axis=1)
    return least


@jit
def _shared_clearance(road: RoadTable, step: int, left: Array, right: Array) -> None:
    # Write for every `step`-th row the distance (m) from the centreline to a wall on either side that leaves room for
    # the other stretches: half of the gap between the edges.
    table, spacing, closed = road
    n = table.shape[0]
    length = n * spacing
    for a in range(left.shape[0]):
        i = a * step
        half = 0.5 * (table[i, RoadColumn.WIDTH_LEFT] + table[i, RoadColumn.WIDTH_RIGHT])
        left[a] = right[a] = math.inf
        for b in range(left.shape[0]):
            j = b * step
            dx = table[j, RoadColumn.X] - table[i, RoadColumn.X]
            dy = table[j, RoadColumn.Y] - table[i, RoadColumn.Y]
            along = abs(i - j) * spacing
            if closed:
                along = min(along, length - along)
            across = math.sqrt(dx * dx + dy * dy)
            if along <= max(MIN_DETOUR * across, _SAME):
                continue
            other = 0.5 * (table[j, RoadColumn.WIDTH_LEFT] + table[j, RoadColumn.WIDTH_RIGHT])
            share = 0.5 * (across - other + half)
            if dy * table[i, RoadColumn.TANGENT_X] - dx * table[i, RoadColumn.TANGENT_Y] > 0.0:
                left[a] = min(left[a], share)
            else:
                right[a] = min(right[a], share)


def wall_clearance(road: Road) -> tuple[Array, Array]:
    """Return the largest distance (m) of a wall to the left and to the right of a road's centreline, (n,) each.

    Infinite where no other stretch is near. Less than the road's own width where not even the road has room.
    """
    n = len(road.table)
    step = max(1, round(_EVERY / road.spacing))
    coarse = np.empty((2, (n + step - 1) // step))
    _shared_clearance(road.kernel_table, step, coarse[0], coarse[1])
    sides = []
    for found, sign in zip(coarse, (1.0, -1.0), strict=True):
        bend = sign * road.column(RoadColumn.CURVATURE)
        inside = np.where(bend > 0.0, INNER_RADIUS_SHARE / np.maximum(bend, 1e-9), np.inf)
        sides.append(np.minimum(np.repeat(_running_minimum(found, 1, road.closed), step)[:n], inside))
    return sides[0], sides[1]


def cut_runoff(road: Road) -> float:
    """Cut the run-off in the road's own table to what fits, smoothly along the road. For roads under construction.

    Returns:
        The least room beyond an edge before cutting, m; negative where even the road itself does not fit.
    """
    least = np.inf
    half = max(1, round(0.5 * RAMP / road.spacing) + 1)
    for space, width, runoff in zip(
        wall_clearance(road),
        (RoadColumn.WIDTH_LEFT, RoadColumn.WIDTH_RIGHT),
        (RoadColumn.RUNOFF_LEFT, RoadColumn.RUNOFF_RIGHT),
        strict=True,
    ):
        free = space - road.column(width)
        least = min(least, float(free.min()))
        wanted = np.minimum(road.column(runoff), np.maximum(free, 0.0))
        road.table[:, runoff] = cosine_average(
            _running_minimum(wanted, half, road.closed), RAMP, road.spacing, road.closed
        )
    return least
