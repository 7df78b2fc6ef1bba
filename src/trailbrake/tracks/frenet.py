"""Kernels between world x, y and road s, offset, cheap enough for every wheel of every car in each millisecond.

Between two rows of the table the centreline is the cubic Hermite curve through both points with both tangents:
continuous in position and direction across rows and across the start line. `project_to_road` solves for the foot of
the perpendicular on that curve, and `surface_point` evaluates the same curve, so that each inverts the other to
rounding.

The kernels take a `RoadTable` first, work on scalars and raise nothing. s is in m along the centreline; offsets are in
m, positive to the left of it. Python code calls the methods of `Road`.
"""

import math
from typing import NamedTuple

import numpy as np

from trailbrake.arrays import Array
from trailbrake.kernels import inline_jit, internal_jit, jit
from trailbrake.tracks.road_columns import RoadColumn

MAX_HINT_ROWS = 4.0  # rows between a hint and the foot up to which `project_to_road` needs no search
MAX_NEWTON_STEP = 5e-5  # rows, the largest step after which one Newton step of `project_to_segment` is enough
WALL_MARGIN = 2.0  # m beyond the wall up to which the result of a local search counts
_MAX_WALK = 24  # rows of a local search: 24 to 48 m, more than a car moves between two calls
_END_MARGIN = 30.0  # m beyond the end of an open road up to which the result of a local search counts
_NOT_FOUND, _BETWEEN_ROWS, _PAST_END = 0, 1, 2  # results of a local search


class RoadTable(NamedTuple):
    """A road as its kernels take it.

    Attributes:
        table: (n, len(RoadColumn)) float64, C-contiguous.
        spacing: m along the centreline from row to row.
        closed: whether row 0 follows row n - 1.
    """

    table: Array
    spacing: float
    closed: bool


class RowPair(NamedTuple):
    """Two consecutive rows of a road.

    Attributes:
        spacing: m along the centreline from the first row to the second.
        step_x, step_y: m, world, from the first row to the second.
        tangent_x, tangent_y: unit tangent at the first row.
        next_tangent_x, next_tangent_y: unit tangent at the second row.
    """

    spacing: float
    step_x: float
    step_y: float
    tangent_x: float
    tangent_y: float
    next_tangent_x: float
    next_tangent_y: float


@jit
def bracket_rows(road: RoadTable, s: float) -> tuple[int, int, float]:
    """Return rows i, j and the weight u at `s` (m): a column there is `(1 - u) * table[i] + u * table[j]`.

    On a closed road s wraps; on an open one it is clamped to the ends. Use it to read several columns.
    """
    table, spacing, closed = road
    n = table.shape[0]
    position = s / spacing
    if closed:
        position -= math.floor(position / n) * n
        i = int(position)
        if i >= n:  # rounding of a tiny negative s
            return n - 1, 0, 1.0
        return i, (i + 1 if i + 1 < n else 0), position - i
    if not position > 0.0:
        return 0, 1, 0.0
    if position >= n - 1:
        return n - 2, n - 1, 1.0
    i = int(position)
    return i, i + 1, position - i


@jit
def column_at(road: RoadTable, s: float, column: int) -> float:
    """Return `column` at `s` (m), linear between rows; s wraps (closed road) or is clamped to the ends (open road).

    YAW is continuous over [0, length) and not wrapped; between the last row and the first it continues from the last.
    For points use `surface_point`, which follows the curve and extrapolates.
    """
    table = road.table
    i, j, u = bracket_rows(road, s)
    first = table[i, column]
    step = table[j, column] - first
    if column == RoadColumn.YAW:
        step -= 2.0 * math.pi * math.floor(step / (2.0 * math.pi) + 0.5)
    value: float = first + u * step
    return value


@internal_jit
def _hermite_curve(road: RoadTable, i: int, j: int, u: float) -> tuple[float, float, float, float, float, float]:
    # Cubic Hermite curve between rows i and j, and its first two derivatives by u: px, py, dx, dy, ddx, ddy.
    table, spacing = road.table, road.spacing
    ax = table[i, RoadColumn.X]
    ay = table[i, RoadColumn.Y]
    ex = table[j, RoadColumn.X] - ax
    ey = table[j, RoadColumn.Y] - ay
    px = spacing * table[i, RoadColumn.TANGENT_X]
    py = spacing * table[i, RoadColumn.TANGENT_Y]
    qx = spacing * table[j, RoadColumn.TANGENT_X]
    qy = spacing * table[j, RoadColumn.TANGENT_Y]
    bx = 3.0 * ex - 2.0 * px - qx
    by = 3.0 * ey - 2.0 * py - qy
    cx = px + qx - 2.0 * ex
    cy = py + qy - 2.0 * ey
    return (
        ax + u * (px + u * (bx + u * cx)),
        ay + u * (py + u * (by + u * cy)),
        px + u * (2.0 * bx + 3.0 * u * cx),
        py + u * (2.0 * by + 3.0 * u * cy),
        2.0 * bx + 6.0 * u * cx,
        2.0 * by + 6.0 * u * cy,
    )


@internal_jit
def _distance_ahead(table: Array, i: int, x: float, y: float) -> float:
    # Distance (m) of (x, y) ahead of row i along its tangent.
    dx: float = x - table[i, RoadColumn.X]
    dy: float = y - table[i, RoadColumn.Y]
    along: float = dx * table[i, RoadColumn.TANGENT_X] + dy * table[i, RoadColumn.TANGENT_Y]
    return along


@internal_jit
def _distance_left(table: Array, i: int, x: float, y: float) -> float:
    # Distance (m) of (x, y) to the left of row i.
    dx: float = x - table[i, RoadColumn.X]
    dy: float = y - table[i, RoadColumn.Y]
    left: float = dy * table[i, RoadColumn.TANGENT_X] - dx * table[i, RoadColumn.TANGENT_Y]
    return left


@jit
def _project_bracketed(road: RoadTable, i: int, j: int, x: float, y: float) -> tuple[float, float]:
    # As `_project_between`, for points near the centre of a bend, where Newton without a bracket may diverge.
    table = road.table
    ahead_i = _distance_ahead(table, i, x, y)
    ahead_j = _distance_ahead(table, j, x, y)
    lo, hi = 0.0, 1.0
    u = ahead_i / (ahead_i - ahead_j)
    px, py, dx, dy, ddx, ddy = _hermite_curve(road, i, j, u)
    for _ in range(20):  # Newton inside the bracket; two or three steps are usual
        f = (x - px) * dx + (y - py) * dy
        if f > 0.0:
            lo = u
        else:
            hi = u
        slope = (x - px) * ddx + (y - py) * ddy - dx * dx - dy * dy
        new = u - f / slope if slope != 0.0 else -1.0
        if not lo <= new <= hi:
            new = 0.5 * (lo + hi)
        moved = abs(new - u)
        u = new
        px, py, dx, dy, ddx, ddy = _hermite_curve(road, i, j, u)
        if moved < 1e-6:  # Newton squares the error: the rest is below rounding
            break
    return u, (dx * (y - py) - dy * (x - px)) / math.sqrt(dx * dx + dy * dy)


@inline_jit
def project_to_segment(
    rows: RowPair, rx: float, ry: float, ahead: float, next_ahead: float
) -> tuple[float, float, float]:
    """Return the foot of the perpendicular from a point to the curve between two rows.

    f(u) = (r - p(u)) . p'(u) is nearly linear in u. Its slopes at both rows give the first estimate; from there one
    Newton step is mostly below 1e-6, and the remaining error below 1e-9 m: Newton squares the error, and at the foot
    the offset is stationary in u.

    Args:
        rows: the two rows.
        rx: m, world X from the first row to the point.
        ry: m, world Y from the first row to the point.
        ahead: m, distance of the point ahead of the first row along its tangent.
        next_ahead: m, the same of the second row; negative between the rows.

    Returns:
        The position u between the rows (0 at the first, 1 at the second), the offset (m, positive left), and the
        size of the Newton step (of u).
    """
    h, ex, ey, tx, ty, qx, qy = rows
    px = h * tx
    py = h * ty
    cx = px + h * qx - 2.0 * ex
    cy = py + h * qy - 2.0 * ey
    bx = ex - px - cx
    by = ey - py - cy
    fall = 1.0 / (ahead - next_ahead)
    scale = 2.0 * fall / h
    lean = 1.0 - h * fall
    first = lean + scale * (rx * bx + ry * by)
    last = lean + scale * ((rx - ex) * (bx + 3.0 * cx) + (ry - ey) * (by + 3.0 * cy))
    u = ahead * fall
    u += u * (1.0 - u) * (first - u * (first + last))
    gx = rx - u * (px + u * (bx + u * cx))
    gy = ry - u * (py + u * (by + u * cy))
    hx = bx + 3.0 * u * cx
    hy = by + 3.0 * u * cy
    dx = px + u * (bx + hx)
    dy = py + u * (by + hy)
    square = dx * dx + dy * dy
    step = (gx * dx + gy * dy) / (square - 2.0 * (gx * hx + gy * hy))
    return u + step, (dx * gy - dy * gx) / math.sqrt(square), abs(step)


@internal_jit
def _project_between(road: RoadTable, i: int, j: int, x: float, y: float) -> tuple[float, float]:
    # The position u in [0, 1] and the offset of the perpendicular's foot between rows i and j, which bracket it.
    table = road.table
    rows = RowPair(
        road.spacing,
        table[j, RoadColumn.X] - table[i, RoadColumn.X],
        table[j, RoadColumn.Y] - table[i, RoadColumn.Y],
        table[i, RoadColumn.TANGENT_X],
        table[i, RoadColumn.TANGENT_Y],
        table[j, RoadColumn.TANGENT_X],
        table[j, RoadColumn.TANGENT_Y],
    )
    u, offset, step = project_to_segment(
        rows,
        x - table[i, RoadColumn.X],
        y - table[i, RoadColumn.Y],
        _distance_ahead(table, i, x, y),
        _distance_ahead(table, j, x, y),
    )
    if step < MAX_NEWTON_STEP and 0.0 <= u <= 1.0:
        return u, offset
    return _project_bracketed(road, i, j, x, y)


@internal_jit
def _walk_rows(road: RoadTable, x: float, y: float, i: int) -> tuple[int, float, float, int]:
    # Walk from row i to the pair of rows that brackets the foot of (x, y). The walk keeps its direction and stops
    # only where the distance has a minimum. Returns the result (_NOT_FOUND ...), s, offset and row.
    table, spacing, closed = road
    n = table.shape[0]
    backwards = _distance_ahead(table, i, x, y) < 0.0
    for _ in range(_MAX_WALK):
        if backwards:
            if i == 0 and not closed:
                return _PAST_END, _distance_ahead(table, 0, x, y), _distance_left(table, 0, x, y), 0
            j = i
            i = i - 1 if i > 0 else n - 1
            if _distance_ahead(table, i, x, y) >= 0.0:
                u, offset = _project_between(road, i, j, x, y)
                return _BETWEEN_ROWS, (i + u) * spacing, offset, i
        else:
            if i == n - 1 and not closed:
                return _PAST_END, i * spacing + _distance_ahead(table, i, x, y), _distance_left(table, i, x, y), i
            j = i + 1 if i + 1 < n else 0
            if _distance_ahead(table, j, x, y) < 0.0:
                u, offset = _project_between(road, i, j, x, y)
                return _BETWEEN_ROWS, (i + u) * spacing, offset, i
            i = j
    return _NOT_FOUND, 0.0, 0.0, i


@internal_jit
def nearest_row(table: Array, x: float, y: float) -> int:
    """Return the row whose centreline point is nearest to (x, y) (m, world); reads every row (about 1 ns each)."""
    best = math.inf
    row = 0
    for i in range(table.shape[0]):
        dx = table[i, RoadColumn.X] - x
        dy = table[i, RoadColumn.Y] - y
        distance = dx * dx + dy * dy
        if distance < best:
            best = distance
            row = i
    return row


@internal_jit
def _is_plausible(road: RoadTable, s: float, offset: float, i: int) -> bool:
    # Whether (s, offset) beside row i is within reach of the walls and of the road's ends.
    table = road.table
    wall: float
    if offset >= 0.0:
        wall = table[i, RoadColumn.WIDTH_LEFT] + table[i, RoadColumn.RUNOFF_LEFT]
    else:
        wall = table[i, RoadColumn.WIDTH_RIGHT] + table[i, RoadColumn.RUNOFF_RIGHT]
    if abs(offset) > wall + WALL_MARGIN:
        return False
    inside: bool = -_END_MARGIN < s < table.shape[0] * road.spacing + _END_MARGIN
    return inside


@jit
def _search_road(road: RoadTable, x: float, y: float, near: int) -> tuple[float, float, int, int]:
    # As `project_to_road`, by a search from the row `near` and, failing that, over all rows; also returns the result.
    table, spacing, closed = road
    n = table.shape[0]
    if 0 <= near < n:
        found, s, offset, row = _walk_rows(road, x, y, near)
        if found != _NOT_FOUND and _is_plausible(road, s, offset, row):
            return s, offset, row, found
    start = nearest_row(table, x, y)
    found, s, offset, row = _walk_rows(road, x, y, start)
    if found == _NOT_FOUND:  # beyond the centre of a bend there may be no perpendicular: the nearest row counts
        dx = x - table[start, RoadColumn.X]
        dy = y - table[start, RoadColumn.Y]
        s, row = start * spacing, start
        offset = math.copysign(math.sqrt(dx * dx + dy * dy), _distance_left(table, start, x, y))
    if closed and s >= n * spacing:  # rounding, just before the line
        s, row = 0.0, 0
    return s, offset, row, found


@jit
def project_to_road(road: RoadTable, x: float, y: float, near: int) -> tuple[float, float, int]:
    """Return s (m), offset (m, positive left) and the row before the foot of (x, y) (m, world).

    Args:
        road: the road's table.
        x: m, world X.
        y: m, world Y.
        near: the row that an earlier call returned for this wheel or car: the search starts there and stays on the
            same stretch of road where two come close. -1 searches the whole road.

    Returns:
        s in [0, length) on a closed road; an open road continues straight beyond its ends, where s is below 0 or
        above its length. The result is smooth in x and y, across rows and the start line, wherever
        |offset * curvature| < 1. Where the local search fails (after a teleport, or beyond a wall) the function
        searches the whole road.
    """
    table, spacing, closed = road
    n = table.shape[0]
    if 0 <= near < n:
        # Without a search: the hint is a few rows off and no end of the road is near.
        ax = table[near, RoadColumn.X]
        ay = table[near, RoadColumn.Y]
        leap = ((x - ax) * table[near, RoadColumn.TANGENT_X] + (y - ay) * table[near, RoadColumn.TANGENT_Y]) * (
            1.0 / spacing
        )
        if -MAX_HINT_ROWS < leap < MAX_HINT_ROWS:
            i = near + int(np.floor(leap))  # math.floor gives a float on a graphics card
            if closed:
                if i < 0:
                    i += n
                if i >= n:
                    i -= n
            j = i + 1
            if closed and j == n:
                j = 0
            if i >= 0 and j < n:
                ax = table[i, RoadColumn.X]
                ay = table[i, RoadColumn.Y]
                px = table[i, RoadColumn.TANGENT_X]
                py = table[i, RoadColumn.TANGENT_Y]
                bx = table[j, RoadColumn.X]
                by = table[j, RoadColumn.Y]
                qx = table[j, RoadColumn.TANGENT_X]
                qy = table[j, RoadColumn.TANGENT_Y]
                here = (x - ax) * px + (y - ay) * py
                there = (x - bx) * qx + (y - by) * qy
                if here >= 0.0 and there < 0.0:
                    rows = RowPair(spacing, bx - ax, by - ay, px, py, qx, qy)
                    u, offset, step = project_to_segment(rows, x - ax, y - ay, here, there)
                    s = (i + u) * spacing
                    side = RoadColumn.WIDTH_LEFT if offset >= 0.0 else RoadColumn.WIDTH_RIGHT
                    reach = table[i, side] + table[i, side + 2] + WALL_MARGIN
                    if step < MAX_NEWTON_STEP and 0.0 <= u <= 1.0 and abs(offset) <= reach and s < n * spacing:
                        return s, offset, i
    s, offset, row, _ = _search_road(road, x, y, near)
    return s, offset, row


@jit
def centreline_point(road: RoadTable, s: float) -> tuple[float, float, float, float]:
    """Return x, y (m, world) of the centreline at `s` (m) and its unit tangent; straight beyond open ends."""
    table, spacing, closed = road
    i, j, u = bracket_rows(road, s)
    px, py, dx, dy, _, _ = _hermite_curve(road, i, j, u)
    speed = math.sqrt(dx * dx + dy * dy)
    tx = dx / speed
    ty = dy / speed
    if not closed:
        beyond = min(s, 0.0) + max(s - (table.shape[0] - 1) * spacing, 0.0)
        px += beyond * tx
        py += beyond * ty
    return px, py, tx, ty


@jit
def surface_point(road: RoadTable, s: float, offset: float) -> tuple[float, float, float, float]:
    """Return x, y, z (m, world) of the road surface and the road's yaw (rad, unwrapped) at s and offset (m).

    The inverse of `project_to_road`: the same curve, extrapolated straight beyond the ends of an open road (z by the
    grade there). z includes the bank: centreline z + offset * tan(bank).
    """
    table, spacing, closed = road
    i, j, u = bracket_rows(road, s)
    px, py, tx, ty = centreline_point(road, s)
    z = table[i, RoadColumn.Z] + u * (table[j, RoadColumn.Z] - table[i, RoadColumn.Z])
    if not closed:
        beyond = min(s, 0.0) + max(s - (table.shape[0] - 1) * spacing, 0.0)
        z += beyond * table[i if s < 0.0 else j, RoadColumn.GRADE]
    bank = table[i, RoadColumn.BANK] + u * (table[j, RoadColumn.BANK] - table[i, RoadColumn.BANK])
    yaw = column_at(road, s, RoadColumn.YAW)
    return px - offset * ty, py + offset * tx, z + offset * math.tan(bank), yaw


@jit
def project_points(road: RoadTable, xy: Array, near: int, out: Array) -> int:
    """Write s and offset (m) of the points `xy` (m, 2) into `out` (m, 2); return the last row.

    Each point's hint is the row of the one before; the first point's is `near`. For points in order along a line.
    Results are exact to rounding, where those of `project_to_road` may be 1e-9 m off: roads and lines are made with
    this function.
    """
    table, spacing = road.table, road.spacing
    n = table.shape[0]
    for k in range(xy.shape[0]):
        s, offset, near, found = _search_road(road, xy[k, 0], xy[k, 1], near)
        if found == _BETWEEN_ROWS:
            u, offset = _project_bracketed(road, near, near + 1 if near + 1 < n else 0, xy[k, 0], xy[k, 1])
            s = (near + u) * spacing
        out[k, 0] = s
        out[k, 1] = offset
    return near


@jit
def column_at_many(road: RoadTable, s: Array, column: int, out: Array) -> None:
    """Write `column` at each of the stations `s` (m,) into `out` (m,), as `column_at` returns it."""
    for k in range(s.shape[0]):
        out[k] = column_at(road, s[k], column)


@jit
def surface_points(road: RoadTable, s: Array, offset: Array, out: Array) -> None:
    """Write x, y, z, yaw at each of `s` (m,) and `offset` (m,) into `out` (m, 4), as `surface_point` returns them."""
    for k in range(s.shape[0]):
        out[k, 0], out[k, 1], out[k, 2], out[k, 3] = surface_point(road, s[k], offset[k])
