"""Where kerbs lie: a rule from the road's curvature, the same for the library, files and generated circuits.

A bend is a stretch that turns one way with a radius below `MAX_RADIUS` all along and by `MIN_TURN` in all. It gets

* an apex kerb on its inner side, where its curvature is at least `APEX_SHARE` of its tightest;
* an exit kerb on its outer side, from where the apex kerb ends to some way behind the bend: `EXIT_PER_RADIUS` of its
  tightest radius, between `EXIT_SHORTEST` and `EXIT_LONGEST`.

Kerbs are `WIDTH` wide, never wider than the run-off, and narrow to nothing at either end. Open roads have none.
"""

import itertools
import math

import numpy as np

from trailbrake.tracks.columns import Column
from trailbrake.tracks.geometry import Array, blend
from trailbrake.tracks.road import Road

WIDTH = 1.2  # m; circuits have 1 to 2 m (estimate)
MAX_RADIUS = 250.0  # m; wider bends are driven as straights
MIN_TURN = math.radians(15.0)
APEX_SHARE = 0.6
EXIT_PER_RADIUS = 0.5
EXIT_SHORTEST = 12.0  # m
EXIT_LONGEST = 40.0  # m
TAPER = 8.0  # m over which an end narrows


def bends(curvature: Array, spacing: float) -> list[tuple[int, int]]:
    """Return the bends of a closed road as rows first..last, last >= n where a bend crosses the start line.

    Args:
        curvature: (n,) 1/m, positive left.
        spacing: m between rows.
    """
    n = len(curvature)
    side = np.where(np.abs(curvature) > 1.0 / MAX_RADIUS, np.sign(curvature), 0.0)
    start = int(np.abs(curvature).argmin())
    side = np.roll(side, -start)
    changes = np.flatnonzero(np.diff(side)) + 1
    edges = [0, *changes.tolist(), n]
    found = []
    for first, end in itertools.pairwise(edges):
        turned = abs(np.roll(curvature, -start)[first:end].sum()) * spacing
        if side[first] != 0.0 and turned >= MIN_TURN:
            found.append(((first + start) % n, (first + start) % n + end - first - 1))
    return found


def kerbs(road: Road) -> tuple[Array, Array]:
    """Return the width (n,) of the kerb beyond the left and beyond the right edge of `road`, m, 0 where none is."""
    n = len(road.table)
    left, right = np.zeros(n), np.zeros(n)
    if not road.closed:
        return left, right
    curvature = road.column(Column.CURVATURE)
    for first, last in bends(curvature, road.spacing):
        rows = np.arange(first, last + 1) % n
        inner, outer = (left, right) if curvature[rows[0]] > 0.0 else (right, left)
        sharp = np.abs(curvature[rows])
        near = np.flatnonzero(sharp >= APEX_SHARE * sharp.max())
        inner[rows[near[0] : near[-1] + 1]] = WIDTH
        way = min(max(EXIT_PER_RADIUS / sharp.max(), EXIT_SHORTEST), EXIT_LONGEST)
        outer[np.arange(first + near[-1], last + 1 + round(way / road.spacing)) % n] = WIDTH
    return (
        np.minimum(blend(left, TAPER, road.spacing, True), road.column(Column.RUNOFF_LEFT)),
        np.minimum(blend(right, TAPER, road.spacing, True), road.column(Column.RUNOFF_RIGHT)),
    )


def add_kerbs(road: Road) -> Road:
    """Write `kerbs(road)` into the road's own table and return the road. For roads that are just being made."""
    left, right = kerbs(road)
    road.table[:, Column.KERB_LEFT], road.table[:, Column.KERB_RIGHT] = left, right
    return road
