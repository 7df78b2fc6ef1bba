"""Files of centreline points (`x_m,y_m,w_tr_right_m,w_tr_left_m`): text in, checked points out.

Every fault is one DataError that names file and line.
"""

import math
from dataclasses import dataclass

import numpy as np

from trailbrake.errors import DataError
from trailbrake.tracks.geometry import Array, first_crossing
from trailbrake.user_files import decode_user_text

COLUMNS = ("x_m", "y_m", "w_tr_right_m", "w_tr_left_m")
MAX_BYTES = 16_000_000
MAX_POINTS = 30_000  # the Nordschleife at less than a metre; more take too long to check for crossings
MIN_POINTS = 8
MIN_LENGTH = 60.0  # m, a loop that a car can drive
MAX_LENGTH = 100_000.0  # m
MIN_WIDTH = 2.5  # m, a car and some 0.1 m on either side
MAX_WIDTH = 250.0  # m on either side
MAX_GAP = 120.0  # m between neighbouring points
MAX_COORDINATE = 1e6  # m
_SAME = 0.01  # m, points nearer than this are one point
_REVERSAL = math.radians(150.0)  # a turn from one chord to the next that no road makes


@dataclass(frozen=True)
class CentrelinePoints:
    """The usable points of a file, in driving order round a loop.

    Attributes:
        x: (n,) m, world.
        y: (n,) m, world.
        right: (n,) m from the point to the right edge.
        left: (n,) m to the left edge.
        lines: (n,) line number of each point in the file.
    """

    x: Array
    y: Array
    right: Array
    left: Array
    lines: list[int]


def parse_points(data: bytes, where: str) -> CentrelinePoints:
    """Return the points in the bytes of a file; `where` names the file in errors.

    Raises:
        DataError: naming the file, the line and the fault.
    """
    rows, lines = _parse_rows(decode_user_text(data, where), where)
    if len(rows) > 1 and math.hypot(rows[0][0] - rows[-1][0], rows[0][1] - rows[-1][1]) < _SAME:
        rows.pop()  # the first point repeated at the end
        lines.pop()
    if len(rows) < MIN_POINTS:
        raise DataError("too few points", where=where, expected=f"{MIN_POINTS} or more", got=str(len(rows)))
    x, y, right, left = np.array(rows, np.float64).T.copy()
    points = CentrelinePoints(x, y, right, left, lines)
    _check_shape(points, where)
    return points


def _split_cells(line: str) -> list[str]:
    if ";" in line:  # the CSV of countries with a decimal comma
        return [cell.strip().replace(",", ".") for cell in line.split(";")]
    return [cell.strip() for cell in line.split("," if "," in line else None)]


def _parse_number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _parse_rows(text: str, where: str) -> tuple[list[list[float]], list[int]]:
    rows: list[list[float]] = []
    lines: list[int] = []
    order: list[int] | None = None
    width = len(COLUMNS)
    for number, raw in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        line = raw.strip()
        header = line.startswith("#") or (not rows and order is None and not any(c in "0123456789" for c in line[:1]))
        if not line:
            continue
        if header:
            names = [name.lower() for name in _split_cells(line.lstrip("# "))]
            if set(COLUMNS) <= set(names):
                order, width = [names.index(name) for name in COLUMNS], len(names)
                continue
            if line.startswith("#") or all(_parse_number(name) is None for name in names):
                continue
        if len(rows) >= MAX_POINTS:
            raise DataError("too many points", where=f"{where}:{number}", expected=f"{MAX_POINTS} at most")
        rows.append(_parse_row(_split_cells(line), order, width, f"{where}:{number}"))
        lines.append(number)
    if not rows:
        raise DataError("no points", where=where, expected=f"lines of {','.join(COLUMNS)}", got="an empty track")
    return rows, lines


def _parse_row(cells: list[str], order: list[int] | None, width: int, where: str) -> list[float]:
    while len(cells) > width and not cells[-1]:  # trailing separators
        cells.pop()
    if len(cells) != width:
        columns = ",".join(COLUMNS)
        raise DataError("wrong number of columns", where=where, expected=f"{width} ({columns})", got=str(len(cells)))
    values: list[float] = []
    for name, cell in zip(COLUMNS, (cells[i] for i in order) if order else cells, strict=True):
        value = _parse_number(cell)
        limit = MAX_COORDINATE if name in ("x_m", "y_m") else MAX_WIDTH
        if value is None or not abs(value) <= limit:  # NaN fails the comparison too
            raise DataError(f"{name} is no usable number", where=where, expected=f"m, within {limit:g}", got=repr(cell))
        values.append(value)
    if values[2] < 0.0 or values[3] < 0.0:
        raise DataError("negative width", where=where, expected="distances to the edges", got=f"{min(values[2:])} m")
    if values[2] + values[3] < MIN_WIDTH:
        got = f"{values[2] + values[3]:.2f} m"
        raise DataError("road narrower than a car", where=where, expected=f"{MIN_WIDTH} m or more", got=got)
    return values


def _check_shape(points: CentrelinePoints, where: str) -> None:
    x, y, lines = points.x, points.y, points.lines
    dx, dy = np.roll(x, -1) - x, np.roll(y, -1) - y
    gap = np.hypot(dx, dy)
    k = int(gap.argmin())
    after = lines[(k + 1) % len(lines)]
    if gap[k] < _SAME:
        raise DataError("duplicate point", where=f"{where}:{after}", got=f"the same place as line {lines[k]}")
    k = int(gap[:-1].argmax())
    if gap[k] > MAX_GAP:
        got = f"{gap[k]:.1f} m from line {lines[k]}"
        raise DataError("gap in the centreline", where=f"{where}:{lines[k + 1]}", expected=f"<= {MAX_GAP:g} m", got=got)
    if gap[-1] > MAX_GAP:
        got = f"{gap[-1]:.1f} m from the last point to the first"
        raise DataError("the circuit does not close", where=f"{where}:{lines[-1]}", expected="a loop", got=got)
    if not MIN_LENGTH <= gap.sum() <= MAX_LENGTH:
        what = "track too short" if gap.sum() < MIN_LENGTH else "track too long"
        wanted = f"{MIN_LENGTH:g} .. {MAX_LENGTH:g} m"
        raise DataError(what, where=where, expected=wanted, got=f"{gap.sum():.1f} m")
    i, j = first_crossing(x, y, True, float(gap.max()))
    if i >= 0:
        got = f"lines {lines[i]} and {lines[j]} at about x {x[i]:.1f}, y {y[i]:.1f}"
        raise DataError("the centreline crosses itself", where=f"{where}:{lines[j]}", expected="a simple loop", got=got)
    turn = np.abs(np.angle(np.exp(1j * (np.arctan2(dy, dx) - np.arctan2(np.roll(dy, 1), np.roll(dx, 1))))))
    k = int(turn.argmax())
    if turn[k] > _REVERSAL:
        got = f"a turn of {math.degrees(turn[k]):.0f} deg at one point"
        raise DataError("the centreline doubles back", where=f"{where}:{lines[k]}", expected="a road", got=got)
