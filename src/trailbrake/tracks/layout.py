"""Track files of straights and arcs (TOML): their schema, checked, with the line in every error.

A file names the track and lists its segments in driving order. Lengths in m, angles in degrees, turns and bank in ISO
8855 senses: a turn is positive to the left, bank is positive right side down.

    title = "Hartmoor"
    text = "One line about it."
    closed = true
    width = 12.0

    [[segment]]
    straight = 400.0
    adjust = true        # may be lengthened or shortened to close the circuit

    [[segment]]
    radius = 35.0
    turn = -110.0
    z = 4.0              # height at the segment's end

    [[drs]]              # where rear wings may be opened, m along the centreline; without any: on the longest straights
    detection = 1900.0   # where the gap to the car ahead is measured
    begin = 2100.0
    end = 300.0          # beyond the line
"""

import math
from dataclasses import dataclass, field
from typing import Any

from trailbrake.errors import DataError, suggest_names
from trailbrake.tracks.track import SURFACES, DrsZone
from trailbrake.user_files import parse_toml


@dataclass(frozen=True)
class LayoutSegment:
    """One straight or arc.

    Attributes:
        length: m.
        turn: rad, change of direction, positive left; 0 for a straight.
        adjust: whether closing the circuit may change the length (straights).
        transition: m, length of the clothoid into this segment, half of it on either side of the joint; None for the
            builder's choice.
        width: m, edge to edge.
        bank: rad, positive right side down.
        z: m, height at the end; None where the heights before and after decide.
        grip: friction factor of the surface.
        where: file and line, for errors.
        name: of the bend or straight for people, "" for none.
    """

    length: float
    turn: float
    adjust: bool
    transition: float | None
    width: float
    bank: float
    z: float | None
    grip: float
    where: str
    name: str = ""

    @property
    def curvature(self) -> float:
        """Curvature before transitions, 1/m, positive left."""
        return self.turn / self.length


@dataclass(frozen=True)
class TrackLayout:
    """A track file.

    Attributes:
        title: the track's name for people.
        text: one line about it.
        closed: whether it is a circuit.
        runoff: m from either edge to the wall.
        off_road: name of the surface beyond the edges.
        kerbs: whether a circuit gets kerbs (`kerbs.py`).
        spacing: m between rows of the road.
        z: m, height of the start line.
        start: x (m), y (m), yaw (rad) of the start line, at the start of the first segment.
        segments: in driving order.
        drs_zones: of the road; None: not stated.
    """

    title: str
    text: str
    closed: bool
    runoff: float
    off_road: str
    kerbs: bool
    spacing: float
    z: float
    start: tuple[float, float, float]
    segments: list[LayoutSegment] = field(default_factory=list)
    drs_zones: tuple[DrsZone, ...] | None = None


_ROAD_KEYS = {"title", "text", "closed", "width", "runoff", "surface", "off_road", "kerbs", "spacing", "z", "bank",
              "start", "segment", "drs"}  # fmt: skip
_SEGMENT_KEYS = {"straight", "radius", "turn", "adjust", "transition", "width", "bank", "z", "surface", "name"}


class _TomlTable:
    # One TOML table: each method checks type and range, and errors name the file and the line.
    def __init__(self, table: dict[str, Any], where: str, known: set[str]) -> None:
        self.table, self.where = table, where
        for key in table:
            if key not in known:
                raise DataError(f"unknown key {key}", where=where, hint=suggest_names(key, sorted(known)))

    def read_number(self, key: str, default: float | None, lo: float, hi: float) -> float:
        value = self.table.get(key, default)
        if value is None:
            raise DataError(f"{key} is missing", where=self.where)
        fine = isinstance(value, int | float) and not isinstance(value, bool) and lo <= value <= hi
        if not fine:
            raise DataError(f"{key} is out of range", where=self.where, expected=f"{lo:g} .. {hi:g}", got=repr(value))
        return float(value)

    def read_text(self, key: str, default: str) -> str:
        value = self.table.get(key, default)
        if not isinstance(value, str):
            raise DataError(f"{key} is no text", where=self.where, got=repr(value))
        return value

    def read_flag(self, key: str, default: bool) -> bool:
        value = self.table.get(key, default)
        if not isinstance(value, bool):
            raise DataError(f"{key} is neither true nor false", where=self.where, got=repr(value))
        return value

    def read_surface(self, key: str, default: str) -> str:
        name = self.read_text(key, default)
        if name not in SURFACES:
            raise DataError(f"unknown surface {name}", where=self.where, hint=suggest_names(name, sorted(SURFACES)))
        return name


def parse_layout(text: str, where: str) -> TrackLayout:
    """Return the layout in a track file's text; `where` names the file in errors.

    Raises:
        DataError: naming the line: no TOML, unknown or missing keys, numbers out of range, no segments.
    """
    data = parse_toml(text, where)
    top = _TomlTable(data, where, _ROAD_KEYS)
    tables = data.get("segment")
    if not isinstance(tables, list) or not tables or not all(isinstance(t, dict) for t in tables):
        raise DataError("no [[segment]] in the track", where=where, expected="straights and arcs in driving order")
    start = data.get("start", [0.0, 0.0, 0.0])
    if not isinstance(start, list) or len(start) != 3 or not all(isinstance(v, int | float) for v in start):
        raise DataError("start is wrong", where=where, expected="[x, y, heading in degrees]", got=repr(start))
    heads = [n for n, line in enumerate(text.splitlines(), 1) if line.replace(" ", "").startswith("[[segment]]")]
    return TrackLayout(
        title=top.read_text("title", ""),
        text=top.read_text("text", ""),
        closed=top.read_flag("closed", True),
        runoff=top.read_number("runoff", 8.0, 0.0, 1000.0),
        off_road=top.read_surface("off_road", "grass"),
        kerbs=top.read_flag("kerbs", True),
        spacing=top.read_number("spacing", 1.5, 0.5, 5.0),
        z=top.read_number("z", 0.0, -1e4, 1e4),
        start=(float(start[0]), float(start[1]), math.radians(start[2])),
        segments=[
            _read_segment(table, top, f"{where}:{heads[i]}" if i < len(heads) else where)
            for i, table in enumerate(tables)
        ],
        drs_zones=_read_drs_zones(data["drs"], where) if "drs" in data else None,
    )


def _read_drs_zones(tables: Any, where: str) -> tuple[DrsZone, ...]:
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise DataError("drs is no list of tables", where=where, expected="drs = [], or [[drs]] with its places")
    rows = [_TomlTable(table, where, set(DrsZone._fields)) for table in tables]
    return tuple(DrsZone(*(row.read_number(key, None, 0.0, 1e5) for key in DrsZone._fields)) for row in rows)


def _read_segment(table: dict[str, Any], top: _TomlTable, where: str) -> LayoutSegment:
    row = _TomlTable(table, where, _SEGMENT_KEYS)
    if ("straight" in table) == ("radius" in table):
        raise DataError(
            "segment is neither a straight nor an arc", where=where, expected="straight, or radius and turn"
        )
    if "straight" in table:
        length, turn = row.read_number("straight", None, 1.0, 20_000.0), 0.0
    else:
        turn = math.radians(row.read_number("turn", None, -360.0, 360.0))
        length = row.read_number("radius", None, 5.0, 20_000.0) * abs(turn)
        if length < 1.0:
            raise DataError("arc is shorter than 1 m", where=where, got=f"{length:.2f} m")
    return LayoutSegment(
        length=length,
        turn=turn,
        adjust=row.read_flag("adjust", False) and turn == 0.0,
        transition=row.read_number("transition", None, 1.0, 500.0) if "transition" in table else None,
        width=row.read_number("width", top.read_number("width", 12.0, 2.5, 5000.0), 2.5, 5000.0),
        bank=math.radians(row.read_number("bank", top.read_number("bank", 0.0, -45.0, 45.0), -45.0, 45.0)),
        z=row.read_number("z", None, -1e4, 1e4) if "z" in table else None,
        grip=SURFACES[row.read_surface("surface", top.read_surface("surface", "asphalt"))].grip,
        where=where,
        name=row.read_text("name", ""),
    )
