"""Rows of a recording, read chunk by chunk: a recording of any length takes little memory.

`RowReader` counts the rows of each chunk once, by unpacking all of them or by their message indexes, and then unpacks
only the chunks that a request touches. The first chunks stay in memory, up to KEPT_BYTES, so that a short recording is
unpacked once.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array
from trailbrake.errors import suggest_names
from trailbrake.record.mcap_scan import (
    MAX_INDEXED_ROWS,
    ChunkLocation,
    RowCollector,
    collect_signal_rows,
    read_chunks,
    read_log_times,
)
from trailbrake.state.tables import RecordColumn

Parsed = TypeVar("Parsed")

KEPT_BYTES = 48 << 20  # bytes of unpacked chunks that stay in memory
STATE, CONTROLS = 0, 1  # which table of a RowReader


class RecordedColumns(Mapping[str, Array]):
    """Rows of one topic by column name. A declared column that was not recorded is all NaN.

    Args:
        recorded: the names of the columns that are there.
        declared: further columns, which may be missing.
        rows: how many.
        load: returns one recorded column; called once for each.
    """

    def __init__(
        self, recorded: Sequence[str], declared: Sequence[RecordColumn], rows: int, load: Callable[[str], Array]
    ) -> None:
        self._recorded = frozenset(recorded)
        self._names = [*recorded, *(c.name for c in declared if c.name not in self._recorded)]
        self._rows, self._load = rows, load
        self._loaded: dict[str, Array] = {}

    def __getitem__(self, name: str) -> Array:
        if name in self._loaded:
            return self._loaded[name]
        if name in self._recorded:
            column = self._loaded[name] = self._load(name)
            return column
        if name in self._names:
            return np.full(self._rows, np.nan)
        raise KeyError(f"no column {name!r}; {suggest_names(name, self._names)}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class RecordedRows(NamedTuple):
    """Some rows of a recording: its states, controls and signals."""

    state: RecordedColumns
    controls: RecordedColumns
    signals: RecordedColumns


class ChunkRows(NamedTuple):
    """The rows of one chunk: (n, width) parts of each table, and the ticks of the states."""

    tables: tuple[list[Array], list[Array]]
    ticks: list[NDArray[np.uint32]]


class ParsedChunks(Generic[Parsed]):
    """Chunks, unpacked and parsed on request.

    Args:
        places: where they are.
        parse: makes rows of the records of a chunk, without copying them.

    Attributes:
        found_damage: whether one of those that were read does not unpack.
    """

    def __init__(self, places: Sequence[ChunkLocation], parse: Callable[[bytes], Parsed]) -> None:
        self._places, self._parse = places, parse
        self._kept: dict[int, Parsed] = {}
        self._kept_bytes = 0
        self.found_damage = False

    def __len__(self) -> int:
        return len(self._places)

    def read_parsed(self, numbers: Sequence[int]) -> Iterator[Parsed | None]:
        """Yield the rows of the chunks with these numbers, None for a damaged one."""
        unpacked = read_chunks([self._places[number] for number in numbers if number not in self._kept])
        for number in numbers:
            if number in self._kept:
                yield self._kept[number]
                continue
            data = next(unpacked)
            parsed = None if data is None else self._parse(data)
            self.found_damage = self.found_damage or data is None
            if parsed is not None and data is not None and self._kept_bytes + len(data) <= KEPT_BYTES:
                self._kept[number] = parsed
                self._kept_bytes += len(data)
            yield parsed


class RowReader:
    """The rows of /state and /controls.

    Args:
        places: the chunks that may have rows.
        channels: ids of the state and the controls channel.
        widths: how many columns they have.
        skipped_channels: ids of channels whose messages are not looked at.
        verify: count the rows by unpacking every chunk, so that none of a damaged one counts. Without, the message
            indexes count, and a damaged chunk has rows of NaN.
    """

    def __init__(
        self,
        places: Sequence[ChunkLocation],
        channels: tuple[int, int],
        widths: tuple[int, int],
        skipped_channels: Collection[int],
        verify: bool = True,
    ) -> None:
        def parse(data: bytes) -> ChunkRows:
            found = RowCollector(channels, widths, skipped_channels)
            found.add_chunk(data)
            return ChunkRows(found.row_parts, found.ticks_seen)

        self._places, self._channels, self._verify = places, channels, verify
        self._chunks = ParsedChunks(places, parse)
        self._first_ticks: dict[int, int | None] = {}

    @cached_property
    def _scan(self) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64]], NDArray[np.uint32], bool]:
        """The first row of each chunk in both tables, with the total behind; the ticks; whether a chunk is damaged."""
        counts: tuple[list[int], list[int]] = ([], [])
        ticks: list[NDArray[np.uint32]] = []
        damaged = False
        for chunk in self._chunks.read_parsed(range(len(self._chunks))):
            damaged = damaged or chunk is None
            for table in (STATE, CONTROLS):
                counts[table].append(sum(map(len, chunk.tables[table])) if chunk is not None else 0)
            # Copies: a view would keep the whole chunk in memory.
            ticks += [part.copy() for part in chunk.ticks] if chunk is not None else []
        starts = (np.cumsum([0, *counts[STATE]]), np.cumsum([0, *counts[CONTROLS]]))
        return starts, np.concatenate(ticks) if ticks else np.empty(0, dtype=np.uint32), damaged

    @cached_property
    def _index_counts(self) -> tuple[list[int], list[int]] | None:
        """How many rows of both tables each chunk has, by the indexes; None where every chunk has to be unpacked."""
        if self._verify:
            return None
        counts: tuple[list[int], list[int]] = ([], [])
        for number, place in enumerate(self._places):
            if place.indexes is None:  # the file was cut between the chunk and its index, or has no indexes
                (chunk,) = self._chunks.read_parsed([number])
                found = [sum(map(len, table)) for table in chunk.tables] if chunk is not None else [0, 0]
            else:
                found = [place.count_messages(channel) or 0 for channel in self._channels]
            for table in (STATE, CONTROLS):
                counts[table].append(found[table])
        return counts if max(map(sum, counts)) <= MAX_INDEXED_ROWS else None

    @cached_property
    def _starts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first row of each chunk in both tables, with the total behind."""
        if self._index_counts is None:
            return self._scan[0]
        state, controls = self._index_counts
        return np.cumsum([0, *state]), np.cumsum([0, *controls])

    def __len__(self) -> int:
        """Return how many rows both tables have."""
        return int(min(self._starts[STATE][-1], self._starts[CONTROLS][-1]))

    def read_ticks(self, rows: slice) -> NDArray[np.uint32]:
        """Return which tick each of some rows is, ascending; the step is positive. A gap is a tick that is not there.

        A row of a damaged chunk has the tick of the row before it.
        """
        if self._index_counts is None:
            return self._scan[1][: len(self)][rows]
        first, stop, step = rows.indices(len(self))
        chosen = self._find_chunks(STATE, range(first, stop))
        start = int(self._starts[STATE][chosen.start]) if chosen else 0
        ticks = np.zeros(max(0, stop - start), dtype=np.uint32)
        for number, chunk in zip(chosen, self._chunks.read_parsed(chosen), strict=True):
            found = np.concatenate(chunk.ticks) if chunk is not None and chunk.ticks else np.empty(0, dtype=np.uint32)
            at = int(self._starts[STATE][number]) - start
            room = ticks[at : int(self._starts[STATE][number + 1]) - start]
            room[: len(found)] = found[: len(room)]
        return np.maximum.accumulate(ticks)[first - start :: step]

    def find_row(self, tick: int) -> int:
        """Return the first row that is not before a tick."""
        if self._index_counts is None:
            return int(np.searchsorted(self._scan[1][: len(self)], tick))
        low, high = 0, len(self._chunks)  # the first chunk that begins with this tick or a later one is among these
        while low < high:
            middle = (low + high) // 2
            # A damaged chunk has no tick: the next one that has decides.
            found = ((n, first) for n in range(middle, high) if (first := self._read_first_tick(n)) is not None)
            known, first_tick = next(found, (middle, tick))
            if first_tick < tick:
                low = known + 1
            else:
                high = middle
        if not low:
            return 0
        (chunk,) = self._chunks.read_parsed([low - 1])
        assert chunk is not None
        row = int(self._starts[STATE][low - 1]) + int(np.searchsorted(np.concatenate(chunk.ticks), tick))
        return min(row, len(self))

    def _read_first_tick(self, number: int) -> int | None:
        if number not in self._first_ticks:
            (chunk,) = self._chunks.read_parsed([number])
            found = chunk is not None and any(map(len, chunk.ticks))
            self._first_ticks[number] = int(np.concatenate(chunk.ticks)[0]) if chunk is not None and found else None
        return self._first_ticks[number]

    def read_times(self) -> Array | None:
        """Return (rows,) the log times, s, by the message indexes; None where the rows have to be unpacked for them."""
        counts = self._index_counts
        if counts is None:
            return None
        return read_log_times(self._places, self._channels[STATE], counts[STATE])[: len(self)]

    @property
    def damaged(self) -> bool:
        """Whether a chunk does not unpack; without `verify`, one of those that were read."""
        return self._scan[2] if self._index_counts is None else self._chunks.found_damage

    def _find_chunks(self, table: int, rows: range) -> range:
        if not rows:
            return range(0)
        starts = self._starts[table]
        return range(
            int(np.searchsorted(starts, rows[0], side="right")) - 1,
            int(np.searchsorted(starts, rows[-1], side="right")),
        )

    def read_columns(self, table: int, columns: Sequence[int], rows: slice) -> Array:
        """Return (columns, rows): the rows of STATE or CONTROLS within `rows`, whose step is positive."""
        first, stop, step = rows.indices(len(self))
        wanted = range(first, stop, step)
        out = np.full((len(columns), len(wanted)), np.nan)
        if not wanted or not len(columns):
            return out
        starts, chosen = self._starts[table], self._find_chunks(table, wanted)
        for number, chunk in zip(chosen, self._chunks.read_parsed(chosen), strict=True):
            at = int(starts[number])
            for part in chunk.tables[table] if chunk is not None else ():
                # Of this part's rows, `skip` is the first that is wanted.
                skip = first - at if at <= first else -(at - first) % step
                taken = part[skip : max(stop - at, 0) : step]
                if len(taken):
                    place = (at + skip - first) // step
                    for line, column in enumerate(columns):
                        out[line, place : place + len(taken)] = taken[:, column]
                at += len(part)
        return out


class SignalReader:
    """The rows of /signals.

    Args:
        places: the chunks that may have some.
        channel: id of the channel.
        names: of its columns.
        read_ticks: returns the ticks of rows of the recording, ascending.
    """

    def __init__(
        self,
        places: Sequence[ChunkLocation],
        channel: int,
        names: Sequence[str],
        read_ticks: Callable[[slice], NDArray[np.uint32]],
    ) -> None:
        self._names, self._read_ticks = list(names), read_ticks
        self._chunks = ParsedChunks(places, lambda data: collect_signal_rows(data, channel, len(names)))

    @cached_property
    def _spans(self) -> NDArray[np.int64]:
        """(chunks, 2): the lowest and the highest tick in each; no span where there are no rows."""
        spans = np.full((len(self._chunks), 2), -1, dtype=np.int64)
        for number, chunk in enumerate(self._chunks.read_parsed(range(len(self._chunks)))):
            if chunk is not None and len(chunk[0]):
                spans[number] = chunk[0].min(), chunk[0].max()
        return spans

    def read_columns(self, columns: Sequence[int], rows: slice) -> Array:
        """Return (columns, rows): the signals of `rows`, NaN where a tick has none."""
        ticks = self._read_ticks(rows)
        out = np.full((len(columns), len(ticks)), np.nan)
        if not len(ticks) or not len(columns):
            return out
        first, last = int(ticks.min()), int(ticks.max())
        chosen = np.flatnonzero((self._spans[:, 1] >= first) & (self._spans[:, 0] <= last)).tolist()
        for chunk in self._chunks.read_parsed(chosen):
            if chunk is None:
                continue
            found, values = chunk
            where = np.searchsorted(ticks, found)
            known = ticks[np.minimum(where, len(ticks) - 1)] == found
            for line, column in enumerate(columns):
                out[line, where[known]] = values[known, column]
        return out

    def make_columns(self, rows: slice, names: Sequence[str]) -> RecordedColumns:
        """Return the signals `names` of some rows, read now."""
        values = self.read_columns([self._names.index(name) for name in names], rows)
        return make_loaded_columns(names, values, ())


def make_loaded_columns(names: Sequence[str], values: Array, declared: Sequence[RecordColumn]) -> RecordedColumns:
    """Return the columns of `values` (columns, rows) by name."""
    lines = {name: line for line, name in enumerate(names)}
    return RecordedColumns(names, declared, values.shape[1], lambda name: values[lines[name]])
