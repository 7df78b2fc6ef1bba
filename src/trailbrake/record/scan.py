"""Reading the MCAP container: where the records are, and the rows inside the chunks.

Cut and damaged files are the normal case here: a scan ends at the first record that is not whole, and a
chunk that does not unpack is left out. Rows are taken in bulk where they lie as `Recorder` wrote them, and
one by one in a file that another tool has rewritten.
"""

import io
import struct
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

import lz4.frame
import numpy as np
import zstandard
from mcap.data_stream import ReadDataStream
from mcap.opcode import Opcode
from mcap.records import Attachment, Channel, Chunk, Schema
from numpy.typing import NDArray

from trailbrake.record.format import MAGIC, MESSAGE_FIELDS, MESSAGE_HEAD, RECORD_HEAD, tick_dtype

_RECORD_HEAD = struct.Struct("<BQ")
_INDEX_CHANNEL = struct.Struct("<H")
_LARGEST_CHUNK = 1 << 30  # bytes; a damaged size must not ask for all the memory there is


@dataclass
class ChunkPlace:
    """A chunk in the file, and the channels its message index names (None: it has no index)."""

    offset: int
    length: int
    channels: set[int] | None = None


@dataclass
class Layout:
    """What a scan has found."""

    complete: bool = False  # the closing magic is there
    schemas: dict[int, Schema] = field(default_factory=dict)
    channels: dict[int, Channel] = field(default_factory=dict)
    attachments: dict[str, bytes] = field(default_factory=dict)
    chunks: list[ChunkPlace] = field(default_factory=list)


@dataclass
class Message:
    """One message that is not a row."""

    channel: int
    tick: int
    log_time: int
    data: bytes


def _stream(data: bytes) -> ReadDataStream:
    return ReadDataStream(io.BytesIO(data))


def scan(file: BinaryIO) -> Layout:
    """Find the records of an MCAP file that is open at its start. ValueError if it does not begin like one."""
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    if file.read(len(MAGIC)) != MAGIC:
        raise ValueError("not an MCAP file")
    found, position = Layout(), len(MAGIC)
    while position + RECORD_HEAD <= size:
        file.seek(position)
        opcode, length = _RECORD_HEAD.unpack(file.read(RECORD_HEAD))
        start, position = position + RECORD_HEAD, position + RECORD_HEAD + length
        if position > size or opcode == 0:  # cut, or a tail of zeros that a crash has left
            return found
        if opcode == Opcode.FOOTER:
            file.seek(position)
            found.complete = file.read(len(MAGIC)) == MAGIC
            return found
        try:
            _note(found, file, opcode, start, length)
        except (ValueError, struct.error, LookupError, EOFError):  # damaged inside: go by what is known
            return found
        except Exception as error:
            if type(error).__module__.startswith("mcap."):
                return found
            raise
    return found


def _note(found: Layout, file: BinaryIO, opcode: int, start: int, length: int) -> None:
    if opcode == Opcode.CHUNK:
        found.chunks.append(ChunkPlace(start, length))
    elif opcode == Opcode.MESSAGE_INDEX and found.chunks:
        chunk = found.chunks[-1]
        chunk.channels = (chunk.channels or set()) | {*_INDEX_CHANNEL.unpack(file.read(2))}
    elif opcode in (Opcode.SCHEMA, Opcode.CHANNEL):
        _declare(found, opcode, file.read(length))
    elif opcode == Opcode.ATTACHMENT:
        attachment = Attachment.read(_stream(file.read(length)))
        found.attachments[attachment.name] = attachment.data


def _declare(found: Layout, opcode: int, data: bytes) -> None:
    if opcode == Opcode.SCHEMA:
        schema = Schema.read(_stream(data))
        found.schemas[schema.id] = schema
    else:
        channel = Channel.read(_stream(data))
        found.channels[channel.id] = channel


def unpack(file: BinaryIO, place: ChunkPlace) -> bytes | None:
    """Return the records inside a chunk, None if it is damaged."""
    file.seek(place.offset)
    try:
        chunk = Chunk.read(_stream(file.read(place.length)))
        if chunk.uncompressed_size > _LARGEST_CHUNK:
            return None
        if chunk.compression == "zstd":
            data = zstandard.ZstdDecompressor().decompress(chunk.data, max_output_size=chunk.uncompressed_size)
        elif chunk.compression == "lz4":
            data = lz4.frame.decompress(chunk.data)
        else:
            data = chunk.data
    except Exception:  # each of the three libraries has errors of its own, and all mean the same
        return None
    if chunk.uncompressed_crc and zlib.crc32(data) != chunk.uncompressed_crc:
        return None
    return bytes(data)


class Rows:
    """Gathers the rows of the two channels and the messages of all others.

    Args:
        channels: ids of the state and the controls channel.
        widths: how many columns they have.
        passed_over: ids of channels whose messages are not wanted.
    """

    def __init__(self, channels: tuple[int, int], widths: tuple[int, int], passed_over: Collection[int] = ()) -> None:
        self._channels, self._widths, self._passed_over = channels, widths, passed_over
        self._tick = tick_dtype(*widths)
        self._lengths = tuple(MESSAGE_FIELDS + 4 + 8 * width for width in widths)
        self._parts: tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]] = ([], [])
        self._ticks_seen: list[NDArray[np.uint32]] = []
        self.messages: list[Message] = []

    def tables(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the state rows and the controls rows, equally many."""
        state, controls = (
            np.concatenate(parts) if parts else np.empty((0, width))
            for parts, width in zip(self._parts, self._widths, strict=True)
        )
        rows = min(len(state), len(controls))
        return state[:rows], controls[:rows]

    def ticks(self) -> NDArray[np.int64]:
        """Return which tick each state row is. A gap is a tick that is not in the file."""
        if not self._ticks_seen:
            return np.empty(0, dtype=np.int64)
        return np.concatenate(self._ticks_seen).astype(np.int64)

    def add(self, data: bytes) -> None:
        """Take the records of one chunk."""
        position = 0
        while position + RECORD_HEAD <= len(data):
            ticks = self._in_bulk(data, position)
            if len(ticks):
                self._parts[0].append(ticks["state"]["row"])
                self._parts[1].append(ticks["controls"]["row"])
                self._ticks_seen.append(ticks["state"]["sequence"])
                position += ticks.nbytes
                continue
            opcode, length = _RECORD_HEAD.unpack_from(data, position)
            if opcode == Opcode.MESSAGE and length >= MESSAGE_FIELDS:
                self._message(data, position, length)
            position += RECORD_HEAD + length

    def _in_bulk(self, data: bytes, position: int) -> NDArray[np.void]:
        count = (len(data) - position) // self._tick.itemsize
        ticks: NDArray[np.void] = np.frombuffer(data, self._tick, count, position)
        good = np.ones(count, dtype=bool)
        for name, channel, length in zip(("state", "controls"), self._channels, self._lengths, strict=True):
            head = ticks[name]
            good &= (head["opcode"] == Opcode.MESSAGE) & (head["length"] == length) & (head["channel"] == channel)
        return ticks if good.all() else ticks[: int(np.argmin(good))]

    def _message(self, data: bytes, position: int, length: int) -> None:
        _, _, channel, tick, log_time, _ = MESSAGE_HEAD.unpack_from(data, position)
        if channel in self._passed_over:
            return
        body = data[position + MESSAGE_HEAD.size : position + RECORD_HEAD + length]
        if channel not in self._channels:
            self.messages.append(Message(channel, tick, log_time, body))
            return
        which = self._channels.index(channel)
        if length == self._lengths[which]:
            self._parts[which].append(np.frombuffer(body, dtype="<f8", offset=4).reshape(1, -1))
            if which == 0:
                self._ticks_seen.append(np.array([tick], dtype=np.uint32))


def chunks(file: BinaryIO, places: list[ChunkPlace]) -> Iterator[bytes | None]:
    """Yield the records of each chunk, None for a damaged one."""
    for place in places:
        yield unpack(file, place)
