"""Files of miniature tracks: their schema, and the centre lines of the road and its two halves.

    title = "..."
    text = "one line for the list"
    start = 3.0                     # m along the first edge
    corners = [[x, y, radius], ...] # m; of the road's centre line, in driving order, not closed
    forks = [
        {edge = 4, half = "right", out = 1.5},                       # that half's edge lies further out
        {edge = 7, half = "left", out = 1.0, between = [2.0, 7.0]},  # it leaves the straight and comes back
    ]

Edge k runs from corner k to the next, counted from 1. A corner's radius is the centre line's; the halves' follow.

Closed paths of straights and arcs: polygons with rounded corners, evaluated without any integration.
"""

import math
from dataclasses import dataclass

import msgspec
import numpy as np

from trailbrake.arrays import Array
from trailbrake.errors import DataError
from trailbrake.user_files import convert_values, parse_toml

LANE = 0.26  # m, the pitch of the lanes: 5.2 camera heights (protocol page formula-trend, section 5)
LANES = 3  # of a half
HALF_WIDTH = 0.5 * LANES * LANE  # m, from a half's centre to its edge, and from the road's centre to a half's centre
MIN_RADIUS = 0.35  # m, of the centre of a half; below it the inner edge would fold
MIN_FORK_GAP = 0.3  # m between the halves of a fork
LANE_CHANGE = math.radians(45.0)  # the angle at which a half leaves a straight
LANE_CHANGE_RADIUS = 1.0  # m
SIDES = ("left", "right")
_SHARPEST = 0.01  # m, the smallest radius of a corner
_STRAIGHT = math.radians(3.0)  # the smallest turn of a corner: below it its place is ill-defined


@dataclass(frozen=True, eq=False)
class ArcPath:
    """A closed line in the plane.

    Attributes:
        pieces: (n, 6) start station (m), x, y (m), heading (rad), curvature (1/m, left positive) and length (m) of
            each straight or arc.
        length: of one lap, m.
    """

    pieces: Array
    length: float

    def poses_at(self, s: Array) -> Array:
        """Return x, y (m), heading (rad), curvature (1/m), (m, 4), at the stations `s` (m,); s wraps."""
        s = np.mod(s, self.length)
        k = np.clip(np.searchsorted(self.pieces[:, 0], s, side="right") - 1, 0, len(self.pieces) - 1)
        start, x, y, yaw, curvature, _ = self.pieces[k].T
        along = s - start
        turned = curvature * along
        # The chord of an arc: its length times the sinc of half the turn, in the direction at half the turn.
        chord = along * np.sinc(0.5 * turned / math.pi)
        return np.column_stack(
            [x + chord * np.cos(yaw + 0.5 * turned), y + chord * np.sin(yaw + 0.5 * turned), yaw + turned, curvature]
        )


def round_corners(corners: Array, radii: Array, start: float, where: str) -> ArcPath:
    """Return the polygon through `corners` with its corners rounded by arcs.

    Args:
        corners: (n, 2) m, in driving order.
        radii: (n,) m, of the arcs.
        start: m along the first edge (from corner 0 to corner 1), place of station 0.
        where: names the file in errors.

    Raises:
        DataError: a corner that does not turn or has no radius, or edges too short for the arcs at their ends.
    """
    edge = np.roll(corners, -1, axis=0) - corners
    length = np.hypot(edge[:, 0], edge[:, 1])
    if not length.min() > 0.0:
        raise DataError("two corners in the same place", where=f"{where}: corner {int(length.argmin()) + 1}")
    if not radii.min() >= _SHARPEST:
        raise DataError("a corner without a radius", where=f"{where}: corner {int(radii.argmin()) + 1}",
                        expected=f"{_SHARPEST:g} m or more", got=f"{radii.min():g} m")  # fmt: skip
    heading = np.arctan2(edge[:, 1], edge[:, 0])
    turn = np.mod(heading - np.roll(heading, 1) + math.pi, 2.0 * math.pi) - math.pi
    cut = radii * np.tan(0.5 * np.abs(turn))  # from the corner to where its arc begins
    clear = length - cut - np.roll(cut, -1)
    for k in range(len(corners)):
        if abs(turn[k]) < _STRAIGHT:
            raise DataError("a corner that does not turn", where=f"{where}: corner {k + 1}", expected="3 deg or more")
        if clear[k] < 0.0:
            raise DataError(
                "no room for the arcs of two corners", where=f"{where}: edge from corner {k + 1}",
                expected=f"{cut[k] + cut[(k + 1) % len(cut)]:.2f} m or more", got=f"{length[k]:.2f} m",
                hint="smaller radii, or corners further apart",
            )  # fmt: skip
    if not cut[0] <= start < length[0] - cut[1]:
        raise DataError(
            "the start is not on the straight of the first edge", where=f"{where}: start",
            expected=f"{cut[0]:.2f} .. {length[0] - cut[1]:.2f} m", got=f"{start:.2f} m",
        )  # fmt: skip
    rows = []
    for k in range(len(corners)):
        unit = edge[k] / length[k]
        first = corners[k] + (start if k == 0 else cut[k]) * unit
        rows.append([*first, heading[k], 0.0, length[k] - cut[(k + 1) % len(cut)] - (start if k == 0 else cut[k])])
        n = (k + 1) % len(corners)
        rows.append([*(corners[n] - cut[n] * unit), heading[k], math.copysign(1.0 / radii[n], turn[n]),
                     radii[n] * abs(turn[n])])  # fmt: skip
    rows.append([*(corners[0] + cut[0] * edge[0] / length[0]), heading[0], 0.0, start - cut[0]])
    pieces = np.array([row for row in rows if row[4] > 0.0])
    stations = np.concatenate([[0.0], np.cumsum(pieces[:, 4])])
    return ArcPath(np.column_stack([stations[:-1], pieces]), float(stations[-1]))


class Fork(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A stretch where one half leaves the road; the module's docstring shows both kinds.

    Attributes:
        edge: number of the edge, counted from 1.
        half: "left" or "right".
        out: m between the halves.
        between: m along the edge where the half leaves and comes back; None where its whole edge lies further out.
    """

    edge: int
    half: str
    out: float
    between: tuple[float, float] | None = None


class MiniatureLayout(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A track as its file describes it.

    Attributes:
        corners: x, y, radius (m) of the road's centre line, in driving order, not closed.
        start: m along the first edge.
        title: its name for people.
        text: one line about it.
        forks: of either half.
    """

    corners: list[tuple[float, float, float]]
    start: float
    title: str = ""
    text: str = ""
    forks: list[Fork] = []


@dataclass(frozen=True)
class CentreLines:
    """The centre lines of a track: of the road as if it had no forks, and of both halves."""

    road: ArcPath
    left: ArcPath
    right: ArcPath


def parse_layout(text: str, where: str) -> MiniatureLayout:
    """Return the layout in a TOML text; DataError where there is none."""
    layout = convert_values(parse_toml(text, where), MiniatureLayout, "not a miniature track", where)
    check_layout(layout, where)
    return layout


def check_layout(layout: MiniatureLayout, where: str) -> None:
    """Raise DataError for numbers out of range."""
    numbers = [value for corner in layout.corners for value in corner] + [layout.start]
    numbers += [value for fork in layout.forks for value in (fork.out, *(fork.between or ()))]
    if not all(math.isfinite(value) and abs(value) < 1e3 for value in numbers):
        raise DataError("a number that is no place on a track", where=where, expected="finite, less than 1000 m")
    if not 3 <= len(layout.corners) <= 200:
        raise DataError(
            "no track has so many corners", where=f"{where}: corners", expected="3 .. 200", got=str(len(layout.corners))
        )
    for k, fork in enumerate(layout.forks, 1):
        at = f"{where}: fork {k}"
        if not 2 <= fork.edge <= len(layout.corners):
            expected = f"2 .. {len(layout.corners)}, the first edge has the start line"
            raise DataError("no such edge for a fork", where=at, expected=expected, got=str(fork.edge))
        if fork.half not in SIDES:
            raise DataError("no such half", where=at, expected="left or right", got=repr(fork.half))
        if not fork.out >= MIN_FORK_GAP:
            raise DataError("too little room between the ways", where=at, expected=f">= {MIN_FORK_GAP} m",
                            got=f"{fork.out:g} m")  # fmt: skip


def draw_centre_lines(layout: MiniatureLayout, where: str) -> CentreLines:
    """Return the centre lines of a layout; DataError where it has none."""
    places = np.array([corner[:2] for corner in layout.corners])
    radii = np.array([corner[2] for corner in layout.corners])
    main = round_corners(places, radii, layout.start, where)
    return CentreLines(
        main, _half_path(layout, places, radii, "left", where), _half_path(layout, places, radii, "right", where)
    )


def _half_path(layout: MiniatureLayout, places: Array, radii: Array, half: str, where: str) -> ArcPath:
    # The half's edges are parallel to the road's, those of its forks further out; its corners are where edges meet.
    side = 1.0 if half == "left" else -1.0
    edge = np.roll(places, -1, axis=0) - places
    unit = edge / np.hypot(edge[:, 0], edge[:, 1])[:, None]
    normal = np.column_stack([-unit[:, 1], unit[:, 0]])
    offset = np.full(len(places), side * HALF_WIDTH)
    own = [fork for fork in layout.forks if fork.half == half]
    for fork in own:
        if fork.between is None:
            offset[fork.edge - 1] += side * fork.out
    moved = np.empty_like(places)
    for k in range(len(places)):
        system = np.array([normal[k - 1], normal[k]])
        if abs(np.linalg.det(system)) < 1e-3:
            raise DataError("a corner that does not turn", where=f"{where}: corner {k + 1}")
        shift = np.array([offset[k - 1], offset[k]])
        moved[k] = places[k] + np.linalg.solve(system, shift)
    turn = np.sign(np.roll(unit[:, 0], 1) * unit[:, 1] - np.roll(unit[:, 1], 1) * unit[:, 0])
    own_radii = radii - turn * side * HALF_WIDTH
    if own_radii.min() < MIN_RADIUS:
        raise DataError(
            "too tight for the road's width", where=f"{where}: corner {int(own_radii.argmin()) + 1}",
            expected=f"a radius of {MIN_RADIUS + HALF_WIDTH:g} m or more",
            got=f"{radii[own_radii.argmin()]:g} m",
        )  # fmt: skip
    corners, rounds = [], []
    for k in range(len(places)):
        corners.append(moved[k])
        rounds.append(own_radii[k])
        for fork in own:
            if fork.between is not None and fork.edge == k + 1:
                corners += _detour_corners(places[k], unit[k], side * normal[k], fork, where)
                rounds += [LANE_CHANGE_RADIUS] * 4
    start = float((places[0] + layout.start * unit[0] - moved[0]) @ unit[0])
    return round_corners(np.array(corners), np.array(rounds), start, f"{where}: {half} half")


def _detour_corners(corner: Array, unit: Array, outward: Array, fork: Fork, where: str) -> list[Array]:
    assert fork.between is not None
    first, last = fork.between
    ramp = fork.out / math.tan(LANE_CHANGE)
    if last - first < 2.0 * ramp:
        raise DataError("a fork too short to leave and come back", where=f"{where}: fork on edge {fork.edge}",
                        expected=f"{2.0 * ramp:.2f} m or more", got=f"{last - first:.2f} m")  # fmt: skip
    far = HALF_WIDTH + fork.out
    return [
        corner + along * unit + aside * outward
        for along, aside in ((first, HALF_WIDTH), (first + ramp, far), (last - ramp, far), (last, HALF_WIDTH))
    ]
