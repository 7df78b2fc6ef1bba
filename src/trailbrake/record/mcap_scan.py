"""Reading the MCAP container: where the records are, and the rows inside the chunks.

Cut and damaged files are the normal case here: a scan ends at the first record that is not whole, and a
chunk that does not unpack is left out. Rows are read in bulk where they lie as `Recorder` wrote them, and
one by one in a file that another tool has rewritten. Message indexes say how many rows there are, and when,
without unpacking a chunk; of a damaged chunk they promise more than it has.
"""

import io
import struct
import zlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, groupby
from pathlib import Path
from typing import BinaryIO, NamedTuple

import lz4.frame
import numpy as np
import zstandard
from mcap.data_stream import ReadDataStream
from mcap.opcode import Opcode
from mcap.records import Attachment, Channel, Chunk, Schema
from numpy.typing import NDArray

from trailbrake.record.format import MAGIC, MESSAGE_FIELDS, MESSAGE_HEAD, RECORD_HEAD, row_dtype, tick_dtype

MAX_INDEXED_ROWS = 20_000_000  # of a recording: 16 hours at 333 Hz; a sparse file may claim any number
_HEAD = 6  # bytes: the channel's id and the length of the entries
_ENTRY = 16  # bytes: log time, ns, and offset in the chunk
_RECORD_HEAD = struct.Struct("<BQ")
_INDEX_CHANNEL = struct.Struct("<H")
# A damaged size must not ask for all the memory there is: a sparse file may claim, and have, any number of bytes.
_MAX_CHUNK = 1 << 28  # bytes, packed or not; a chunk is half a second of a drive
_MAX_RECORD = 1 << 26  # bytes of a schema, a channel, an attachment or an index


class MessageIndex(NamedTuple):
    """The message index of one channel of a chunk: where its content begins in the file, and how many messages."""

    offset: int
    messages: int


class ChunkLocation:
    """A chunk in a file.

    Args:
        offset: of its content, bytes.
        length: of its content, bytes.

    Attributes:
        path: the file.
        indexes: the message index of each channel in it; None where the chunk has none.
    """

    __slots__ = ("indexes", "length", "offset", "path")

    def __init__(self, offset: int, length: int) -> None:
        self.offset, self.length = offset, length
        self.path = Path()
        self.indexes: dict[int, MessageIndex] | None = None

    def add_index(self, channel: int, offset: int, length: int) -> None:
        """Note the index record of a channel, whose content has `length` bytes."""
        self.indexes = self.indexes or {}
        self.indexes[channel] = MessageIndex(offset, max(0, (length - _HEAD) // _ENTRY))

    def may_have(self, channels: set[int]) -> bool:
        """Return whether there may be messages of these channels in it."""
        return self.indexes is None or not channels.isdisjoint(self.indexes)

    def count_messages(self, channel: int) -> int | None:
        """Return how many messages of a channel its index names; None where it has no index."""
        if self.indexes is None:
            return None
        index = self.indexes.get(channel)
        return index.messages if index is not None else 0


def read_log_times(places: Sequence[ChunkLocation], channel: int, counts: Sequence[int]) -> NDArray[np.float64]:
    """Return (sum of counts,) the log times, s, of the messages of a channel; NaN where there is no index.

    Args:
        places: chunks.
        channel: its id.
        counts: how many messages each chunk has.

    Raises:
        OSError: a file cannot be read.
    """
    times = np.full(sum(counts), np.nan)
    indexed = [
        (place.path, place.indexes[channel], at, count)
        for place, count, at in zip(places, counts, accumulate(counts, initial=0), strict=False)
        if place.indexes and channel in place.indexes
    ]
    for path, group in groupby(indexed, key=lambda one: one[0]):
        with path.open("rb") as file:
            for _, index, at, count in group:
                file.seek(index.offset + _HEAD)
                data = file.read(_ENTRY * index.messages)
                found = np.frombuffer(data, "<u8", len(data) // _ENTRY * 2)[::2][:count]
                times[at : at + len(found)] = found / 1e9
    return times


@dataclass
class McapIndex:
    """The records that a scan has found."""

    complete: bool = False  # the file ends with the closing magic
    schemas: dict[int, Schema] = field(default_factory=dict)
    channels: dict[int, Channel] = field(default_factory=dict)
    attachments: dict[str, bytes] = field(default_factory=dict)
    chunks: list[ChunkLocation] = field(default_factory=list)


@dataclass
class RecordedMessage:
    """One message that is not a row."""

    channel: int
    tick: int
    log_time: int
    data: bytes


def _data_stream(data: bytes) -> ReadDataStream:
    return ReadDataStream(io.BytesIO(data))


def scan_file(file: BinaryIO) -> McapIndex:
    """Find the records of an MCAP file that is open at its start. ValueError if it does not begin like one."""
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    if file.read(len(MAGIC)) != MAGIC:
        raise ValueError("not an MCAP file")
    found, position = McapIndex(), len(MAGIC)
    while position + RECORD_HEAD <= size:
        file.seek(position)
        opcode, length = _RECORD_HEAD.unpack(file.read(RECORD_HEAD))
        start, position = position + RECORD_HEAD, position + RECORD_HEAD + length
        if position > size or opcode == 0:  # cut, or a tail of zeros after a crash
            return found
        if opcode == Opcode.FOOTER:
            file.seek(position)
            found.complete = file.read(len(MAGIC)) == MAGIC
            return found
        try:
            _index_record(found, file, opcode, start, length)
        except (ValueError, struct.error, LookupError, EOFError, OverflowError):  # damaged inside: keep what is known
            return found
        except Exception as error:
            if type(error).__module__.startswith("mcap."):
                return found
            raise
    return found


def _index_record(found: McapIndex, file: BinaryIO, opcode: int, start: int, length: int) -> None:
    if opcode in (Opcode.SCHEMA, Opcode.CHANNEL, Opcode.ATTACHMENT) and length > _MAX_RECORD:
        raise ValueError(f"a record of {length} bytes")
    if opcode == Opcode.CHUNK:
        found.chunks.append(ChunkLocation(start, length))
    elif opcode == Opcode.MESSAGE_INDEX and found.chunks:
        if length > _MAX_RECORD:
            raise ValueError(f"an index of {length} bytes")
        (channel,) = _INDEX_CHANNEL.unpack(file.read(2))
        found.chunks[-1].add_index(channel, start, length)
    elif opcode in (Opcode.SCHEMA, Opcode.CHANNEL):
        _index_declaration(found, opcode, file.read(length))
    elif opcode == Opcode.ATTACHMENT:
        attachment = Attachment.read(_data_stream(file.read(length)))
        found.attachments[attachment.name] = attachment.data


def _index_declaration(found: McapIndex, opcode: int, data: bytes) -> None:
    if opcode == Opcode.SCHEMA:
        schema = Schema.read(_data_stream(data))
        found.schemas[schema.id] = schema
    else:
        channel = Channel.read(_data_stream(data))
        found.channels[channel.id] = channel


def unpack_chunk(file: BinaryIO, location: ChunkLocation) -> bytes | None:
    """Return the records inside a chunk, None if it is damaged."""
    if location.length > _MAX_CHUNK:
        return None
    file.seek(location.offset)
    try:
        chunk = Chunk.read(_data_stream(file.read(location.length)))
        if chunk.uncompressed_size > _MAX_CHUNK:
            return None
        if chunk.compression == "zstd":
            data = zstandard.ZstdDecompressor().decompress(chunk.data, max_output_size=chunk.uncompressed_size)
        elif chunk.compression == "lz4":
            data = lz4.frame.LZ4FrameDecompressor().decompress(chunk.data, max_length=chunk.uncompressed_size)
        else:
            data = chunk.data
    except Exception:  # each of the three libraries has errors of its own, and all mean the same
        return None
    if chunk.uncompressed_crc and zlib.crc32(data) != chunk.uncompressed_crc:
        return None
    return bytes(data)


class RowCollector:
    """Collects the rows of the two channels and the messages of all others.

    Args:
        channels: ids of the state and the controls channel.
        widths: how many columns they have.
        skipped_channels: ids of channels whose messages are left out.

    Attributes:
        row_parts: (n, width) parts of the state rows and of the controls rows, in order: views of the chunks.
        ticks_seen: which tick each state row is, in parts.
        messages: the others.
    """

    def __init__(
        self, channels: tuple[int, int], widths: tuple[int, int], skipped_channels: Collection[int] = ()
    ) -> None:
        self._channels, self._widths, self._skipped_channels = channels, widths, skipped_channels
        self._tick_type = tick_dtype(*widths)
        self._lengths = tuple(MESSAGE_FIELDS + 4 + 8 * width for width in widths)
        self.row_parts: tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]] = ([], [])
        self.ticks_seen: list[NDArray[np.uint32]] = []
        self.messages: list[RecordedMessage] = []

    def add_chunk(self, data: bytes) -> None:
        """Add the records of one chunk."""
        position = 0
        while position + RECORD_HEAD <= len(data):
            opcode, length = _RECORD_HEAD.unpack_from(data, position)
            # Damaged: no record, or one that claims to have what is not there.
            if opcode == 0 or position + RECORD_HEAD + length > len(data):
                return
            if opcode == Opcode.MESSAGE and length == self._lengths[0]:
                ticks = self._match_ticks(data, position)
                if len(ticks):
                    self.row_parts[0].append(ticks["state"]["row"])
                    self.row_parts[1].append(ticks["controls"]["row"])
                    self.ticks_seen.append(ticks["state"]["sequence"])
                    position += ticks.nbytes
                    continue
            if opcode == Opcode.MESSAGE and length >= MESSAGE_FIELDS:
                self._add_message(data, position, length)
            position += RECORD_HEAD + length

    def _match_ticks(self, data: bytes, position: int) -> NDArray[np.void]:
        count = (len(data) - position) // self._tick_type.itemsize
        ticks: NDArray[np.void] = np.frombuffer(data, self._tick_type, count, position)
        good = np.ones(count, dtype=bool)
        for name, channel, length in zip(("state", "controls"), self._channels, self._lengths, strict=True):
            head = ticks[name]
            good &= (head["opcode"] == Opcode.MESSAGE) & (head["length"] == length) & (head["channel"] == channel)
        return ticks if good.all() else ticks[: int(np.argmin(good))]

    def _add_message(self, data: bytes, position: int, length: int) -> None:
        _, _, channel, tick, log_time, _ = MESSAGE_HEAD.unpack_from(data, position)
        if channel in self._skipped_channels:
            return
        body = data[position + MESSAGE_HEAD.size : position + RECORD_HEAD + length]
        if channel not in self._channels:
            self.messages.append(RecordedMessage(channel, tick, log_time, body))
            return
        which = self._channels.index(channel)
        if length == self._lengths[which]:
            self.row_parts[which].append(np.frombuffer(body, dtype="<f8", offset=4).reshape(1, -1))
            if which == 0:
                self.ticks_seen.append(np.array([tick], dtype=np.uint32))


def collect_signal_rows(data: bytes, channel: int, width: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the ticks (n,) and the rows (n, width) of /signals in the records of a chunk.

    Args:
        data: the records.
        channel: id of the channel.
        width: columns of its schema.
    """
    row_type = row_dtype(width)
    length = MESSAGE_FIELDS + 4 + 8 * width
    parts: list[NDArray[np.void]] = []
    position = 0
    while position + RECORD_HEAD <= len(data):
        opcode, size = _RECORD_HEAD.unpack_from(data, position)
        # Damaged: no record, or one that claims to have what is not there.
        if opcode == 0 or position + RECORD_HEAD + size > len(data):
            break
        if opcode == Opcode.MESSAGE and size == length:
            rows: NDArray[np.void] = np.frombuffer(
                data, row_type, (len(data) - position) // row_type.itemsize, position
            )  # fmt: skip
            good = (rows["opcode"] == Opcode.MESSAGE) & (rows["length"] == length) & (rows["channel"] == channel)
            count = len(good) if good.all() else int(np.argmin(good))
            if count:
                parts.append(rows[:count])
                position += count * row_type.itemsize
                continue
        position += RECORD_HEAD + size
    found = np.concatenate(parts) if parts else np.empty(0, row_type)
    return found["sequence"].astype(np.int64), found["row"]


def read_chunks(locations: Sequence[ChunkLocation]) -> Iterator[bytes | None]:
    """Yield the records of each chunk, None for a damaged one."""
    for path, places in groupby(locations, key=lambda location: location.path):
        with path.open("rb") as file:
            for place in places:
                yield unpack_chunk(file, place)
