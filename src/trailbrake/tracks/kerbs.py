"""Kerbs: where they lie, by a rule from the road's curvature, and their profile.

The rule is the same for the library, files and generated circuits. A bend is a stretch that turns one way with a
radius below `MAX_RADIUS` all along and by `MIN_TURN` in all. It gets

* an apex kerb on its inner side, where its curvature is at least `APEX_SHARE` of its largest;
* an exit kerb on its outer side, from the end of the apex kerb to a point behind the bend: `EXIT_PER_RADIUS` of its
  smallest radius further on, between `EXIT_SHORTEST` and `EXIT_LONGEST`.

Kerbs are `KERB_WIDTH` wide, never wider than the run-off, and narrow to nothing at either end. Open roads have none.

The profile across a kerb rises by a smooth step from the road's edge to `KERB_HEIGHT` over the first part of its width,
and falls by another to the ground over the rest, so that a wheel meets no step from either side. Sinusoidal teeth along
the road are added. Where a kerb narrows at its ends, it is lower in proportion.

Kerbs are not part of the track, as in motor sport (FIA International Sporting Code, appendix L, chapter IV: the white
lines are part of the track, the kerbs are not). A wheel on a kerb is off the track; but a lap counts while two wheels
are on the track (`laps`), so that two wheels on a kerb cost nothing.
"""

import itertools
import math

import numpy as np

from trailbrake.arrays import Array
from trailbrake.kernels import inline_jit
from trailbrake.kernels.maths import cos_turns
from trailbrake.tracks.geometry import cosine_average
from trailbrake.tracks.road import Road
from trailbrake.tracks.road_columns import RoadColumn

KERB_WIDTH = 1.2  # m; circuits have 1 to 2 m (estimate)
MAX_RADIUS = 250.0  # m; wider bends are driven as straights
MIN_TURN = math.radians(15.0)
APEX_SHARE = 0.6
EXIT_PER_RADIUS = 0.5
EXIT_SHORTEST = 12.0  # m
EXIT_LONGEST = 40.0  # m
TAPER = 8.0  # m over which an end narrows
KERB_HEIGHT = 0.04  # m; circuits have 25 to 50 mm (FIA's circuit guidelines; the shape is an estimate)
KERB_RISE = 0.65  # share of the width over which a kerb rises; it falls over the rest
KERB_TEETH = 0.006  # m from the foot to the top of a tooth (estimate)
KERB_PITCH = 0.6  # m along the road from one tooth to the next (estimate)


def find_bends(curvature: Array, spacing: float) -> list[tuple[int, int]]:
    """Return the bends of a closed road as pairs of rows (first, last); last >= n where a bend crosses the start line.

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


def kerb_widths(road: Road) -> tuple[Array, Array]:
    """Return the width (m) of the kerb beyond the left and beyond the right edge of `road`, (n,) each, 0 for none."""
    n = len(road.table)
    left, right = np.zeros(n), np.zeros(n)
    if not road.closed:
        return left, right
    curvature = road.column(RoadColumn.CURVATURE)
    for first, last in find_bends(curvature, road.spacing):
        rows = np.arange(first, last + 1) % n
        inner, outer = (left, right) if curvature[rows[0]] > 0.0 else (right, left)
        sharp = np.abs(curvature[rows])
        near = np.flatnonzero(sharp >= APEX_SHARE * sharp.max())
        inner[rows[near[0] : near[-1] + 1]] = KERB_WIDTH
        way = min(max(EXIT_PER_RADIUS / sharp.max(), EXIT_SHORTEST), EXIT_LONGEST)
        outer[np.arange(first + near[-1], last + 1 + round(way / road.spacing)) % n] = KERB_WIDTH
    return (
        np.minimum(cosine_average(left, TAPER, road.spacing, True), road.column(RoadColumn.RUNOFF_LEFT)),
        np.minimum(cosine_average(right, TAPER, road.spacing, True), road.column(RoadColumn.RUNOFF_RIGHT)),
    )


def add_kerbs(road: Road) -> Road:
    """Write `kerb_widths(road)` into the road's own table and return the road. For roads under construction."""
    left, right = kerb_widths(road)
    road.table[:, RoadColumn.KERB_LEFT], road.table[:, RoadColumn.KERB_RIGHT] = left, right
    return road


@inline_jit
def kerb_profile(s: float, across: float, width: float) -> float:
    """Return the height (m) of a kerb above the road's plane, continuous with its slope in both directions.

    Args:
        s: m along the road; gives the teeth.
        across: m outward from the road's edge, 0 .. width.
        width: m, of the kerb there, > 0.
    """
    w = across / width
    rise = min(w * (1.0 / KERB_RISE), (1.0 - w) * (1.0 / (1.0 - KERB_RISE)))
    rise = max(rise, 0.0)
    body = rise * rise * (3.0 - 2.0 * rise) * min(width * (1.0 / KERB_WIDTH), 1.0)
    cosine = cos_turns(s * (1.0 / KERB_PITCH))
    return body * (KERB_HEIGHT - KERB_TEETH + KERB_TEETH * (0.5 - 0.5 * cosine))
