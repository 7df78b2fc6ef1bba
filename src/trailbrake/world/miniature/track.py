"""`MiniatureTrack`: the two halves as rows, the forks between them, the walls along them, and the signs over them."""

import math
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array
from trailbrake.errors import DataError
from trailbrake.kernels import jit
from trailbrake.tracks.geometry import first_crossing
from trailbrake.world.miniature.layout import HALF_WIDTH, ArcPath, CentreLines, MiniatureLayout, draw_centre_lines

Bools = NDArray[np.bool_]

SPACING = 0.025  # m between rows
_REACH = 1.5  # m along the road within which the search for the next row's foot ends
_APART = 0.02  # m between the inner edges of the halves from which there are walls
_BEND = 0.06  # rad, the most that a wall segment turns: 0.6 mm off the arc at a radius of 1.25 m
_LONGEST = 2.0  # m of one wall segment
_CLEAR = 0.15  # m between the outer edges of two stretches of road
_LEAD = 1.7  # m from a gantry to the bend or fork that it announces
_BETWEEN = 2.4  # m between gantries
_TURN = math.radians(55.0)  # a bend that turns less gets no sign
_U_TURN = math.radians(140.0)
_SAME_BEND = 1.5  # m, the longest straight between two arcs of one bend


class HalfColumn(IntEnum):
    """Columns of a half's table."""

    X = 0  # m, centre line
    Y = 1
    COS = 2  # of the heading
    SIN = 3
    CURVATURE = 4  # 1/m, left positive
    S = 5  # m along this half
    ROAD_S = 6  # m along the road, growing with S


class RoadHalf(IntEnum):
    """The halves of the road, as indices: `halves[RoadHalf.LEFT]`."""

    LEFT = 0
    RIGHT = 1


@dataclass(frozen=True)
class ForkBranches:
    """A fork: where the halves are apart.

    Attributes:
        start, end: m along the road.
        left_length, right_length: m along each half between them.
    """

    start: float
    end: float
    left_length: float
    right_length: float

    @property
    def shorter_half(self) -> RoadHalf:
        """The half with the shorter way."""
        return RoadHalf.LEFT if self.left_length < self.right_length else RoadHalf.RIGHT


@dataclass(frozen=True)
class GantrySign:
    """A sign over the road.

    Attributes:
        symbol: its name.
        s: m along the road.
    """

    symbol: str
    s: float


@dataclass(frozen=True, eq=False)
class MiniatureTrack:
    """A track of two halves, each three lanes wide. The start line is at s = 0.

    Attributes:
        name: by which `load_miniature_track` finds it.
        title: its name for people.
        source: one line about it.
        road_path: the road's centre line. Nothing is painted along it inside a fork.
        halves: the left and the right half, (n, len(HalfColumn)) each; row k is about k * SPACING along it.
        lengths: of the halves, m.
        forks: in driving order.
        signs: in driving order.
        walls: (m, 5) x0, y0, x1, y1 (m, world) of segments, and 1 for inner walls, 0 for outer ones.
        wall_corners: (k, 2) x, y (m, world) of the corners of inner walls where halves part or join.
    """

    name: str
    title: str
    source: str
    road_path: ArcPath
    halves: tuple[Array, Array]
    lengths: tuple[float, float]
    forks: tuple[ForkBranches, ...]
    signs: tuple[GantrySign, ...]
    walls: Array
    wall_corners: Array

    @property
    def length(self) -> float:
        """Length of the road's centre line, m, which is that of a lap."""
        return self.road_path.length

    def is_apart(self, s: Array) -> Bools:
        """Return whether the halves are apart at `s` (m along the road, any shape)."""
        at = np.mod(s, self.length)
        found = np.zeros(at.shape, np.bool_)
        for fork in self.forks:
            found |= (at > fork.start) & (at < fork.end)
        return found

    def edge_lines(self) -> tuple[Array, Array]:
        """Return the outer edges, left and right: (n, 2) and (m, 2) x, y, m."""
        left, right = self.halves
        return _offset_line(left, HALF_WIDTH), _offset_line(right, -HALF_WIDTH)

    def centre_line(self) -> Array:
        """Return the road's centre line, (n, 2) x, y, m; inside a fork it is on neither half."""
        return self.road_path.poses_at(np.arange(0.0, self.length, SPACING))[:, :2]

    def pose_at(self, s: float, offset: float) -> tuple[float, float, float]:
        """Return x, y (m) and heading (rad) at `s` m along the road, `offset` m left of its centre.

        In a fork the place is as far from the centre of the left (offset > 0) or right half as it would be elsewhere.
        """
        side = RoadHalf.LEFT if offset > 0.0 else RoadHalf.RIGHT
        table = self.halves[side]
        s %= self.length
        k = min(int(np.searchsorted(table[:, HalfColumn.ROAD_S], s)), len(table) - 1)
        x, y, cos, sin = table[k, :4]
        along = (s - table[k, HalfColumn.ROAD_S]) if not self.is_apart(np.array(s)) else 0.0
        aside = offset - math.copysign(HALF_WIDTH, offset)
        return x + along * cos - aside * sin, y + along * sin + aside * cos, math.atan2(sin, cos)


def assemble_track(layout: MiniatureLayout, name: str, source: str, where: str) -> MiniatureTrack:
    """Return the track of a layout; DataError where its halves or two of its stretches come too close to each other."""
    drawn = draw_centre_lines(layout, where)
    left, right = _half_table(drawn.left), _half_table(drawn.right)
    found = _find_forks(drawn, left, right, where)
    _check_clear(left, right, drawn.road.length, where)
    walls, noses = _build_walls(left, right, found)
    return MiniatureTrack(
        name, layout.title or name, source, drawn.road, (left, right), (drawn.left.length, drawn.right.length),
        tuple(found), tuple(_place_signs(drawn.road, found)), walls, noses,
    )  # fmt: skip


def _half_table(path: ArcPath) -> Array:
    count = round(path.length / SPACING)
    table = np.empty((count, len(HalfColumn)))
    s: Array = np.arange(count, dtype=np.float64) * (path.length / count)
    x, y, yaw, curvature = path.poses_at(s).T
    columns = (x, y, np.cos(yaw), np.sin(yaw), curvature, s, s)
    for column, values in zip(HalfColumn, columns, strict=True):
        table[:, column] = values
    return table


def _project_half(main: ArcPath, table: Array) -> tuple[Array, Array]:
    # s (n,) along the road and offset (n,) of a half's rows. The search for each foot starts at the one before.
    count = round(main.length / SPACING)
    stations: Array = np.arange(-count // 4, count + count // 4, dtype=np.float64) * (main.length / count)
    found = np.empty((len(table), 2))
    _project_rows(table, stations, np.ascontiguousarray(main.poses_at(stations)), count // 4, found)
    return found[:, 0].copy(), found[:, 1].copy()


@jit
def _project_rows(table: Array, stations: Array, line: Array, k: int, out: Array) -> None:
    # Write s and offset into `out` (n, 2). `line`: x, y, heading and curvature (m, 4) at the stations (m,); station `k`
    # is near the first row.
    reach = int(_REACH / SPACING)
    for i in range(table.shape[0]):
        x, y = table[i, 0], table[i, 1]
        lo = max(k - 4, 0)
        best = math.inf
        for j in range(lo, min(k + reach, line.shape[0])):
            gap = (line[j, 0] - x) ** 2 + (line[j, 1] - y) ** 2
            if gap < best:
                best = gap
                k = j
        dx, dy = x - line[k, 0], y - line[k, 1]
        out[i, 0] = stations[k] + dx * math.cos(line[k, 2]) + dy * math.sin(line[k, 2])
        out[i, 1] = dy * math.cos(line[k, 2]) - dx * math.sin(line[k, 2])


def _find_forks(drawn: CentreLines, left: Array, right: Array, where: str) -> list[ForkBranches]:
    # Where a half is not beside the road's centre line. There s grows evenly along the half.
    runs: list[tuple[float, float]] = []
    main = drawn.road
    own = []
    for table, side in ((left, 1.0), (right, -1.0)):
        s, offset = _project_half(main, table)
        apart = np.abs(offset - side * HALF_WIDTH) > _APART
        # A row beside another stretch of the road is still apart: s must have grown as far as the half.
        edges = np.flatnonzero(np.diff(apart.astype(np.int8)))
        if apart[0] or apart[-1] or len(edges) % 2:
            raise DataError("a fork at the start line", where=where, hint="start on another straight")
        for first, last in edges.reshape(-1, 2).tolist():
            runs.append((float(s[first]), float(s[last + 1])))
        own.append((s, apart))
    if not runs:
        merged = []
    else:
        runs.sort()
        merged = [runs[0]]
        for lo, hi in runs[1:]:
            if lo < merged[-1][1] + 0.5:
                merged[-1] = (merged[-1][0], max(merged[-1][1], hi))
            else:
                merged.append((lo, hi))
    found = []
    for (s, apart), table in zip(own, (left, right), strict=True):
        kept = ~apart
        table[:, HalfColumn.ROAD_S] = np.maximum.accumulate(
            np.interp(table[:, HalfColumn.S], table[kept, HalfColumn.S], s[kept])
        )
    for lo, hi in merged:
        lengths = [
            float(np.diff(np.interp((lo, hi), t[:, HalfColumn.ROAD_S], t[:, HalfColumn.S]))[0]) for t in (left, right)
        ]
        found.append(ForkBranches(lo, hi, lengths[0], lengths[1]))
    return found


def _offset_line(table: Array, offset: float) -> Array:
    # The line (n, 2) `offset` m left of a half's centre.
    return np.column_stack(
        [
            table[:, HalfColumn.X] - offset * table[:, HalfColumn.SIN],
            table[:, HalfColumn.Y] + offset * table[:, HalfColumn.COS],
        ]
    )


def _wall_segments(table: Array, points: Array, closed: bool) -> Array:
    # Segments (m, 4) along `points`, which belong to the rows of `table`.
    kept, turned, gone = [0], 0.0, 0.0
    steps: list[float] = np.hypot(*np.diff(points, axis=0).T).tolist()
    spacing = float(table[1, HalfColumn.S] - table[0, HalfColumn.S])
    curvature: list[float] = table[:, HalfColumn.CURVATURE].tolist()
    for k in range(1, len(points) - 1):
        turned += curvature[k] * spacing
        gone += steps[k - 1]
        if not -_BEND < turned < _BEND or gone >= _LONGEST or curvature[k] != curvature[k - 1]:
            kept.append(k)
            turned = gone = 0.0
    kept.append(len(points) - 1)
    corners = points[kept]
    if closed:
        corners = np.vstack([corners, corners[:1]])
    return np.hstack([corners[:-1], corners[1:]])


def _build_walls(left: Array, right: Array, forks: list[ForkBranches]) -> tuple[Array, Array]:
    outer = [
        _wall_segments(left, _offset_line(left, HALF_WIDTH), True),
        _wall_segments(right, _offset_line(right, -HALF_WIDTH), True),
    ]
    inner, noses = [], []
    for fork in forks:
        ends = []
        for table, offset in ((left, -HALF_WIDTH), (right, HALF_WIDTH)):
            here = (table[:, HalfColumn.ROAD_S] >= fork.start) & (table[:, HalfColumn.ROAD_S] <= fork.end)
            line = _offset_line(table[here], offset)
            inner.append(_wall_segments(table[here], line, False))
            ends.append(line[[0, -1]])
        inner.append(np.hstack([ends[0], ends[1]]))  # across the gap, at either end
        noses += ends
    kinds = [np.hstack([part, np.zeros((len(part), 1))]) for part in outer]
    kinds += [np.hstack([part, np.ones((len(part), 1))]) for part in inner]
    return np.ascontiguousarray(np.vstack(kinds)), np.array(noses).reshape(-1, 2)


def _find_bends(main: ArcPath) -> list[tuple[float, float, float]]:
    # Start, end (m) and turn (rad) of each bend: arcs in one direction with little between them are one bend.
    found: list[tuple[float, float, float]] = []
    for start, _, _, _, curvature, length in main.pieces.tolist():
        if curvature == 0.0:
            continue
        turn = curvature * length
        if found and turn * found[-1][2] > 0.0 and start - found[-1][1] < _SAME_BEND and abs(found[-1][2]) < _U_TURN:
            found[-1] = (found[-1][0], start + length, found[-1][2] + turn)
        else:
            found.append((start, start + length, turn))
    return found


def _place_signs(main: ArcPath, forks: list[ForkBranches]) -> list[GantrySign]:
    # Forks first: their signs matter most. Signs that would hang in a fork or too close to another are left out.
    wanted = [(fork.start, "fork_left" if fork.shorter_half == RoadHalf.LEFT else "fork_right") for fork in forks]
    for start, _, turn in _find_bends(main):
        if abs(turn) >= _TURN and not any(fork.start - 0.5 < start < fork.end for fork in forks):
            way = "left" if turn > 0.0 else "right"
            wanted.append((start, f"u_turn_{way}" if abs(turn) >= _U_TURN else f"turn_{way}"))
    found: list[GantrySign] = []
    for at, sign in wanted:
        for lead in (_LEAD, 0.7 * _LEAD):
            s = at - lead
            near = any(abs(s - board.s) < _BETWEEN for board in found)
            if s > 0.5 and not near and not any(fork.start - 0.1 <= s <= fork.end + 0.3 for fork in forks):
                found.append(GantrySign(sign, s))
                break
    return sorted(found, key=lambda board: board.s)


def _check_clear(left: Array, right: Array, length: float, where: str) -> None:
    for table, name in ((left, "left"), (right, "right")):
        crossing = first_crossing(
            np.ascontiguousarray(table[:, HalfColumn.X]),
            np.ascontiguousarray(table[:, HalfColumn.Y]),
            True,
            1.01 * SPACING,
        )
        if crossing[0] >= 0:
            raise DataError(f"the {name} half crosses itself", where=where,
                            got=" and ".join(f"{k * SPACING:.1f} m" for k in crossing))  # fmt: skip
    # Places of different stretches of the road must be further apart than the width of both halves.
    step = 8
    places = np.vstack([left[::step, :2], right[::step, :2]])
    stations = np.concatenate([left[::step, HalfColumn.ROAD_S], right[::step, HalfColumn.ROAD_S]])
    rights = np.concatenate([np.zeros(len(left[::step])), np.ones(len(right[::step]))])
    reach = 2.0 * HALF_WIDTH + _CLEAR
    close = np.abs(places[:, None, 0] - places[None, :, 0]) < reach
    close &= np.abs(places[:, None, 1] - places[None, :, 1]) < reach
    one, two = np.nonzero(close)
    gap = np.hypot(*(places[one] - places[two]).T)
    along = np.abs(stations[one] - stations[two])
    along = np.minimum(along, length - along)
    # On the road the halves touch; in a fork and elsewhere they must not.
    near = (gap < 2.0 * HALF_WIDTH - _APART) & (rights[one] != rights[two])
    far = (gap < reach) & (along > 5.0 * HALF_WIDTH)
    bad = np.flatnonzero(near | far)
    if len(bad):
        i, j = one[bad[0]], two[bad[0]]
        raise DataError(
            "two stretches of road too near to each other", where=where,
            expected=f"{reach:.2f} m between the centres of halves",
            got=f"{gap[bad[0]]:.2f} m at {stations[i]:.1f} and {stations[j]:.1f} m along the road",
        )  # fmt: skip
