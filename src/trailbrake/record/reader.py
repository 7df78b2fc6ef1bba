"""`Recording`: a recorded drive as arrays.

Opening reads the file's skeleton; rows and messages are unpacked when somebody asks for them.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trailbrake.errors import DataError, UsageError, near
from trailbrake.laps import LapRecord
from trailbrake.record import cdr
from trailbrake.record.format import (
    ABOUT,
    CAMERA,
    CAMERA_LAYOUT,
    CONTROLS,
    EVENT,
    LAP,
    MAP,
    PLAN,
    STATE,
    VERSION_KEY,
    WIRE,
    Topic,
    column_names,
    fields,
)
from trailbrake.record.migrate import Table, migrate
from trailbrake.record.scan import Layout, Message, Rows, chunks, scan
from trailbrake.state.tables import CONTROL_COLUMNS, SCHEMA_VERSION, STATE_COLUMNS, Column

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Lap(LapRecord):
    """A finished lap. `end` is the simulator time (s) at which it was counted, `row` the first row behind it."""

    end: float
    row: int


@dataclass(frozen=True)
class Event:
    """Something that happened at simulator time `time` (s)."""

    time: float
    text: str


@dataclass(frozen=True)
class Picture:
    """What the camera showed at a row of the recording, as it came: JPEG or PNG."""

    row: int
    data: bytes


@dataclass(frozen=True)
class RoadMap:
    """Centre and edges of the road, (n, 2) arrays of x and y (m)."""

    centre: Array
    left: Array
    right: Array
    closed: bool


@dataclass(frozen=True)
class PlannedLine:
    """The line the driver meant to drive: distance, position (m) and speed (m/s)."""

    s: Array
    x: Array
    y: Array
    speed: Array


class Columns(Mapping[str, Array]):
    """The rows of one topic by column name. A declared column that was not recorded is all NaN."""

    def __init__(self, recorded: Table, declared: tuple[Column, ...], rows: int) -> None:
        self._recorded = recorded
        self._names = [*recorded, *(c.name for c in declared if c.name not in recorded)]
        self._rows = rows

    def __getitem__(self, name: str) -> Array:
        if name in self._recorded:
            column = self._recorded[name]
            if not column.flags.c_contiguous:  # a stride through the rows: straighten it once
                column = self._recorded[name] = np.ascontiguousarray(column)
            return column
        if name in self._names:
            return np.full(self._rows, math.nan)
        raise KeyError(f"no column {name!r}; {near(name, self._names)}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class Recording:
    """A recorded drive. Made by `Recording.open`.

    Attributes:
        path: the file.
        about: what was driven, as the recorder was told.
        wire: how the wire did, counters of both its ends; empty in a file that was cut.
    """

    def __init__(self, path: Path, layout: Layout) -> None:
        self.path = path
        self._layout = layout
        self._topics = {channel.topic: channel.id for channel in layout.channels.values()}
        self._version = self._schema_version()
        self.about = self._attached(ABOUT)
        self.wire = self._attached(WIRE)

    @classmethod
    def open(cls, path: str | Path) -> "Recording":
        """Open a recording.

        Raises:
            UsageError: there is no such file, or it cannot be read.
            DataError: it is not a recording, or a newer one than this version understands.
        """
        path = Path(path)
        try:
            with path.open("rb") as file:
                layout = scan(file)
        except OSError as error:
            raise UsageError("cannot read the recording", where=str(path), got=error.strerror or str(error)) from error
        except ValueError as error:
            raise DataError(
                "not a recording", where=str(path), expected="an MCAP file", got=_first_bytes(path)
            ) from error
        if not any(schema.name == STATE.schema_name for schema in layout.schemas.values()):
            if layout.complete or layout.chunks:
                topics = ", ".join(sorted(c.topic for c in layout.channels.values())) or "nothing"
                raise DataError("an MCAP file, but not of trailbrake", where=str(path), expected="/state", got=topics)
            raise DataError("the recording was cut before anything was in it", where=str(path))
        return cls(path, layout)

    def _schema_version(self) -> int:
        channel = self._layout.channels.get(self._topics.get(STATE.name, -1))
        text = channel.metadata.get(VERSION_KEY, "") if channel else str(SCHEMA_VERSION)
        if not text.isdecimal() or not 1 <= int(text) <= SCHEMA_VERSION:
            raise DataError(
                "a recording of a newer trailbrake", where=str(self.path),
                expected=f"schema version 1 to {SCHEMA_VERSION}", got=text or "none", hint="upgrade trailbrake",
            )  # fmt: skip
        return int(text)

    def _attached(self, name: str) -> dict[str, Any]:
        try:
            values = json.loads(self._layout.attachments.get(name, b"{}"))
        except ValueError:
            return {}
        return values if isinstance(values, dict) else {}

    @cached_property
    def _row_names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        names = []
        for topic in (STATE, CONTROLS):
            channel = self._layout.channels.get(self._topics.get(topic.name, -1))
            schema = self._layout.schemas.get(channel.schema_id) if channel else None
            try:
                names.append(column_names(schema.data.decode()) if schema else ())
            except ValueError as error:
                raise DataError(str(error), where=f"{self.path}, schema of {topic.name}") from error
        return names[0], names[1]

    def _gather(self, with_rows: bool) -> tuple[Rows, bool]:
        ids = (self._topics.get(STATE.name, -1), self._topics.get(CONTROLS.name, -2))
        state_names, controls_names = self._row_names
        pictures = self._topics.get(CAMERA.name, -3)  # too many to be held all at once: see `pictures`
        rows, damaged = Rows(ids, (len(state_names), len(controls_names)), {pictures}), False
        wanted = set(ids) if with_rows else set(self._topics.values()) - {*ids, pictures}
        places = [p for p in self._layout.chunks if p.channels is None or p.channels & wanted]
        with self.path.open("rb") as file:
            for data in chunks(file, places):
                if data is None:
                    damaged = True
                else:
                    rows.add(data)
        return rows, damaged

    @cached_property
    def _tables(self) -> tuple[Columns, Columns, NDArray[np.int64], bool]:
        gathered, damaged = self._gather(with_rows=True)
        tables = gathered.tables()
        by_name = [
            {name: table[:, i] for i, name in enumerate(names)}
            for table, names in zip(tables, self._row_names, strict=True)
        ]
        state, controls = migrate(by_name[0], by_name[1], self._version)
        rows = len(tables[0])
        ticks = gathered.ticks()[:rows]
        return Columns(state, STATE_COLUMNS, rows), Columns(controls, CONTROL_COLUMNS, rows), ticks, damaged

    @cached_property
    def _messages(self) -> list[Message]:
        return self._gather(with_rows=False)[0].messages

    def _decoded(self, topic: Topic) -> Iterator[tuple[Message, dict[str, Any]]]:
        """Yield the messages of `topic`, read by the schema they were recorded with."""
        channel = self._layout.channels.get(self._topics.get(topic.name, -1))
        if channel is None:
            return
        wanted = fields(topic.definition)
        try:
            schema = self._layout.schemas[channel.schema_id]
            layout = fields(schema.data.decode())
            if any(layout.get(name) != kind for name, kind in wanted.items()):
                raise ValueError(f"expected the fields {', '.join(wanted)}, got {', '.join(layout)}")
            for message in self._messages:
                if message.channel == channel.id:
                    yield message, cdr.decode(layout, message.data)
        except (LookupError, ValueError) as error:
            raise DataError(str(error), where=f"{self.path}, {topic.name}") from error

    def __len__(self) -> int:
        """Return how many ticks there are."""
        return len(self.state["time"])

    @property
    def state(self) -> Columns:
        """What the simulator told, by the column names of `state.tables.STATE_COLUMNS`."""
        return self._tables[0]

    @property
    def controls(self) -> Columns:
        """What the driver answered, by the column names of `state.tables.CONTROL_COLUMNS`."""
        return self._tables[1]

    @property
    def truncated(self) -> bool:
        """Whether the end, or a damaged stretch, is missing."""
        return not self._layout.complete or self._tables[3]

    @cached_property
    def laps(self) -> list[Lap]:
        """The finished laps."""
        ticks = self._tables[2]
        return [
            Lap(
                number=v["number"],
                time_s=v["time_s"],
                valid=v["valid"],
                sectors_s=tuple(v["sectors_s"].tolist()),
                invalid_reason=v["invalid_reason"],
                off_track_s=v["off_track_s"],
                contacts=v["contacts"],
                end=message.log_time / 1e9,
                row=int(np.searchsorted(ticks, message.tick)),
            )
            for message, v in self._decoded(LAP)
        ]

    @cached_property
    def events(self) -> list[Event]:
        """What the supervisor, the driver and the link had to say."""
        return [Event(m.log_time / 1e9, v["text"]) for m, v in self._decoded(EVENT)]

    def pictures(self) -> Iterator[Picture]:
        """Yield the camera's pictures in their order, one chunk of the file in memory at a time.

        Those that belong to no row of the recording, as the last ones in a file that was cut, are left out.
        """
        channel = self._topics.get(CAMERA.name, -1)
        ticks = self._tables[2]
        places = [p for p in self._layout.chunks if p.channels is None or channel in p.channels]
        with self.path.open("rb") as file:
            for data in chunks(file, places):
                rows = Rows((-1, -2), (0, 0), set(self._topics.values()) - {channel})
                rows.add(data or b"")
                for message in rows.messages:
                    row = int(np.searchsorted(ticks, message.tick))
                    if row < len(ticks) and ticks[row] == message.tick:
                        try:
                            yield Picture(row, cdr.decode(CAMERA_LAYOUT, message.data)["data"])
                        except ValueError as error:
                            raise DataError(str(error), where=f"{self.path}, {CAMERA.name}") from error

    @cached_property
    def road_map(self) -> RoadMap | None:
        """The road, if it was known."""
        for _, v in self._decoded(MAP):
            parts = [np.column_stack([v[f"{p}_x"], v[f"{p}_y"]]) for p in ("centre", "left", "right")]
            return RoadMap(parts[0], parts[1], parts[2], v["closed"])
        return None

    @cached_property
    def plan(self) -> PlannedLine | None:
        """The planned line, if there was one."""
        for _, v in self._decoded(PLAN):
            return PlannedLine(v["s"], v["x"], v["y"], v["speed"])
        return None


def _first_bytes(path: Path) -> str:
    with path.open("rb") as file:
        start = file.read(8)
    return f"a file that begins with {start!r}" if start else "an empty file"
