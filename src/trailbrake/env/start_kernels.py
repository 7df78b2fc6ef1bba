"""Kernels that make start places out of random numbers, for the processor's batches and those of graphics cards."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trailbrake.kernels import exact_inline_jit, jit
from trailbrake.observe.features import Feature
from trailbrake.tracks.frenet import RoadTable, surface_point

Array = NDArray[np.float64]

CANDIDATES = 8  # places to choose the one from that is farthest from the other cars


class StartRoom(NamedTuple):
    """Where cars may start on a road.

    Attributes:
        free: (rows,) m, greatest distance from the centreline at each row of the road.
        fastest: (rows,) m/s, greatest speed.
        offset: share of the free distance that starts use.
        heading: rad, greatest angle to the road.
    """

    free: Array
    fastest: Array
    offset: float
    heading: float


@exact_inline_jit
def place_start(
    road: RoadTable, room: StartRoom, s: float, draws: tuple[float, float, float]
) -> tuple[float, float, float, float]:
    """Return x, y (m, world), yaw (rad, within a half turn) and speed (m/s) of a start.

    Args:
        road: the road.
        room: on that road.
        s: m along the centreline.
        draws: shares of the greatest offset and of the greatest heading, -1 .. 1; speed (m/s) where the road allows it.
    """
    n = room.free.shape[0]
    row = int(np.floor(s / road.spacing))
    row = row % n if road.closed else min(max(row, 0), n - 1)
    x, y, _, yaw = surface_point(road, s, room.offset * room.free[row] * draws[0])
    yaw += room.heading * draws[1]
    yaw -= 2.0 * math.pi * math.floor(yaw / (2.0 * math.pi) + 0.5)
    return x, y, yaw, min(draws[2], room.fastest[row])


@jit
def place_starts(road: RoadTable, room: StartRoom, s: Array, draws: Array, out: Array) -> None:
    """Write `place_start` at each of `s` (k,) with the lines of `draws` (k, 3) into `out` (k, 4)."""
    for k in range(s.shape[0]):
        place = place_start(road, room, s[k], (draws[k, 0], draws[k, 1], draws[k, 2]))
        out[k, 0], out[k, 1], out[k, 2], out[k, 3] = place


@jit
def find_gap(features: Array, car: int, group_size: int, x: float, y: float) -> float:
    """Return the distance (m) from (x, y) to the nearest other car of the world of `car`, of two cars at least."""
    begin = car // group_size * group_size
    least = math.inf
    for other in range(begin, begin + group_size):
        if other != car:
            dx, dy = x - features[Feature.X, other], y - features[Feature.Y, other]
            least = min(least, dx * dx + dy * dy)
    return math.sqrt(least)
