"""Files of centreline points: text in, checked points out. Every fault is one DataError that names file and line.

Columns that have names are taken by their names and units; without a header they are
`x_m,y_m,w_tr_right_m,w_tr_left_m`. Latitude and longitude become m east and north of the first point, and places
beyond MAX_COORDINATE (UTM) m from the first point's whole 100 km.
"""

import csv
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from trailbrake.arrays import Array
from trailbrake.errors import DataError, replace_controls
from trailbrake.tracks.centreline_smoothing import MeasuredLine
from trailbrake.tracks.geo_lines import GeoLine, measure_geo_lines
from trailbrake.tracks.geometry import first_crossing, project_places
from trailbrake.tracks.measured_road import MeasuredPoints
from trailbrake.user_files import decode_user_text

# Names without their unit, in lower case, by what the column is.
_NAMES = {
    "x": {"x", "east", "easting", "x_coord", "x_coordinate", "pos_x", "position_x", "center_x", "centre_x", "utm_x",
          "x_ref"},
    "y": {"y", "north", "northing", "y_coord", "y_coordinate", "pos_y", "position_y", "center_y", "centre_y", "utm_y",
          "y_ref"},
    "latitude": {"lat", "latitude"},
    "longitude": {"lon", "lng", "long", "longitude"},
    "width": {"width", "w", "track_width", "road_width", "total_width"},
    "height": {"z", "height", "altitude", "alt", "elevation", "elev", "ele"},
    "half width": {"half_width", "halfwidth", "half_track_width"},
}  # fmt: skip
_SIDE = re.compile(r"(?:(?:w|wd|width|dist|distance|tr|track|road|edge|half|to|border)_)*(right|left|r|l)"
                   r"(?:_(?:w|width|dist|distance|tr|track|edge|border))*|w([rl])")  # fmt: skip
_METRES = {"m": 1.0, "meter": 1.0, "meters": 1.0, "metre": 1.0, "metres": 1.0, "cm": 0.01, "mm": 0.001,
           "km": 1000.0, "ft": 0.3048, "feet": 0.3048, "foot": 0.3048}  # fmt: skip
_DEGREES = ("deg", "degree", "degrees")
_PLACE = (("x", "y"), ("longitude", "latitude"))
_SIDES = (("right", "left"), ("width",), ("half width",))
EXPECTED = ("x and y (or latitude and longitude), and width_right and width_left, or width, or half_width; "
            "with _m, _km, _cm or _ft behind them; perhaps height; latitude and longitude also alone")  # fmt: skip
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
_UTM_STEP = 1e5  # m
_MAX_UTM = 1e7  # m: northings of the southern half
_LIMITS = {
    "x": (_MAX_UTM, "m"),
    "y": (_MAX_UTM, "m"),
    "longitude": (180.0, "degrees"),
    "latitude": (90.0, "degrees"),
    "height": (9000.0, "m"),
}
_NAMED_COLUMNS, _LONGEST_NAME = 8, 40  # columns that a note names, and characters of each
_SAME = 0.01  # m, points nearer than this are one point
_REVERSAL = math.radians(150.0)  # a turn from one chord to the next that no road makes


class Column(NamedTuple):
    """A column: its number, and by what it is multiplied: to m, of a place in degrees by 1."""

    number: int
    factor: float


def find_columns(names: list[str], where: str) -> dict[str, Column]:
    """Return the columns of a header by what they are: x, y, latitude, longitude, right, left, width, height, ...

    Args:
        names: cells of the header.
        where: file and line, for errors.

    Returns:
        Those that are needed, and height; others are left out.

    Raises:
        DataError: the columns that are needed are not among them, or one of them is there twice.
    """
    found: dict[str, Column] = {}
    for index, name in enumerate(names):
        role, factor = _read_name(name)
        if role in found:
            raise DataError(f"two columns for {role}", where=where, got=f"{names[found[role].number]} and {name}")
        if role:
            found[role] = Column(index, factor)
    place = next((each for each in _PLACE if set(each) <= set(found)), ())
    sides = next((each for each in _SIDES if set(each) <= set(found)), ())
    if not place or not (sides or "latitude" in place):
        raise DataError("columns that are not understood", where=where, expected=EXPECTED, got=", ".join(names))
    return {role: found[role] for role in (*place, *sides, "height") if role in found}


def _read_name(name: str) -> tuple[str, float]:
    """Return what a column is, "" for something else, and by what its numbers are multiplied."""
    plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    base, _, unit = plain.rpartition("_")
    factor = 1.0
    if base and unit in _METRES:
        plain, factor = base, _METRES[unit]
    elif base and unit in _DEGREES:
        plain = base
    for role, known in _NAMES.items():
        if plain in known:
            return role, factor
    side = _SIDE.fullmatch(plain)
    if side is None:
        return "", factor
    return "right" if (side[1] or side[2]).startswith("r") else "left", factor


class _PointRows(NamedTuple):
    """Rows of x, y, right, left and height (NaN: not known), and their lines in the file.

    Attributes:
        rows: m, or degrees of longitude and latitude in place of x and y.
        lines: line number of each row.
        in_degrees: whether x and y are degrees.
        left_out: names of the columns that are not read.
    """

    rows: list[list[float]]
    lines: list[int]
    in_degrees: bool
    left_out: list[str]


_BY_PLACE = {name: Column(index, 1.0) for index, name in enumerate(("x", "y", "right", "left"))}


@dataclass(frozen=True)
class CentrelinePoints:
    """The usable points of a file, in driving order round a loop.

    Attributes:
        x: (n,) m, world.
        y: (n,) m, world.
        right: (n,) m from the point to the right edge.
        left: (n,) m to the left edge.
        height: (n,) m; NaN where not known.
        lines: (n,) line number of each point in the file.
    """

    x: Array
    y: Array
    right: Array
    left: Array
    height: Array
    lines: list[int]


def parse_points(data: bytes, where: str) -> CentrelinePoints:
    """Return the points in the bytes of a file; `where` names the file in errors.

    Raises:
        DataError: naming the file, the line and the fault.
    """
    rows, lines, in_degrees, _ = _parse_rows(decode_user_text(data, where), where)
    if rows[0][2] != rows[0][2]:
        raise DataError("columns without widths", where=where, expected=EXPECTED)
    rows = _place_rows(rows, in_degrees)
    if len(rows) > 1 and math.hypot(rows[0][0] - rows[-1][0], rows[0][1] - rows[-1][1]) < _SAME:
        rows.pop()  # the first point repeated at the end
        lines.pop()
    if len(rows) < MIN_POINTS:
        raise DataError("too few points", where=where, expected=f"{MIN_POINTS} or more", got=str(len(rows)))
    x, y, right, left, height = np.array(rows, np.float64).T.copy()
    points = CentrelinePoints(x, y, right, left, height, lines)
    _check_shape(points, where)
    return points


def parse_measured_points(data: bytes, where: str) -> MeasuredPoints:
    """Return the points in the bytes of a file as those of a road; latitudes and longitudes may be without widths.

    The notes name what is not read.

    Raises:
        DataError: naming the file, the line and the fault.
    """
    parsed = _parse_rows(decode_user_text(data, where), where)
    notes = _describe_unread(parsed)
    if parsed.in_degrees and parsed.rows[0][2] != parsed.rows[0][2]:
        longitude, latitude, _, _, height = np.array(parsed.rows).T
        points = measure_geo_lines([GeoLine("", np.radians(latitude), np.radians(longitude), height)], where)
        return points._replace(notes=(*points.notes, *notes))
    found = parse_points(data, where)
    height = found.height if np.isfinite(found.height).all() else None
    return MeasuredPoints(MeasuredLine(found.x, found.y, found.right, found.left), height, closed=True, notes=notes)


def _describe_unread(parsed: _PointRows) -> tuple[str, ...]:
    """Return what of a file is not read, one part of a sentence each."""
    names = [replace_controls(name[:_LONGEST_NAME]) for name in parsed.left_out[:_NAMED_COLUMNS]]
    more = len(parsed.left_out) - len(names)
    unread = [f"columns not read: {', '.join(names)}" + (f" and {more} more" if more else "")] if names else []
    heights = [row[4] == row[4] for row in parsed.rows]
    if any(heights) and not all(heights) and not parsed.in_degrees:
        unread.append(f"heights not read, {heights.count(False)} of {len(heights)} are missing")
    return tuple(unread)


def _split_cells(line: str) -> list[str]:
    if '"' in line:
        cells = next(csv.reader([line], delimiter=";" if ";" in line else ",", skipinitialspace=True))
        return [cell.strip().replace(",", ".") for cell in cells]  # a comma that is left is a decimal one
    if ";" in line:  # the CSV of countries with a decimal comma
        return [cell.strip().replace(",", ".") for cell in line.split(";")]
    return [cell.strip() for cell in line.split("," if "," in line else None)]


def _parse_number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _parse_rows(text: str, where: str) -> _PointRows:
    rows: list[list[float]] = []
    lines: list[int] = []
    columns, names = dict(_BY_PLACE), list(COLUMNS)
    comments: list[tuple[int, str]] = []
    is_named = False
    for number, raw in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        line = raw.strip()
        if not line:
            continue
        if line.startswith("#"):
            comments.append((number, line))
            continue
        cells = _split_cells(line)
        if not (rows or is_named):
            if not any(_parse_number(cell) is not None for cell in cells):
                names = _split_header(line)
                columns, is_named = find_columns(names, f"{where}:{number}"), True
                continue
            for at, comment in comments:
                named = _find_header(comment, cells, f"{where}:{at}")
                if named is not None:
                    columns, names, is_named = named, _split_header(comment), True
                    break
        if len(rows) >= MAX_POINTS:
            raise DataError("too many points", where=f"{where}:{number}", expected=f"{MAX_POINTS} at most")
        rows.append(_parse_row(cells, columns, len(names), f"{where}:{number}"))
        lines.append(number)
    if not rows:
        raise DataError("no points", where=where, expected=f"lines of {','.join(COLUMNS)}", got="an empty track")
    read = {column.number for column in columns.values()}
    left_out = [name for index, name in enumerate(names) if name and index not in read]
    return _PointRows(rows, lines, "latitude" in columns, left_out)


def _find_header(line: str, first: list[str], where: str) -> dict[str, Column] | None:
    """Return the columns by a comment above the cells of the first row; None: it is no header.

    It is one with a known name and as many cells as the row, with names of a place between separators, or with as many
    single words between separators as the row has cells.
    """
    names = _split_header(line)
    known = {_read_name(name)[0] for name in names}
    is_above = len(names) <= len(first) and not any(first[len(names) :])
    is_separated = re.search("[,;\t]", line) is not None
    has_place = is_separated and any(set(place) <= known for place in _PLACE)
    is_words = is_separated and len(names) == len(first) and all(re.fullmatch(r"[A-Za-z]\w*", name) for name in names)
    return find_columns(names, where) if has_place or is_words or (is_above and any(known)) else None


def _split_header(line: str) -> list[str]:
    names = _split_cells(line.lstrip("# "))
    while names and not names[-1]:  # trailing separators
        names.pop()
    return names


def _parse_row(cells: list[str], columns: Mapping[str, Column], width: int, where: str) -> list[float]:
    while len(cells) > width and not cells[-1]:  # trailing separators
        cells.pop()
    if len(cells) != width:
        raise DataError("wrong number of columns", where=where, expected=f"{width} ({','.join(COLUMNS)})",
                        got=str(len(cells)), hint="a header line names other columns")  # fmt: skip
    values: list[float] = []
    for name, column in columns.items():
        value = _parse_number(cells[column.number])
        if name == "height" and not cells[column.number]:
            values.append(math.nan)
            continue
        limit, unit = _LIMITS.get(name, (MAX_WIDTH, "m"))
        if value is None or not abs(value * column.factor) <= limit:  # NaN fails the comparison too
            raise DataError(f"{name} is no usable number", where=where, expected=f"{unit}, within {limit:g}",
                            got=repr(cells[column.number]))  # fmt: skip
        values.append(value * column.factor)
    height = values.pop() if "height" in columns else math.nan
    if "width" in columns:
        values[2] *= 0.5
    values += [values[2] if len(values) == 3 else math.nan] * (4 - len(values))
    if values[2] < 0.0 or values[3] < 0.0:
        raise DataError("negative width", where=where, expected="distances to the edges", got=f"{min(values[2:])} m")
    if values[2] + values[3] < MIN_WIDTH:
        got = f"{values[2] + values[3]:.2f} m"
        raise DataError("road narrower than a car", where=where, expected=f"{MIN_WIDTH} m or more", got=got)
    return [*values, height]


def _place_rows(rows: list[list[float]], in_degrees: bool) -> list[list[float]]:
    """Return rows with places in m, near enough to zero."""
    x, y = rows[0][:2]
    if in_degrees:
        longitude, latitude = np.radians(np.array(rows)[:, :2]).T
        east, north = project_places(latitude, longitude, (float(latitude[0]), float(longitude[0])))
        return [[*place, *row[2:]] for *place, row in zip(east.tolist(), north.tolist(), rows, strict=True)]
    if max(abs(x), abs(y)) <= MAX_COORDINATE:
        return rows
    x, y = (math.floor(value / _UTM_STEP) * _UTM_STEP for value in (x, y))
    return [[row[0] - x, row[1] - y, *row[2:]] for row in rows]


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
