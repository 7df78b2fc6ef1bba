"""`MiniatureTrack`: the two halves as rows, the forks between them, the walls along them, and the boards over them."""

import math
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from trailbrake.errors import DataError
from trailbrake.kernels import jit
from trailbrake.tracks.geometry import first_crossing
from trailbrake.tracks.miniature.layout import HALF_WIDTH, Layout, Lines, lines
from trailbrake.tracks.miniature.path import Path

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

SPACING = 0.025  # m between rows
_REACH = 1.5  # m along the road in which the next row's foot is looked for
_APART = 0.02  # m between the inner edges of the halves at which walls begin
_BEND = 0.06  # rad that one wall segment may stand for: 0.6 mm off the arc at a radius of 1.25 m
_LONGEST = 2.0  # m of one wall segment
_CLEAR = 0.15  # m between the outer edges of two stretches of road
_LEAD = 1.7  # m from a gantry to what it announces
_BETWEEN = 2.4  # m between gantries
_TURN = math.radians(55.0)  # a bend that turns less gets no sign
_U_TURN = math.radians(140.0)
_SAME_BEND = 1.5  # m of straight that two arcs of one bend may have between them


class Row(IntEnum):
    """Columns of a half's table."""

    X = 0  # m, centre line
    Y = 1
    COS = 2  # of the heading
    SIN = 3
    CURVATURE = 4  # 1/m, left positive
    S = 5  # m along this half
    MAIN = 6  # m along the road, growing with S


class Side(IntEnum):
    """The halves. `halves[Side.LEFT]`."""

    LEFT = 0
    RIGHT = 1


@dataclass(frozen=True)
class Branches:
    """A fork: where the halves are apart, in m along the road, and how long each half is there."""

    start: float
    end: float
    left: float
    right: float

    @property
    def shorter(self) -> Side:
        """The shorter way."""
        return Side.LEFT if self.left < self.right else Side.RIGHT


@dataclass(frozen=True)
class Board:
    """A gantry's message: the name of its sign, and where it hangs, in m along the road."""

    sign: str
    s: float


@dataclass(frozen=True, eq=False)
class MiniatureTrack:
    """A track of two halves, each three lanes wide. The start line is at s = 0.

    Attributes:
        name: the name to ask for it by.
        title: its name for people.
        source: one line about it.
        length: m, of the road's centre line, which is what a lap counts.
        main: the road's centre line. Inside a fork nothing is painted along it.
        halves: the left and the right half, (n, len(Row)) each; row k is about k * SPACING along it.
        lengths: of the halves, m.
        forks: in driving order.
        boards: in driving order.
        walls: (m, 5) x0, y0, x1, y1 (m) of segments, and 1 for inner walls, 0 for outer ones.
        noses: (k, 2) x, y (m): the corners that inner walls turn towards the car where halves part or join.
    """

    name: str
    title: str
    source: str
    main: Path
    halves: tuple[Array, Array]
    lengths: tuple[float, float]
    forks: tuple[Branches, ...]
    boards: tuple[Board, ...]
    walls: Array
    noses: Array

    @property
    def length(self) -> float:
        """Length of the road, m."""
        return self.main.length

    def is_apart(self, s: Array) -> Bools:
        """Return whether the halves are apart at `s` (m along the road, any shape)."""
        at = np.mod(s, self.length)
        found = np.zeros(at.shape, np.bool_)
        for fork in self.forks:
            found |= (at > fork.start) & (at < fork.end)
        return found

    def edges(self) -> tuple[Array, Array]:
        """Return the outer edges, left and right: (n, 2) and (m, 2) of x and y, m."""
        left, right = self.halves
        return _edge(left, HALF_WIDTH), _edge(right, -HALF_WIDTH)

    def centre(self) -> Array:
        """Return the road's centre line, (n, 2) of x and y, m; inside a fork it is on no road."""
        return self.main.at(np.arange(0.0, self.length, SPACING))[:, :2]

    def place(self, s: float, offset: float) -> tuple[float, float, float]:
        """Return x, y (m) and heading (rad) at `s` m along the road, `offset` m left of its centre.

        In a fork that is as far from the centre of the left (offset > 0) or right half as it would be elsewhere.
        """
        side = Side.LEFT if offset > 0.0 else Side.RIGHT
        table = self.halves[side]
        s %= self.length
        k = min(int(np.searchsorted(table[:, Row.MAIN], s)), len(table) - 1)
        x, y, cos, sin = table[k, :4]
        along = (s - table[k, Row.MAIN]) if not self.is_apart(np.array(s)) else 0.0
        aside = offset - math.copysign(HALF_WIDTH, offset)
        return x + along * cos - aside * sin, y + along * sin + aside * cos, math.atan2(sin, cos)


def assemble(layout: Layout, name: str, source: str, where: str) -> MiniatureTrack:
    """Make the track of a layout; DataError where its halves or two of its stretches come too near to each other."""
    drawn = lines(layout, where)
    left, right = _rows(drawn.left), _rows(drawn.right)
    found = _forks(drawn, left, right, where)
    walls, noses = _walls(left, right, found)
    track = MiniatureTrack(
        name, layout.title or name, source, drawn.main, (left, right), (drawn.left.length, drawn.right.length),
        tuple(found), tuple(_boards(drawn.main, found)), walls, noses,
    )  # fmt: skip
    _check_clear(track, where)
    return track


def _rows(path: Path) -> Array:
    count = round(path.length / SPACING)
    table = np.empty((count, len(Row)))
    s: Array = np.arange(count, dtype=np.float64) * (path.length / count)
    x, y, yaw, curvature = path.at(s).T
    columns = (x, y, np.cos(yaw), np.sin(yaw), curvature, s, s)
    for column, values in zip(Row, columns, strict=True):
        table[:, column] = values
    return table


def _beside(main: Path, table: Array) -> tuple[Array, Array]:
    # s (n,) along the road and offset (n,) of a half's rows: each row's foot is looked for near the foot before.
    count = round(main.length / SPACING)
    stations: Array = np.arange(-count // 4, count + count // 4, dtype=np.float64) * (main.length / count)
    s, offset = np.empty(len(table)), np.empty(len(table))
    _feet(table, stations, np.ascontiguousarray(main.at(stations)), count // 4, s, offset)
    return s, offset


@jit
def _feet(table: Array, stations: Array, line: Array, k: int, s: Array, offset: Array) -> None:
    # `line`: x, y, heading and curvature (m, 4) at the stations (m,), of which `k` is near the first row.
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
        s[i] = stations[k] + dx * math.cos(line[k, 2]) + dy * math.sin(line[k, 2])
        offset[i] = dy * math.cos(line[k, 2]) - dx * math.sin(line[k, 2])


def _forks(drawn: Lines, left: Array, right: Array, where: str) -> list[Branches]:
    # Where a half is not beside the road's centre line. There s goes on evenly along the half.
    runs: list[tuple[float, float]] = []
    main = drawn.main
    own = []
    for table, side in ((left, 1.0), (right, -1.0)):
        s, offset = _beside(main, table)
        apart = np.abs(offset - side * HALF_WIDTH) > _APART
        # A row that runs beside another stretch of the road is not back yet: s must have gone on as far as the half.
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
        table[:, Row.MAIN] = np.maximum.accumulate(np.interp(table[:, Row.S], table[kept, Row.S], s[kept]))
    for lo, hi in merged:
        lengths = [float(np.diff(np.interp((lo, hi), t[:, Row.MAIN], t[:, Row.S]))[0]) for t in (left, right)]
        found.append(Branches(lo, hi, lengths[0], lengths[1]))
    return found


def _edge(table: Array, offset: float) -> Array:
    # (n, 2) of the line `offset` m left of a half's centre.
    return np.column_stack([table[:, Row.X] - offset * table[:, Row.SIN], table[:, Row.Y] + offset * table[:, Row.COS]])


def _thinned(table: Array, points: Array, closed: bool) -> Array:
    # Segments (m, 4) along `points`, which belong to the rows of `table`.
    kept, turned, gone = [0], 0.0, 0.0
    steps = np.hypot(*np.diff(points, axis=0).T)
    spacing = float(table[1, Row.S] - table[0, Row.S])
    for k in range(1, len(points) - 1):
        turned += table[k, Row.CURVATURE] * spacing
        gone += steps[k - 1]
        if abs(turned) >= _BEND or gone >= _LONGEST or table[k, Row.CURVATURE] != table[k - 1, Row.CURVATURE]:
            kept.append(k)
            turned = gone = 0.0
    kept.append(len(points) - 1)
    corners = points[kept]
    if closed:
        corners = np.vstack([corners, corners[:1]])
    return np.hstack([corners[:-1], corners[1:]])


def _walls(left: Array, right: Array, forks: list[Branches]) -> tuple[Array, Array]:
    outer = [
        _thinned(left, _edge(left, HALF_WIDTH), True),
        _thinned(right, _edge(right, -HALF_WIDTH), True),
    ]
    inner, noses = [], []
    for fork in forks:
        ends = []
        for table, offset in ((left, -HALF_WIDTH), (right, HALF_WIDTH)):
            here = (table[:, Row.MAIN] >= fork.start) & (table[:, Row.MAIN] <= fork.end)
            line = _edge(table[here], offset)
            inner.append(_thinned(table[here], line, False))
            ends.append(line[[0, -1]])
        inner.append(np.hstack([ends[0], ends[1]]))  # across the gap, at either end
        noses += ends
    kinds = [np.hstack([part, np.zeros((len(part), 1))]) for part in outer]
    kinds += [np.hstack([part, np.ones((len(part), 1))]) for part in inner]
    return np.ascontiguousarray(np.vstack(kinds)), np.array(noses).reshape(-1, 2)


def _bends(main: Path) -> list[tuple[float, float, float]]:
    # Start, end (m) and turn (rad) of each bend: arcs the same way round with little between them are one.
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


def _boards(main: Path, forks: list[Branches]) -> list[Board]:
    # Forks first: their signs are worth most. What would hang in a fork or too near to another is left out.
    wanted = [(fork.start, "fork_left" if fork.shorter == Side.LEFT else "fork_right") for fork in forks]
    for start, _, turn in _bends(main):
        if abs(turn) >= _TURN and not any(fork.start - 0.5 < start < fork.end for fork in forks):
            way = "left" if turn > 0.0 else "right"
            wanted.append((start, f"u_turn_{way}" if abs(turn) >= _U_TURN else f"turn_{way}"))
    found: list[Board] = []
    for at, sign in wanted:
        for lead in (_LEAD, 0.7 * _LEAD):
            s = at - lead
            near = any(abs(s - board.s) < _BETWEEN for board in found)
            if s > 0.5 and not near and not any(fork.start - 0.1 <= s <= fork.end + 0.3 for fork in forks):
                found.append(Board(sign, s))
                break
    return sorted(found, key=lambda board: board.s)


def _check_clear(track: MiniatureTrack, where: str) -> None:
    left, right = track.halves
    for table, name in ((left, "left"), (right, "right")):
        crossing = first_crossing(
            np.ascontiguousarray(table[:, Row.X]), np.ascontiguousarray(table[:, Row.Y]), True, 1.01 * SPACING
        )
        if crossing[0] >= 0:
            raise DataError(f"the {name} half crosses itself", where=where,
                            got=" and ".join(f"{k * SPACING:.1f} m" for k in crossing))  # fmt: skip
    # No place of either half may be nearer to a stretch of the road that is not beside it than both halves' widths.
    step = 8
    places = np.vstack([left[::step, :2], right[::step, :2]])
    stations = np.concatenate([left[::step, Row.MAIN], right[::step, Row.MAIN]])
    rights = np.concatenate([np.zeros(len(left[::step])), np.ones(len(right[::step]))])
    gap = np.hypot(places[:, None, 0] - places[None, :, 0], places[:, None, 1] - places[None, :, 1])
    along = np.abs(stations[:, None] - stations[None, :])
    along = np.minimum(along, track.length - along)
    other = rights[:, None] != rights[None, :]
    # On the road the halves touch; in a fork and elsewhere they must not.
    near = (gap < 2.0 * HALF_WIDTH - _APART) & other
    far = (gap < 2.0 * HALF_WIDTH + _CLEAR) & (along > 5.0 * HALF_WIDTH)
    bad = np.argwhere(near | far)
    if len(bad):
        i, j = bad[0]
        raise DataError(
            "two stretches of road too near to each other", where=where,
            expected=f"{2.0 * HALF_WIDTH + _CLEAR:.2f} m between the centres of halves",
            got=f"{gap[i, j]:.2f} m at {stations[i]:.1f} and {stations[j]:.1f} m along the road",
        )  # fmt: skip
