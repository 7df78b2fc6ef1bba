"""Rows of a recording, read chunk by chunk: a recording of any length takes little memory.

`RowReader` counts the rows of each chunk once and then unpacks only the chunks that a request touches. The first
chunks stay in memory, up to KEPT_BYTES, so that a short recording is unpacked once.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from trailbrake.errors import suggest_names
from trailbrake.record.mcap_scan import ChunkLocation, RowCollector, read_chunks
from trailbrake.record.signal_rows import collect_signal_rows
from trailbrake.state.tables import RecordColumn

Array = NDArray[np.float64]
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
    """

    def __init__(self, places: Sequence[ChunkLocation], parse: Callable[[bytes], Parsed]) -> None:
        self._places, self._parse = places, parse
        self._kept: dict[int, Parsed] = {}
        self._kept_bytes = 0

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
    """

    def __init__(
        self,
        places: Sequence[ChunkLocation],
        channels: tuple[int, int],
        widths: tuple[int, int],
        skipped_channels: Collection[int],
    ) -> None:
        def parse(data: bytes) -> ChunkRows:
            found = RowCollector(channels, widths, skipped_channels)
            found.add_chunk(data)
            return ChunkRows(found.row_parts, found.ticks_seen)

        self._chunks = ParsedChunks(places, parse)

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

    def __len__(self) -> int:
        """Return how many rows both tables have."""
        starts = self._scan[0]
        return int(min(starts[STATE][-1], starts[CONTROLS][-1]))

    @property
    def ticks(self) -> NDArray[np.uint32]:
        """Which tick each row is. A gap is a tick that is not in the file."""
        return self._scan[1][: len(self)]

    @property
    def damaged(self) -> bool:
        """Whether a chunk does not unpack."""
        return self._scan[2]

    def read_columns(self, table: int, columns: Sequence[int], rows: slice) -> Array:
        """Return (columns, rows): the rows of STATE or CONTROLS within `rows`, whose step is positive."""
        first, stop, step = rows.indices(len(self))
        wanted = range(first, stop, step)
        out = np.full((len(columns), len(wanted)), np.nan)
        if not wanted or not len(columns):
            return out
        starts = self._scan[0][table]
        chosen = range(
            int(np.searchsorted(starts, first, side="right")) - 1,
            int(np.searchsorted(starts, wanted[-1], side="right")),
        )
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
        ticks: of the recording's rows, ascending.
    """

    def __init__(
        self, places: Sequence[ChunkLocation], channel: int, names: Sequence[str], ticks: NDArray[np.uint32]
    ) -> None:
        self._names, self._ticks = list(names), ticks
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
        ticks = self._ticks[rows]
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
