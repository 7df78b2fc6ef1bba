"""Which column of a centreline file is what: the names and units that people and tools give them."""

import re
from typing import NamedTuple

from trailbrake.errors import DataError

# Names without their unit, in lower case, by what the column is.
_NAMES = {
    "x": {"x", "east", "easting", "x_coord", "x_coordinate", "pos_x", "position_x", "center_x", "centre_x", "utm_x"},
    "y": {"y", "north", "northing", "y_coord", "y_coordinate", "pos_y", "position_y", "center_y", "centre_y", "utm_y"},
    "latitude": {"lat", "latitude"},
    "longitude": {"lon", "lng", "long", "longitude"},
    "width": {"width", "w", "track_width", "road_width", "total_width"},
    "half width": {"half_width", "halfwidth", "half_track_width"},
}
_SIDE = re.compile(r"(?:(?:w|wd|width|dist|distance|tr|track|road|edge|half|to|border)_)*(right|left|r|l)"
                   r"(?:_(?:w|width|dist|distance|tr|track|edge|border))*|w([rl])")  # fmt: skip
_METRES = {"m": 1.0, "meter": 1.0, "meters": 1.0, "metre": 1.0, "metres": 1.0, "cm": 0.01, "mm": 0.001,
           "km": 1000.0, "ft": 0.3048, "feet": 0.3048, "foot": 0.3048}  # fmt: skip
_DEGREES = ("deg", "degree", "degrees")
_PLACE = (("x", "y"), ("longitude", "latitude"))
_SIDES = (("right", "left"), ("width",), ("half width",))
EXPECTED = ("x and y (or latitude and longitude), and width_right and width_left, or width, or half_width; "
            "with _m, _km, _cm or _ft behind them")  # fmt: skip


class Column(NamedTuple):
    """A column: its number, and by what it is multiplied: to m, of a place in degrees by 1."""

    number: int
    factor: float


def find_columns(names: list[str], where: str, *, is_comment: bool = False) -> dict[str, Column] | None:
    """Return the columns of a header by what they are: x, y, latitude, longitude, right, left, width, half width.

    Args:
        names: cells of the header.
        where: file and line, for errors.
        is_comment: whether the line is a comment that need not be a header.

    Returns:
        None for a comment that is no header. Other columns are left out.

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
    if is_comment and not any(set(place) <= set(found) for place in _PLACE):
        return None
    place = next((each for each in _PLACE if set(each) <= set(found)), ())
    sides = next((each for each in _SIDES if set(each) <= set(found)), ())
    if not place or not sides:
        raise DataError("columns that are not understood", where=where, expected=EXPECTED, got=", ".join(names))
    return {role: found[role] for role in (*place, *sides)}


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
