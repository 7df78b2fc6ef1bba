"""Between world x, y and road s, offset: compiled, cheap enough for every wheel of every car each millisecond.

Between two rows of the table the centreline is the cubic Hermite curve through both points with both tangents:
continuous in position and direction across rows and across the closing seam. `locate` solves for the foot of
the perpendicular on that curve, `point` walks the same curve, so each undoes the other to rounding.

All functions take `table` (n, len(Column)) float64, `spacing` (m between rows) and `closed` first, run on scalars,
and raise nothing. Offsets are metres to the left of the centreline.
"""

import math

import numpy as np
from numpy.typing import NDArray

from trailbrake.kernels import inline, jit, part
from trailbrake.tracks.columns import Column

Array = NDArray[np.float64]

LEAP = 4.0  # rows that a hint may be off for the quick answer of `locate`
SETTLED = 5e-5  # rows that the one Newton step of `near_foot` may go
_WALK = 24  # rows that a local search may go before it starts over: 24-48 m, more than any car moves in a tick
BEYOND_WALL = 2.0  # m past the wall at which a local answer is doubted
_TOO_FAR = 30.0  # m past the end of an open road at which a local answer is doubted
_NOTHING, _BETWEEN, _END = 0, 1, 2  # what a walk finds: no foot near by, one between two rows, one past an open end


@jit
def span(table: Array, spacing: float, closed: bool, s: float) -> tuple[int, int, float]:
    """Return rows i, j and the share u, so that a column at s is `(1 - u) * table[i] + u * table[j]`.

    s (m) wraps round on a closed road and is held at the ends of an open one. Use it to read several columns.
    """
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
def at(table: Array, spacing: float, closed: bool, s: float, column: int) -> float:
    """Return `column` at s (m), linear between rows; s wraps (closed) or is held at the ends (open).

    YAW is continuous over [0, length) and not wrapped; across the seam it goes on from the last row. For places
    use `point`, which follows the curve and extrapolates.
    """
    i, j, u = span(table, spacing, closed, s)
    first = table[i, column]
    step = table[j, column] - first
    if column == Column.YAW:
        step -= 2.0 * math.pi * math.floor(step / (2.0 * math.pi) + 0.5)
    value: float = first + u * step
    return value


@part
def _curve(table: Array, spacing: float, i: int, j: int, u: float) -> tuple[float, float, float, float, float, float]:
    # Cubic Hermite curve and its first two derivatives by u: px, py, dx, dy, ddx, ddy.
    ax = table[i, Column.X]
    ay = table[i, Column.Y]
    ex = table[j, Column.X] - ax
    ey = table[j, Column.Y] - ay
    px = spacing * table[i, Column.TANGENT_X]
    py = spacing * table[i, Column.TANGENT_Y]
    qx = spacing * table[j, Column.TANGENT_X]
    qy = spacing * table[j, Column.TANGENT_Y]
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


@part
def _ahead(table: Array, i: int, x: float, y: float) -> float:
    # How far (x, y) lies ahead of row i along its tangent, m.
    dx: float = x - table[i, Column.X]
    dy: float = y - table[i, Column.Y]
    along: float = dx * table[i, Column.TANGENT_X] + dy * table[i, Column.TANGENT_Y]
    return along


@part
def _aside(table: Array, i: int, x: float, y: float) -> float:
    # How far (x, y) lies left of row i, m.
    dx: float = x - table[i, Column.X]
    dy: float = y - table[i, Column.Y]
    left: float = dy * table[i, Column.TANGENT_X] - dx * table[i, Column.TANGENT_Y]
    return left


@jit
def _foot_bracketed(table: Array, spacing: float, i: int, j: int, x: float, y: float) -> tuple[float, float]:
    # As `_foot`, for places near the centre of a bend, where plain Newton may run away.
    ahead_i = _ahead(table, i, x, y)
    ahead_j = _ahead(table, j, x, y)
    lo, hi = 0.0, 1.0
    u = ahead_i / (ahead_i - ahead_j)
    px, py, dx, dy, ddx, ddy = _curve(table, spacing, i, j, u)
    for _ in range(20):  # Newton, kept inside the bracket; two or three rounds are usual
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
        px, py, dx, dy, ddx, ddy = _curve(table, spacing, i, j, u)
        if moved < 1e-6:  # Newton squares the error: what is left is below rounding
            break
    return u, (dx * (y - py) - dy * (x - px)) / math.sqrt(dx * dx + dy * dy)


@inline
def near_foot(
    h: float,
    ex: float,
    ey: float,
    tx: float,
    ty: float,
    qx: float,
    qy: float,
    rx: float,
    ry: float,
    here: float,
    there: float,
) -> tuple[float, float, float]:
    """Return the share u and the offset of the foot of a point on the curve between two rows, and the last step.

    f(u) = (r - p(u)) . p'(u) is nearly a straight line. What bends it is first taken from its slopes at both rows;
    from there one Newton step is mostly below 1e-6 and what is left below 1e-9 m, since Newton squares the error and
    the offset is stationary in u at the foot.

    Args:
        h: m from row to row.
        ex: from the first row to the second, m, world; likewise
        ey: its y.
        tx: unit tangent of the first row, and
        ty: its y.
        qx: unit tangent of the second, and
        qy: its y.
        rx: from the first row to the point, m, and
        ry: its y.
        here: m that the point is ahead of the first row, and
        there: of the second.
    """
    px = h * tx
    py = h * ty
    cx = px + h * qx - 2.0 * ex
    cy = py + h * qy - 2.0 * ey
    bx = ex - px - cx
    by = ey - py - cy
    fall = 1.0 / (here - there)
    scale = 2.0 * fall / h
    lean = 1.0 - h * fall
    first = lean + scale * (rx * bx + ry * by)
    last = lean + scale * ((rx - ex) * (bx + 3.0 * cx) + (ry - ey) * (by + 3.0 * cy))
    u = here * fall
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


@part
def _foot(table: Array, spacing: float, i: int, j: int, x: float, y: float) -> tuple[float, float]:
    # The share u in [0, 1] and the offset of the perpendicular's foot between rows i and j, which bracket it.
    ax = table[i, Column.X]
    ay = table[i, Column.Y]
    u, offset, step = near_foot(
        spacing,
        table[j, Column.X] - ax,
        table[j, Column.Y] - ay,
        table[i, Column.TANGENT_X],
        table[i, Column.TANGENT_Y],
        table[j, Column.TANGENT_X],
        table[j, Column.TANGENT_Y],
        x - ax,
        y - ay,
        _ahead(table, i, x, y),
        _ahead(table, j, x, y),
    )
    if step < SETTLED and 0.0 <= u <= 1.0:
        return u, offset
    return _foot_bracketed(table, spacing, i, j, x, y)


@part
def _walk(table: Array, spacing: float, closed: bool, x: float, y: float, i: int) -> tuple[int, float, float, int]:
    # Go from row i to the pair of rows that brackets the foot of (x, y). Monotone: it never turns round, and it
    # only ever stops where the distance has a minimum. Returns what was found, s, offset, row.
    n = table.shape[0]
    backwards = _ahead(table, i, x, y) < 0.0
    for _ in range(_WALK):
        if backwards:
            if i == 0 and not closed:
                return _END, _ahead(table, 0, x, y), _aside(table, 0, x, y), 0
            j = i
            i = i - 1 if i > 0 else n - 1
            if _ahead(table, i, x, y) >= 0.0:
                u, offset = _foot(table, spacing, i, j, x, y)
                return _BETWEEN, (i + u) * spacing, offset, i
        else:
            if i == n - 1 and not closed:
                return _END, i * spacing + _ahead(table, i, x, y), _aside(table, i, x, y), i
            j = i + 1 if i + 1 < n else 0
            if _ahead(table, j, x, y) < 0.0:
                u, offset = _foot(table, spacing, i, j, x, y)
                return _BETWEEN, (i + u) * spacing, offset, i
            i = j
    return _NOTHING, 0.0, 0.0, i


@part
def nearest_row(table: Array, x: float, y: float) -> int:
    """Return the row whose centreline point is nearest to (x, y); looks at every row (about 1 ns each)."""
    best = math.inf
    row = 0
    for i in range(table.shape[0]):
        dx = table[i, Column.X] - x
        dy = table[i, Column.Y] - y
        distance = dx * dx + dy * dy
        if distance < best:
            best = distance
            row = i
    return row


@part
def _plausible(table: Array, spacing: float, s: float, offset: float, i: int) -> bool:
    wall: float
    if offset >= 0.0:
        wall = table[i, Column.WIDTH_LEFT] + table[i, Column.RUNOFF_LEFT]
    else:
        wall = table[i, Column.WIDTH_RIGHT] + table[i, Column.RUNOFF_RIGHT]
    if abs(offset) > wall + BEYOND_WALL:
        return False
    inside: bool = -_TOO_FAR < s < table.shape[0] * spacing + _TOO_FAR
    return inside


@jit
def _search(table: Array, spacing: float, closed: bool, x: float, y: float, near: int) -> tuple[float, float, int, int]:
    # `locate`, whatever the hint; also returns what was found.
    n = table.shape[0]
    if 0 <= near < n:
        found, s, offset, row = _walk(table, spacing, closed, x, y, near)
        if found != _NOTHING and _plausible(table, spacing, s, offset, row):
            return s, offset, row, found
    start = nearest_row(table, x, y)
    found, s, offset, row = _walk(table, spacing, closed, x, y, start)
    if (
        found == _NOTHING
    ):  # past the centre of a bend there may be no perpendicular near by: the nearest row is the answer
        dx = x - table[start, Column.X]
        dy = y - table[start, Column.Y]
        s, row = start * spacing, start
        offset = math.copysign(math.sqrt(dx * dx + dy * dy), _aside(table, start, x, y))
    if closed and s >= n * spacing:  # rounding, just before the line
        s, row = 0.0, 0
    return s, offset, row, found


@jit
def locate(table: Array, spacing: float, closed: bool, x: float, y: float, near: int) -> tuple[float, float, int]:
    """Return where (x, y) (m, world) is on the road: s (m), offset (m, left positive) and the row before it.

    Args:
        table: the road's table.
        spacing: m between rows.
        closed: whether row n is row 0.
        x: world X, m.
        y: world Y, m.
        near: the row that an earlier call returned for this wheel or car, so that the search is local and stays
            on its own piece of road where two come close; -1 for the whole road.

    Returns:
        s in [0, length) on a closed road; below 0 or above the length beyond the ends of an open one, which go on
        straight. Smooth in x and y, rows and seam included, wherever |offset * curvature| < 1. A hint that leads
        nowhere (a teleport, a place beyond the wall) is answered by a search over the whole road.
    """
    n = table.shape[0]
    if 0 <= near < n:
        # The quick answer: for a hint that is a few rows off, where no end of the road is near.
        ax = table[near, Column.X]
        ay = table[near, Column.Y]
        leap = ((x - ax) * table[near, Column.TANGENT_X] + (y - ay) * table[near, Column.TANGENT_Y]) * (1.0 / spacing)
        if -LEAP < leap < LEAP:
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
                ax = table[i, Column.X]
                ay = table[i, Column.Y]
                px = table[i, Column.TANGENT_X]
                py = table[i, Column.TANGENT_Y]
                bx = table[j, Column.X]
                by = table[j, Column.Y]
                qx = table[j, Column.TANGENT_X]
                qy = table[j, Column.TANGENT_Y]
                here = (x - ax) * px + (y - ay) * py
                there = (x - bx) * qx + (y - by) * qy
                if here >= 0.0 and there < 0.0:
                    u, offset, step = near_foot(spacing, bx - ax, by - ay, px, py, qx, qy, x - ax, y - ay, here, there)
                    s = (i + u) * spacing
                    side = Column.WIDTH_LEFT if offset >= 0.0 else Column.WIDTH_RIGHT
                    reach = table[i, side] + table[i, side + 2] + BEYOND_WALL
                    if step < SETTLED and 0.0 <= u <= 1.0 and abs(offset) <= reach and s < n * spacing:
                        return s, offset, i
    s, offset, row, _ = _search(table, spacing, closed, x, y, near)
    return s, offset, row


@jit
def centre(table: Array, spacing: float, closed: bool, s: float) -> tuple[float, float, float, float]:
    """Return x, y (m, world) of the centreline at s (m) and its direction, a unit vector; straight beyond open ends."""
    i, j, u = span(table, spacing, closed, s)
    px, py, dx, dy, _, _ = _curve(table, spacing, i, j, u)
    speed = math.sqrt(dx * dx + dy * dy)
    tx = dx / speed
    ty = dy / speed
    if not closed:
        beyond = min(s, 0.0) + max(s - (table.shape[0] - 1) * spacing, 0.0)
        px += beyond * tx
        py += beyond * ty
    return px, py, tx, ty


@jit
def point(table: Array, spacing: float, closed: bool, s: float, offset: float) -> tuple[float, float, float, float]:
    """Return x, y, z (m, world) of the road surface and the road's yaw (rad, unwrapped) at s (m), offset (m, left).

    The inverse of `locate`: same curve, ends of an open road extrapolated straight (z by the end's grade). z counts
    the bank: centreline z + offset * tan(bank).
    """
    i, j, u = span(table, spacing, closed, s)
    px, py, tx, ty = centre(table, spacing, closed, s)
    z = table[i, Column.Z] + u * (table[j, Column.Z] - table[i, Column.Z])
    if not closed:
        beyond = min(s, 0.0) + max(s - (table.shape[0] - 1) * spacing, 0.0)
        z += beyond * table[i if s < 0.0 else j, Column.GRADE]
    bank = table[i, Column.BANK] + u * (table[j, Column.BANK] - table[i, Column.BANK])
    yaw = at(table, spacing, closed, s, Column.YAW)
    return px - offset * ty, py + offset * tx, z + offset * math.tan(bank), yaw


@jit
def locate_many(table: Array, spacing: float, closed: bool, xy: Array, near: int, out: Array) -> int:
    """Locate the points `xy` (m, 2), each with the row of the one before as its hint, the first with `near`.

    Writes s and offset into `out` (m, 2) and returns the last row. For points in order along a line. Answers are exact
    to rounding, where `locate` may be 1e-9 m off: roads and lines are made with them.
    """
    n = table.shape[0]
    for k in range(xy.shape[0]):
        s, offset, near, found = _search(table, spacing, closed, xy[k, 0], xy[k, 1], near)
        if found == _BETWEEN:
            u, offset = _foot_bracketed(table, spacing, near, near + 1 if near + 1 < n else 0, xy[k, 0], xy[k, 1])
            s = (near + u) * spacing
        out[k, 0] = s
        out[k, 1] = offset
    return near


@jit
def at_many(table: Array, spacing: float, closed: bool, s: Array, column: int, out: Array) -> None:
    """Write `column` at every s (m,) into `out` (m,); as `at`."""
    for k in range(s.shape[0]):
        out[k] = at(table, spacing, closed, s[k], column)


@jit
def point_many(table: Array, spacing: float, closed: bool, s: Array, offset: Array, out: Array) -> None:
    """Write x, y, z, yaw of every s (m,) and offset (m,) into `out` (m, 4); as `point`."""
    for k in range(s.shape[0]):
        out[k, 0], out[k, 1], out[k, 2], out[k, 3] = point(table, spacing, closed, s[k], offset[k])
