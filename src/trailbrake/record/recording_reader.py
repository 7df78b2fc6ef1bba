"""`Recording`: a recorded drive as arrays.

Opening reads the file's skeleton; rows and messages are unpacked on first use.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array
from trailbrake.errors import DataError, UsageError, describe_os_error
from trailbrake.laps import LapRecord, find_best_lap
from trailbrake.record import cdr
from trailbrake.record.format import (
    ABOUT,
    CAMERA,
    CAMERA_LAYOUT,
    CONTROLS,
    EVENT,
    LAP,
    LAP_LAYOUT,
    MAP,
    NAMES_KEY,
    PLAN,
    REQUEST,
    REWIND,
    SIGNALS_NAME,
    STATE,
    VERSION_KEY,
    WIRE,
    WIRE_DELAY,
    Topic,
    parse_column_names,
    parse_fields,
)
from trailbrake.record.mcap_scan import ChunkLocation, McapIndex, RecordedMessage, RowCollector, read_chunks
from trailbrake.record.parted_file import load_attachment, scan_recording
from trailbrake.record.row_reader import RecordedColumns, RecordedRows, RowReader, SignalReader, make_loaded_columns
from trailbrake.state.tables import CONTROL_COLUMNS, SCHEMA_VERSION, STATE_COLUMNS
from trailbrake.user_files import open_user_file, parse_json

if TYPE_CHECKING:
    from trailbrake.record.run_frame import Telemetry

MAX_WIRE_DELAY = 1.0  # s
SCAN_ROWS = 100_000  # rows at a time, where only one column is read
_DECLARED = (STATE_COLUMNS, CONTROL_COLUMNS)  # by the table of a RowReader


@dataclass(frozen=True)
class RecordedLap(LapRecord):
    """A finished lap.

    Attributes:
        end: when it crossed the line, s of `Recording.race_times`.
        first: its first row.
        row: the first row behind it.
        recording: that it is a part of.
    """

    first: int = 0
    row: int = 0
    recording: "Recording | None" = field(default=None, repr=False, compare=False)

    def telemetry(self) -> "Telemetry":
        """Return its rows, without those that were undone."""
        from trailbrake.record.run_frame import Telemetry  # which reads recordings

        if self.recording is None:
            raise UsageError("a lap of no recording", where=f"lap {self.number}", hint="recording.laps has such laps")
        return Telemetry(self.recording, slice(self.first, self.row), self.number)

    def __getitem__(self, name: str) -> object:
        """Return an attribute, as of a lap of `drive --json`."""
        return getattr(self, name)


class RecordedLaps(list[RecordedLap]):
    """The finished laps of a recording in their order."""

    def best(self) -> RecordedLap:
        """Return the quickest valid lap, the quickest where none is valid; UsageError without laps."""
        best = find_best_lap(self)
        if best is None:
            raise UsageError("no lap was finished", where="laps.best", hint="recording.state has all rows")
        return self[best]


class RecordedRewind(NamedTuple):
    """Rows that the simulator has undone, from `first` to before `stop`, and how long they took, s.

    None: the lap or the session began anew at `stop`.
    """

    first: int
    stop: int
    seconds: float


class RecordedRequest(NamedTuple):
    """What a driver sent beside the controls of a row: fields of `SimCommand`, and `custom`, its free values."""

    row: int
    values: dict[str, Any]


@dataclass(frozen=True)
class RecordedEvent:
    """Something that happened at simulator time `time` (s)."""

    time: float
    text: str


@dataclass(frozen=True)
class RecordedPicture:
    """The camera's image at a row of the recording, still encoded: JPEG or PNG."""

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
    """The planned line: distance, position (m) and speed (m/s)."""

    s: Array
    x: Array
    y: Array
    speed: Array


class Recording:
    """A recorded drive. Made by `Recording.open`.

    Attributes:
        path: the file.
        paths: all files of the recording, `path` first.
        about: sim, driver, track, car, seed, versions and date of the drive.
        wire_delay: s of simulator time from a sample until its answer is in force, by the host's protocol; 0 where the
            file does not state it.
        wire: counters of both ends of the wire; empty in a file that was cut.
        show_share: receives the share of the rows that is read, for a bar of progress.
    """

    def __init__(self, paths: list[Path], layout: McapIndex, verify: bool = True) -> None:
        self.path, self.paths, self._verify = paths[0], paths, verify
        self._container = layout
        self._channel_ids = {channel.topic: channel.id for channel in layout.channels.values()}
        self._check_schema_version()
        self.show_share: Callable[[float], None] = lambda share: None
        self.about = load_attachment(layout, ABOUT)
        self.wire = load_attachment(layout, WIRE)
        delay = self.about.get(WIRE_DELAY, 0.0)
        self.wire_delay = float(delay) if isinstance(delay, (int, float)) and 0.0 <= delay <= MAX_WIRE_DELAY else 0.0

    @classmethod
    def open(cls, path: str | Path, *, join: bool = True, verify: bool = True) -> "Recording":
        """Open a recording.

        Args:
            path: a file. The first one of a long drive stands for the whole drive, a later one for itself.
            join: False: the first one stands for itself, too.
            verify: unpack all of the file to count its rows: those of a damaged stretch are left out. Without, the
                file's own index counts, and rows of a damaged stretch are NaN; an hour opens in a fraction of a second.

        Raises:
            UsageError: there is no such file, or it cannot be read.
            DataError: it is not a recording, or a newer one than this version understands.
        """
        path = Path(path)
        try:
            layout, paths = scan_recording(path, join=join)
        except OSError as error:
            raise UsageError("cannot read the recording", where=str(path), got=describe_os_error(error)) from error
        except ValueError as error:
            raise DataError(
                "not a recording", where=str(path), expected="an MCAP file", got=_first_bytes(path)
            ) from error
        if not any(schema.name == STATE.schema_name for schema in layout.schemas.values()):
            if layout.complete or layout.chunks:
                topics = ", ".join(sorted(c.topic for c in layout.channels.values())) or "nothing"
                raise DataError("an MCAP file, but not of trailbrake", where=str(path), expected="/state", got=topics)
            raise DataError("the recording was cut before anything was in it", where=str(path))
        return cls(paths, layout, verify)

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self.path, self.paths[0], len(self.paths) > 1, self._verify)

    def __fspath__(self) -> str:
        return str(self.path)

    def check_output(self, out: Path, what: str) -> None:
        """Raise UsageError if `out`, the file of a `what`, is of this recording, or the log that it was read from."""
        own = [self.path, self.path.with_suffix(".ldx"), *self.paths]
        if out.resolve() in [path.resolve() for path in own]:
            raise UsageError(f"the {what} would overwrite the recording", where=str(out), hint="give another --out")

    def _check_schema_version(self) -> None:
        channel = self._container.channels.get(self._channel_ids.get(STATE.name, -1))
        text = channel.metadata.get(VERSION_KEY, "") if channel else str(SCHEMA_VERSION)
        if text not in map(str, range(1, SCHEMA_VERSION + 1)):
            raise DataError(
                "a recording of a newer trailbrake", where=str(self.path),
                expected=f"schema version 1 to {SCHEMA_VERSION}", got=text[:40] or "none", hint="upgrade trailbrake",
            )  # fmt: skip

    @cached_property
    def _row_names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        names = []
        for topic in (STATE, CONTROLS):
            channel = self._container.channels.get(self._channel_ids.get(topic.name, -1))
            schema = self._container.schemas.get(channel.schema_id) if channel else None
            try:
                names.append(parse_column_names(schema.data.decode()) if schema else ())
            except ValueError as error:
                raise DataError(str(error), where=f"{self.path}, schema of {topic.name}") from error
        return names[0], names[1]

    @cached_property
    def _rows(self) -> RowReader:
        ids = (self._channel_ids.get(STATE.name, -1), self._channel_ids.get(CONTROLS.name, -2))
        state_names, controls_names = self._row_names
        apart = set(self._channel_ids.values()) - {*ids}
        widths = len(state_names), len(controls_names)
        return RowReader(self._find_places({*ids}), ids, widths, apart, self._verify)

    def _find_places(self, channels: set[int]) -> list[ChunkLocation]:
        """Return the chunks that may have messages of these channels."""
        return [place for place in self._container.chunks if place.may_have(channels)]

    @cached_property
    def _other_messages(self) -> list[RecordedMessage]:
        """All messages but rows and pictures, which are too many to be held all at once."""
        apart = {self._channel_ids.get(name, -1) for name in (STATE.name, CONTROLS.name, CAMERA.name, SIGNALS_NAME)}
        messages: list[RecordedMessage] = []
        for data in read_chunks(self._find_places(set(self._channel_ids.values()) - apart)):
            found = RowCollector((-1, -2), (0, 0), apart)
            found.add_chunk(data or b"")
            messages += found.messages
        return messages

    def _decode_topic(self, topic: Topic) -> Iterator[tuple[RecordedMessage, dict[str, Any]]]:
        """Yield the messages of `topic`, read by the schema they were recorded with."""
        channel = self._container.channels.get(self._channel_ids.get(topic.name, -1))
        if channel is None:
            return
        wanted = parse_fields(topic.definition)
        try:
            schema = self._container.schemas[channel.schema_id]
            layout = parse_fields(schema.data.decode())
            if any(layout.get(name) != kind for name, kind in wanted.items()):
                raise ValueError(f"expected the fields {', '.join(wanted)}, got {', '.join(layout)}")
            for message in self._other_messages:
                if message.channel == channel.id:
                    yield message, cdr.decode_message(layout, message.data)
        except (LookupError, ValueError) as error:
            raise DataError(str(error), where=f"{self.path}, {topic.name}") from error

    def __len__(self) -> int:
        """Return how many ticks there are."""
        return len(self._rows)

    @cached_property
    def state(self) -> RecordedColumns:
        """The states, by the column names of `state.tables.STATE_COLUMNS`."""
        return self._make_columns(0)

    @cached_property
    def controls(self) -> RecordedColumns:
        """The controls, by the column names of `state.tables.CONTROL_COLUMNS`."""
        return self._make_columns(1)

    def _make_columns(self, table: int) -> RecordedColumns:
        reader, names = self._rows, self._row_names[table]
        lines = {name: line for line, name in enumerate(names)}
        return RecordedColumns(
            names, _DECLARED[table], len(reader), lambda name: reader.read_columns(table, [lines[name]], slice(None))[0]
        )

    @cached_property
    def signals(self) -> RecordedColumns:
        """The selected signals by name, as `beamng.fuel`; no columns where the drive selected none."""
        found = self._signals
        if found is None:
            return RecordedColumns((), (), len(self), lambda name: np.empty(0))
        reader, names = found
        lines = {name: line for line, name in enumerate(names)}
        return RecordedColumns(
            names, (), len(self), lambda name: reader.read_columns([lines[name]], slice(None))[0]
        )  # fmt: skip

    @cached_property
    def _signals(self) -> tuple[SignalReader, list[str]] | None:
        """The reader of /signals and the names of its columns; None where the drive selected none."""
        channel = self._container.channels.get(self._channel_ids.get(SIGNALS_NAME, -1))
        if channel is None:
            return None
        try:
            columns = parse_column_names(self._container.schemas[channel.schema_id].data.decode())
            names = parse_json(channel.metadata.get(NAMES_KEY, "[]"), NAMES_KEY)
        except (LookupError, ValueError, DataError) as error:
            raise DataError(str(error), where=f"{self.path}, {SIGNALS_NAME}") from error
        if not isinstance(names, list) or len(names) != len(columns):
            names = list(columns)
        names = [str(name) for name in names]
        return SignalReader(self._find_places({channel.id}), channel.id, names, self._rows.read_ticks), names

    def read_rows(
        self, rows: slice, columns: Collection[str] | None = None, signals: Sequence[str] | None = None
    ) -> RecordedRows:
        """Return some rows, which are all that is read: for recordings too long to be held in memory.

        Args:
            rows: which; its step is positive.
            columns: of the state and the controls; None for all.
            signals: None for all.
        """
        self.show_share(rows.indices(len(self))[0] / max(1, len(self)))
        tables = []
        for table, names in enumerate(self._row_names):
            lines = [line for line, name in enumerate(names) if columns is None or name in columns]
            values = self._rows.read_columns(table, lines, rows)
            tables.append(make_loaded_columns([names[line] for line in lines], values, _DECLARED[table]))
        found = self._signals
        if found is None:
            read = RecordedColumns((), (), 0, lambda name: np.empty(0))
        else:
            read = found[0].make_columns(rows, found[1] if signals is None else signals)
        return RecordedRows(tables[0], tables[1], read)

    def iterate_rows(
        self, size: int, columns: Collection[str] | None = None, signals: Sequence[str] | None = None
    ) -> Iterator[RecordedRows]:
        """Yield all rows, `size` at a time; the other arguments are those of `read_rows`."""
        for start in range(0, len(self), size):
            yield self.read_rows(slice(start, start + size), columns, signals)

    @cached_property
    def has_yaw_rate(self) -> bool:
        """Whether any row has a yaw rate."""
        blocks = self.iterate_rows(SCAN_ROWS, ("yaw_rate",), ())
        return any(np.isfinite(block.state["yaw_rate"]).any() for block in blocks)

    @property
    def truncated(self) -> bool:
        """Whether the end, or a damaged stretch, is missing; without `verify`, a stretch that has been read."""
        return not self._container.complete or self._rows.damaged

    @cached_property
    def laps(self) -> RecordedLaps:
        """The finished laps, without those that were undone."""
        times, shift = self.race_times, self._rewound_times
        restarts = (np.flatnonzero(np.diff(times) < 0.0) + 1).tolist()
        restarts += [rewind.stop for rewind in self.rewinds if rewind.first == rewind.stop]
        found = RecordedLaps()
        for message, record in self._decode_laps():
            row = self._rows.find_row(message.tick)
            end = message.log_time / 1e9 - (float(shift[row - 1]) if row else 0.0)
            first = max([found[-1].row if found else 0, *(restart for restart in restarts if restart < row)])
            first += int(np.searchsorted(times[first:row], end - record["time_s"] - 1e-9))
            found.append(RecordedLap(**record, end=end, first=first, row=row, recording=self))
        return found

    @cached_property
    def rewinds(self) -> list[RecordedRewind]:
        """What the simulator has undone: its rows belong to no lap."""
        find_row = self._rows.find_row
        return [
            RecordedRewind(find_row(max(m.tick - 1 - v["samples"], 0)), find_row(max(m.tick - 1, 0)), v["seconds"])
            for m, v in self._decode_topic(REWIND)
        ]

    @cached_property
    def undone(self) -> NDArray[np.bool_]:
        """(n,) whether the simulator has undone a row."""
        mask = np.zeros(len(self), np.bool_)
        for first, stop, _ in self.rewinds:
            mask[first:stop] = True
        return mask

    @cached_property
    def _rewound_times(self) -> Array:
        """(n,) s of simulator time that were undone before each row."""
        shift = np.zeros(len(self))
        for first, stop, seconds in self.rewinds:
            shift[stop:] = (shift[first - 1] if first else 0.0) + seconds
        return shift

    @cached_property
    def race_times(self) -> Array:
        """(n,) simulator time of each row without what was undone, s; where it is not known, interpolated."""
        times = np.where(self.undone, np.nan, self.row_times - self._rewound_times)
        good = np.isfinite(times)
        if good.all() or not good.any():
            return np.where(good, times, 0.0)
        return np.interp(np.arange(len(times)), np.flatnonzero(good), times[good])

    @cached_property
    def row_times(self) -> Array:
        """(n,) simulator time of each row, s; without `verify`, that of the row before where it was not known."""
        times = self._rows.read_times()
        return self.state["time"] if times is None else times

    def list_lap_records(self) -> list[LapRecord]:
        """Return the finished laps without their rows: reads only the chunks that have something beside rows."""
        return [LapRecord(**record) for _, record in self._decode_laps()]

    def _decode_laps(self) -> Iterator[tuple[RecordedMessage, dict[str, Any]]]:
        """Yield the message of each finished lap that was not undone, and the fields of its LapRecord."""
        undone = [(m.tick - v["samples"], m.tick) for m, v in self._decode_topic(REWIND)]
        for message, v in self._decode_topic(LAP):
            if not any(first <= message.tick < stop for first, stop in undone):
                yield message, {**{name: v[name] for name in LAP_LAYOUT}, "sectors_s": tuple(v["sectors_s"].tolist())}

    @cached_property
    def requests(self) -> list[RecordedRequest]:
        """What the driver sent beside its controls."""
        found = ((m, parse_json(v["json"], REQUEST.name)) for m, v in self._decode_topic(REQUEST))
        return [RecordedRequest(self._rows.find_row(m.tick), v) for m, v in found if isinstance(v, dict)]

    @cached_property
    def events(self) -> list[RecordedEvent]:
        """The messages of the supervisor, the driver and the link."""
        return [RecordedEvent(m.log_time / 1e9, v["text"]) for m, v in self._decode_topic(EVENT)]

    def pictures(self) -> Iterator[RecordedPicture]:
        """Yield the camera's pictures in their order, one chunk of the file in memory at a time.

        Those that belong to no row of the recording, as the last ones in a file that was cut, are left out.
        """
        channel = self._channel_ids.get(CAMERA.name, -1)
        ticks = self._rows.read_ticks(slice(None))
        for data in read_chunks(self._find_places({channel})):
            found = RowCollector((-1, -2), (0, 0), set(self._channel_ids.values()) - {channel})
            found.add_chunk(data or b"")
            for message in found.messages:
                row = int(np.searchsorted(ticks, message.tick))
                if row < len(ticks) and ticks[row] == message.tick:
                    try:
                        yield RecordedPicture(row, cdr.decode_message(CAMERA_LAYOUT, message.data)["data"])
                    except ValueError as error:
                        raise DataError(str(error), where=f"{self.path}, {CAMERA.name}") from error

    def _require_equal_lengths(self, topic: Topic, values: dict[str, Any]) -> None:
        """Raise DataError if the arrays of one line have different lengths: x and y, or all arrays of the plan."""
        lengths: dict[str, set[int]] = {}
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                lengths.setdefault(name.rpartition("_")[0], set()).add(len(value))
        if any(len(found) > 1 for found in lengths.values()):
            raise DataError("a line's arrays have different lengths", where=f"{self.path}, {topic.name}")

    @cached_property
    def road_map(self) -> RoadMap | None:
        """The road, if it was known."""
        for _, v in self._decode_topic(MAP):
            self._require_equal_lengths(MAP, v)
            parts = [np.column_stack([v[f"{p}_x"], v[f"{p}_y"]]) for p in ("centre", "left", "right")]
            return RoadMap(parts[0], parts[1], parts[2], v["closed"])
        return None

    @cached_property
    def plan(self) -> PlannedLine | None:
        """The planned line, if there was one."""
        for _, v in self._decode_topic(PLAN):
            self._require_equal_lengths(PLAN, v)
            return PlannedLine(v["s"], v["x"], v["y"], v["speed"])
        return None


def _reopen(path: Path, first: Path, join: bool, verify: bool) -> Recording:
    recording = Recording.open(first, join=join, verify=verify)
    recording.path = path  # of a lap log, that from which the file was converted
    return recording


def _first_bytes(path: Path) -> str:
    with open_user_file(path, "recording") as file:
        start = file.read(8)
    return f"a file that begins with {start!r}" if start else "an empty file"
