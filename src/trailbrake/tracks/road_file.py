"""Roads as tables in a CSV file, one row for each step along the road. `trailbrake learn` writes them.

The first line marks the file, the second names the columns. Rows are at equal steps along the road.

    # trailbrake road, closed = false, spacing_m = 1.5
    x_m,y_m,z_m,yaw_rad,curvature_1pm,grade,bank_rad,w_left_m,w_right_m,runoff_left_m,runoff_right_m,grip
"""

import math
import re
from pathlib import Path

import numpy as np

from trailbrake.arrays import Array
from trailbrake.errors import DataError, OsErrors
from trailbrake.tracks.road import Road
from trailbrake.tracks.road_columns import RoadColumn

MARK = "# trailbrake road"
_HEAD = re.compile(rf"{MARK}, closed = (true|false), spacing_m = ([0-9.eE+-]+)\s*")
COLUMNS = {
    "x_m": RoadColumn.X, "y_m": RoadColumn.Y, "z_m": RoadColumn.Z, "yaw_rad": RoadColumn.YAW,
    "curvature_1pm": RoadColumn.CURVATURE, "grade": RoadColumn.GRADE, "bank_rad": RoadColumn.BANK,
    "w_left_m": RoadColumn.WIDTH_LEFT, "w_right_m": RoadColumn.WIDTH_RIGHT, "runoff_left_m": RoadColumn.RUNOFF_LEFT,
    "runoff_right_m": RoadColumn.RUNOFF_RIGHT, "grip": RoadColumn.GRIP,
}  # fmt: skip
_DECIMALS = 6
_LARGEST = 1e6
_STEPS = (0.2, 10.0)  # m between rows
_SPACING_TOLERANCE = 0.2  # relative difference of the distance of neighbouring rows from one step


def write_road(path: Path, road: Road) -> None:
    """Write `road` to the file `path`; UsageError where that fails."""
    lines = [f"{MARK}, closed = {str(road.closed).lower()}, spacing_m = {road.spacing!r}", ",".join(COLUMNS)]
    table = road.table[:, list(COLUMNS.values())]
    lines += [",".join(f"{value:.{_DECIMALS}f}" for value in row) for row in table.tolist()]
    with OsErrors("cannot write the track", where=str(path)):
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def is_road_file(data: bytes) -> bool:
    """Return whether the bytes of a file begin like a road file."""
    return data.removeprefix(b"\xef\xbb\xbf").startswith(MARK.encode())


def parse_road(text: str, where: str) -> Road:
    """Return the road in a file's text; `where` names the file in errors.

    Raises:
        DataError: naming the line: another header or other columns, cells that are no numbers, rows at unequal steps.
    """
    lines = text.replace("\r\n", "\n").rstrip("\n").split("\n")
    head = _HEAD.fullmatch(lines[0])
    spacing = _parse_float(head.group(2)) if head else math.nan
    if head is None or not _STEPS[0] <= spacing <= _STEPS[1]:
        wanted = f"{MARK}, closed = true|false, spacing_m = {_STEPS[0]:g}..{_STEPS[1]:g}"
        raise DataError("no head of a road", where=f"{where}:1", expected=wanted, got=lines[0][:80])
    if len(lines) < 2 or lines[1].strip().split(",") != list(COLUMNS):
        got = lines[1][:120] if len(lines) > 1 else "no second line"
        raise DataError("wrong columns", where=f"{where}:2", expected=",".join(COLUMNS), got=got)
    rows = []
    for number, line in enumerate(lines[2:], 3):
        cells = [_parse_float(cell) for cell in line.split(",")]
        if len(cells) != len(COLUMNS) or not all(abs(cell) <= _LARGEST for cell in cells):
            raise DataError(
                "no row of a road", where=f"{where}:{number}", expected=f"{len(COLUMNS)} numbers", got=line[:80]
            )
        rows.append(cells)
    if len(rows) < 8:
        raise DataError("too few rows", where=where, expected="8 or more", got=str(len(rows)))
    columns = dict(zip(COLUMNS.values(), np.array(rows).T, strict=True))
    closed = head.group(1) == "true"
    _check_spacing(columns[RoadColumn.X], columns[RoadColumn.Y], spacing, closed, where)
    for column in (
        RoadColumn.WIDTH_LEFT,
        RoadColumn.WIDTH_RIGHT,
        RoadColumn.RUNOFF_LEFT,
        RoadColumn.RUNOFF_RIGHT,
        RoadColumn.GRIP,
    ):
        if (columns[column] < 0.0).any():
            number = int((columns[column] < 0.0).argmax()) + 3
            raise DataError(f"negative {column.name.lower()}", where=f"{where}:{number}", expected="0 or more")
    return Road.from_columns(
        spacing,
        closed,
        columns[RoadColumn.X],
        columns[RoadColumn.Y],
        columns[RoadColumn.YAW],
        columns[RoadColumn.CURVATURE],
        z=columns[RoadColumn.Z],
        grade=columns[RoadColumn.GRADE],
        bank=columns[RoadColumn.BANK],
        width_left=columns[RoadColumn.WIDTH_LEFT],
        width_right=columns[RoadColumn.WIDTH_RIGHT],
        runoff_left=columns[RoadColumn.RUNOFF_LEFT],
        runoff_right=columns[RoadColumn.RUNOFF_RIGHT],
        grip=columns[RoadColumn.GRIP],
    )


def _parse_float(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return math.nan


def _check_spacing(x: Array, y: Array, spacing: float, closed: bool, where: str) -> None:
    ahead = np.hypot(np.diff(x, append=x[:1]), np.diff(y, append=y[:1]))
    steps = ahead if closed else ahead[:-1]
    off = np.abs(steps / spacing - 1.0)
    k = int(off.argmax())
    if not off[k] <= _SPACING_TOLERANCE:
        raise DataError(
            "rows at unequal steps", where=f"{where}:{k + 3}", expected=f"{spacing:g} m", got=f"{steps[k]:.3f} m",
            hint="make the file anew with `trailbrake learn`",
        )  # fmt: skip
