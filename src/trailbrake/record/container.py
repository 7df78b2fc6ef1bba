"""The MCAP container, written a whole chunk at a time straight to the file descriptor.

Nothing is buffered here: what `append` has returned from survives the death of the process. Writing the
records by hand instead of through mcap's `Writer` takes the price of a row from some 30 us to some 2 us;
the rare ones (schemas, index, summary) are mcap's own record classes.
"""

import contextlib
import io
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Protocol

import numpy as np
import zstandard
from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode
from mcap.records import (
    Attachment,
    AttachmentIndex,
    Channel,
    ChunkIndex,
    DataEnd,
    Footer,
    Header,
    McapRecord,
    Schema,
    Statistics,
    SummaryOffset,
)

from trailbrake.record.format import MAGIC, PROFILE, TOPICS

_CHUNK_HEAD = struct.Struct("<BQQQQI")  # opcode, length, first and last time, raw size, raw CRC
_FOOTER_START = struct.Struct("<BQQQ")


@dataclass(slots=True)
class Chunk:
    """Message records on their way to the file.

    Attributes:
        data: the records.
        times: log time of each message, ns.
        offsets: {channel: (indices into `times`, offsets into `data`)}, what the message index needs.
        rows: how many ticks are inside, for counting what is lost.
    """

    data: bytes
    times: np.ndarray[tuple[int], np.dtype[np.uint64]]
    offsets: dict[int, tuple[slice, np.ndarray[tuple[int], np.dtype[np.uint64]]]]
    rows: int = 0


class Sink(Protocol):
    """Where a recorder's bytes go."""

    def attach(self, name: str, media_type: str, data: bytes) -> None:
        """Store a file within the file."""

    def append(self, chunk: Chunk) -> None:
        """Store a chunk."""

    def close(self) -> None:
        """Complete the file."""

    def abandon(self) -> None:
        """Leave the file as it is."""


def _bytes(*records: McapRecord) -> bytes:
    builder = RecordBuilder()
    for record in records:
        record.write(builder)
    data: bytes = builder.end()  # type: ignore[no-untyped-call]
    return data


def _library() -> str:
    try:
        return f"trailbrake {version('trailbrake')}"
    except PackageNotFoundError:  # run from a source tree that was not installed
        return "trailbrake"


def _schemas() -> list[McapRecord]:
    return [Schema(id=t.number, data=t.definition.encode(), encoding="ros2msg", name=t.schema_name) for t in TOPICS]


def _channels() -> list[McapRecord]:
    return [
        Channel(id=t.number, topic=t.name, message_encoding="cdr", metadata=t.metadata, schema_id=t.number)
        for t in TOPICS
    ]


class McapFile:
    """An MCAP file being written. Every method raises OSError when the disk will not take it.

    Args:
        stream: an unbuffered binary file at its start; this owns it from now on.
    """

    def __init__(self, stream: io.RawIOBase) -> None:
        self._stream = stream
        self._position = 0
        self._chunks: list[McapRecord] = []
        self._attachments: list[McapRecord] = []
        self._counts = dict.fromkeys((t.number for t in TOPICS), 0)
        self._times = (2**64 - 1, 0)
        self._compress = zstandard.ZstdCompressor(level=1).compress
        self._write(MAGIC + _bytes(Header(profile=PROFILE, library=_library()), *_schemas(), *_channels()))

    def _write(self, data: bytes) -> None:
        view, start = memoryview(data), self._position
        try:
            while view:
                written = self._stream.write(view)
                if not written:
                    raise OSError(0, "the file takes no more bytes")
                view = view[written:]
        except OSError:
            # Half a record would be cut off by readers anyway; without it the file ends cleanly.
            with contextlib.suppress(OSError, ValueError):
                self._stream.truncate(start)
            raise
        self._position = start + len(data)

    def attach(self, name: str, media_type: str, data: bytes) -> None:
        """Store a file within the file."""
        start = self._position
        record = _bytes(Attachment(create_time=0, log_time=0, name=name, media_type=media_type, data=data))
        self._write(record)
        self._attachments.append(
            AttachmentIndex(
                offset=start, length=len(record), log_time=0, create_time=0, data_size=len(data), name=name,
                media_type=media_type,
            )
        )  # fmt: skip

    def append(self, chunk: Chunk) -> None:
        """Compress and store `chunk` with its message index, in one write."""
        start, raw = self._position, chunk.data
        packed = self._compress(raw)
        first, last = int(chunk.times.min()), int(chunk.times.max())
        body = struct.pack("<I4sQ", 4, b"zstd", len(packed)) + packed
        length = _CHUNK_HEAD.size - 9 + len(body)
        record = _CHUNK_HEAD.pack(Opcode.CHUNK, length, first, last, len(raw), zlib.crc32(raw)) + body
        index_offsets, parts, at = {}, [record], start + len(record)
        for channel, (which, offsets) in chunk.offsets.items():
            pairs = np.column_stack([chunk.times[which], offsets]).astype("<u8").tobytes()
            part = struct.pack("<BQHI", Opcode.MESSAGE_INDEX, 6 + len(pairs), channel, len(pairs)) + pairs
            index_offsets[channel] = at
            at += len(part)
            parts.append(part)
        self._write(b"".join(parts))
        index_length = self._position - start - len(record)
        self._chunks.append(
            ChunkIndex(
                chunk_length=len(record), chunk_start_offset=start, compression="zstd", compressed_size=len(packed),
                message_end_time=last, message_index_length=index_length, message_index_offsets=index_offsets,
                message_start_time=first, uncompressed_size=len(raw),
            )
        )  # fmt: skip
        self._times = (min(first, self._times[0]), max(last, self._times[1]))
        for channel, (_, offsets) in chunk.offsets.items():
            self._counts[channel] += len(offsets)

    def close(self) -> None:
        """Write the summary that lets readers seek, and close the file."""
        try:
            self._finish()
        finally:
            self._stream.close()

    def abandon(self) -> None:
        """Close the file as it is; it reads as a cut one."""
        with contextlib.suppress(OSError):
            self._stream.close()

    def _finish(self) -> None:
        counts = {channel: n for channel, n in self._counts.items() if n}
        first, last = self._times if counts else (0, 0)
        statistics = Statistics(
            attachment_count=len(self._attachments), channel_count=len(TOPICS), channel_message_counts=counts,
            chunk_count=len(self._chunks), message_count=sum(counts.values()), message_end_time=last,
            message_start_time=first, metadata_count=0, schema_count=len(TOPICS),
        )  # fmt: skip
        end = _bytes(DataEnd(data_section_crc=0))
        start = self._position + len(end)
        groups: list[tuple[Opcode, Sequence[McapRecord]]] = [
            (Opcode.SCHEMA, _schemas()),
            (Opcode.CHANNEL, _channels()),
            (Opcode.STATISTICS, [statistics]),
            (Opcode.CHUNK_INDEX, self._chunks),
            (Opcode.ATTACHMENT_INDEX, self._attachments),
        ]
        summary, offsets = b"", []
        for opcode, records in groups:
            group = _bytes(*records)
            if group:
                offsets.append(
                    SummaryOffset(group_opcode=opcode, group_start=start + len(summary), group_length=len(group))
                )
            summary += group
        offset_start = start + len(summary)
        summary += _bytes(*offsets)
        crc = zlib.crc32(_FOOTER_START.pack(Opcode.FOOTER, 20, start, offset_start), zlib.crc32(summary))
        self._write(
            end
            + summary
            + _bytes(Footer(summary_start=start, summary_offset_start=offset_start, summary_crc=crc))
            + MAGIC
        )
