"""Random circuits from a seed: corners at random places, joined by the shortest loop, rounded like roads.

The shortest loop through random places never crosses itself. Its corners get radii that suit their angle, wide for
kinks and tight for hairpins; long straights may get a chicane; the rest is straights. That list of straights and arcs
goes through the builder of the library's files (`road_builder.py`), which adds clothoids, heights and banking. Drafts
that do not fit (corners or stretches too close to each other) are discarded, and the next is drawn.

The only random numbers are those of `Generator.random` of NumPy's PCG64, whose stream is fixed. So a seed is the same
circuit everywhere: to the bit on one machine, and to rounding where the mathematical library differs.
"""

import math

import numpy as np

from trailbrake.arrays import Array
from trailbrake.errors import DataError, UsageError
from trailbrake.tracks.clearance import cut_runoff
from trailbrake.tracks.layout import LayoutSegment, TrackLayout
from trailbrake.tracks.road import Road
from trailbrake.tracks.road_builder import build_road
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track import SURFACES, Track

LENGTH_RANGE = (1500.0, 5200.0)  # m
WIDTH_RANGE = (10.0, 14.5)  # m
RUNOFF = 10.0  # m, where there is room
MIN_RUNOFF = 2.0  # m between edge and wall
MIN_STRAIGHT = 18.0  # m of a straight between two corners
MAX_GRADE = 0.06
_DRAFTS = 400
_CORNER = 235.0  # m of road per corner of the shortest loop
_SHARPEST = math.radians(158.0)  # turn of a corner
_SLIGHTEST = math.radians(9.0)  # less is straightened
_SWEEPERS = 0.35  # share of corners that use most of the room between their neighbours
_WIDEST = 350.0  # m
# Radii by angle: up to this many degrees, between these radii in m.
_RADII = ((25.0, 90.0, 320.0), (50.0, 45.0, 200.0), (85.0, 22.0, 120.0), (125.0, 14.0, 70.0), (180.0, 11.0, 32.0))


class _MisfitError(Exception):
    # A draft that makes no circuit.
    pass


def smallest_radius(width: float) -> float:
    """Return the smallest radius (m, of the centreline) for a road `width` (m) wide: 6.5 m at its inner edge."""
    return 0.5 * width + 6.5


def _random_between(rng: np.random.Generator, lo: float, hi: float) -> float:
    return lo + (hi - lo) * float(rng.random())


def _random_places(rng: np.random.Generator, count: int) -> Array:
    # `count` places (count, 2) in a unit area of random proportions, no two near each other.
    aspect = _random_between(rng, 1.0, 2.3)
    size = np.array([math.sqrt(aspect), 1.0 / math.sqrt(aspect)])
    apart = _random_between(rng, 0.5, 0.8) / math.sqrt(count)
    found = np.empty((count, 2))
    have = 0
    for _ in range(60 * count):
        place = rng.random(2) * size
        if have == 0 or np.hypot(*(found[:have] - place).T).min() > apart:
            found[have] = place
            have += 1
            if have == count:
                return found
    raise _MisfitError


def _shortest_loop(places: Array) -> Array:
    # The places in the order of a loop that no exchange of two of its edges makes shorter (2-opt: G. A. Croes, A method
    # for solving traveling-salesman problems, Operations Research 6, 1958), so that it does not cross itself.
    n = len(places)
    gap = np.hypot(places[:, None, 0] - places[None, :, 0], places[:, None, 1] - places[None, :, 1]).tolist()
    order = list(range(n))
    better = True
    while better:
        better = False
        for i in range(n - 1):
            for j in range(i + 2, n - (i == 0)):
                a, b, c, d = order[i], order[i + 1], order[j], order[(j + 1) % n]
                if gap[a][c] + gap[b][d] < gap[a][b] + gap[c][d] - 1e-12:
                    order[i + 1 : j + 1] = order[i + 1 : j + 1][::-1]
                    better = True
    return places[order]


def _turn_angles(corners: Array) -> Array:
    # The turn (rad, positive left) at each corner (n, 2) of a loop.
    before, after = corners - np.roll(corners, 1, axis=0), np.roll(corners, -1, axis=0) - corners
    cross = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    turn: Array = np.arctan2(cross, (before * after).sum(axis=1))
    return turn


def _insert_chicanes(rng: np.random.Generator, corners: Array, width: float) -> Array:
    # Some long edges get two more corners, which shift the road sideways.
    rows: list[Array] = []
    for here, there in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        rows.append(here)
        length = float(np.hypot(*(there - here)))
        wanted, share, turn = (
            rng.random() < 0.3,
            _random_between(rng, 0.35, 0.65),
            math.radians(_random_between(rng, 35.0, 60.0)),
        )
        side = 1.0 if rng.random() < 0.5 else -1.0
        if length < 330.0 or not wanted:
            continue
        along = (there - here) / length
        across = side * np.array([-along[1], along[0]])
        radius = smallest_radius(width) * _random_between(rng, 1.2, 2.2)
        slant = 2.0 * radius * math.tan(0.5 * turn) + MIN_STRAIGHT + 4.0
        first = here + share * length * along
        rows += [first, first + slant * (math.cos(turn) * along + math.sin(turn) * across)]
    return np.array(rows)


def _corner_radii(rng: np.random.Generator, corners: Array, angles: Array, width: float) -> Array:
    # A radius (n,) for each corner that leaves SHORTEST of every edge.
    least = smallest_radius(width)
    half = np.tan(0.5 * np.abs(angles))
    radius = np.empty(len(angles))
    edge = np.hypot(*(np.roll(corners, -1, axis=0) - corners).T) - MIN_STRAIGHT
    widest = 0.5 * np.minimum(edge, np.roll(edge, 1)) / half
    for k, angle in enumerate(np.degrees(np.abs(angles))):
        _, lo, hi = next(row for row in _RADII if angle <= row[0])
        usual, sweeping, share = lo * (hi / lo) ** float(rng.random()), rng.random() < _SWEEPERS, rng.random()
        radius[k] = max(least, min((0.5 + 0.5 * share) * widest[k], _WIDEST) if sweeping else usual)
    if (least * (half + np.roll(half, -1)) > edge).any():
        raise _MisfitError
    for _ in range(50):  # shrink the pair at every edge that is too short
        used = radius * half
        over = used + np.roll(used, -1) - edge
        if over.max() <= 1e-6:
            return radius
        k = int(over.argmax())
        j = (k + 1) % len(radius)
        spare_k, spare_j = used[k] - least * half[k], used[j] - least * half[j]
        give = over[k] / (spare_k + spare_j)
        radius[k] -= give * spare_k / half[k]
        radius[j] -= give * spare_j / half[j]
    raise _MisfitError


def _draft_corners(rng: np.random.Generator, length: float, count: int, width: float) -> tuple[Array, Array, Array]:
    # Corners (n, 2) in m with their angles and radii.
    corners = _shortest_loop(_random_places(rng, count))
    if rng.random() < 0.5:
        corners = corners[::-1]
    corners = corners * (length / np.hypot(*(np.roll(corners, -1, axis=0) - corners).T).sum())
    corners = _insert_chicanes(rng, corners, width)
    angles = _turn_angles(corners)
    slight = np.abs(angles) < _SLIGHTEST
    corners = corners[~slight]
    angles = _turn_angles(corners)
    if np.abs(angles).max() > _SHARPEST or np.abs(angles).min() < 0.5 * _SLIGHTEST:
        raise _MisfitError
    radii = _corner_radii(rng, corners, angles, width)
    # Rounding has cut the corners: scale them so that the loop has the requested length.
    cut = float((radii * (2.0 * np.tan(0.5 * np.abs(angles)) - np.abs(angles))).sum())
    way = float(np.hypot(*(np.roll(corners, -1, axis=0) - corners).T).sum())
    return corners * max((length + cut) / way, 1.0), angles, radii


def _draft_layout(rng: np.random.Generator, draft: tuple[Array, Array, Array], width: float, name: str) -> TrackLayout:
    corners, angles, radii = draft
    used = radii * np.tan(0.5 * np.abs(angles))
    edge = np.hypot(*(np.roll(corners, -1, axis=0) - corners).T)
    straight = edge - used - np.roll(used, -1)
    start = int(straight.argmax())
    order = (np.arange(len(corners)) + start + 1) % len(corners)
    height = _corner_heights(rng, corners)
    bank = math.radians(3.0) * rng.random(len(corners)) * (rng.random(len(corners)) < 0.6)
    behind = straight[start] * _random_between(rng, 0.35, 0.6)  # m of the start straight before the line

    def piece(length: float, turn: float, z: float | None, bank: float) -> LayoutSegment:
        return LayoutSegment(length, turn, turn == 0.0, None, width, bank, z, 1.0, name)

    z_line = float(height[start] + (height[order[0]] - height[start]) * (behind / straight[start]))
    pieces = [piece(float(straight[start]) - behind, 0.0, None, 0.0)]
    for k in order:
        turn = float(angles[k])
        pieces.append(piece(float(radii[k]) * abs(turn), turn, float(height[k]), -math.copysign(float(bank[k]), turn)))
        last = k == order[-1]
        pieces.append(piece(behind if last else float(straight[k]), 0.0, None, 0.0))
    way = corners[order[0]] - corners[start]
    return TrackLayout(
        title=name, text="", closed=True, runoff=RUNOFF, off_road="grass", kerbs=True, spacing=1.5, z=z_line,
        start=(0.0, 0.0, math.atan2(way[1], way[0])), segments=pieces,
    )  # fmt: skip


def _corner_heights(rng: np.random.Generator, corners: Array) -> Array:
    # Heights (n,) m of the corners: a few long waves over the ground, scaled so that no edge is too steep.
    middle = corners - corners.mean(axis=0)
    size = float(np.hypot(*middle.T).max())
    height = np.zeros(len(corners))
    for waves in (0.5, 0.8, 1.2):
        heading, phase, share = rng.random(3) * (2.0 * math.pi, 2.0 * math.pi, 1.0)
        along = middle @ np.array([math.cos(heading), math.sin(heading)])
        height += share / waves * np.sin(math.pi * waves * along / size + phase)
    steepest = np.abs(np.roll(height, -1) - height) / np.hypot(*(np.roll(corners, -1, axis=0) - corners).T)
    grade = MAX_GRADE * _random_between(rng, 0.2, 0.6)  # from corner to corner; steeper in places
    return height * (grade / max(float(steepest.max()), 1e-9))


def _limit_grade(road: Road, steepest: float) -> None:
    # Scale the heights in the road's own table so that no grade is above `steepest`.
    found = float(np.abs(road.column(RoadColumn.GRADE)).max())
    if found > steepest:
        road.table[:, [int(RoadColumn.Z), int(RoadColumn.GRADE)]] *= steepest / found


def generate_circuit(seed: int) -> Track:
    """Return a random circuit.

    Args:
        seed: 0 or more; the same seed makes the same track.

    Returns:
        A closed track named `gen:SEED` that does not cross itself: walls of different stretches keep clear of each
        other, curvature is continuous, no radius is below `smallest_radius(width)`.

    Raises:
        UsageError: a seed that makes no circuit.
    """
    name = f"gen:{seed}"
    if seed < 0:
        raise UsageError("no such seed", where=name, expected="a whole number, 0 or more", got=str(seed))
    rng = np.random.Generator(np.random.PCG64(seed))
    length, width = _random_between(rng, *LENGTH_RANGE), round(_random_between(rng, *WIDTH_RANGE), 1)
    density = _random_between(rng, 0.75, 1.25)
    for attempt in range(_DRAFTS):
        count = max(4, round(density * length / _CORNER) - attempt // 40)
        try:
            road = build_road(_draft_layout(rng, _draft_corners(rng, length, count, width), width, name), name)
        except (_MisfitError, DataError):
            continue
        if cut_runoff(road) >= MIN_RUNOFF:
            _limit_grade(road, MAX_GRADE)
            source = f"generated from seed {seed}: {road.length:.0f} m, {width:g} m wide"
            return Track(name, f"Circuit {seed}", (road,), source=source, off_road=SURFACES["grass"])
    raise UsageError("no circuit found", where=name, hint="take another seed")
