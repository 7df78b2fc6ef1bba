"""The MCAP container, written a whole chunk at a time straight to the file descriptor.

Nothing is buffered: once `append_chunk` has returned, its data survive the death of the process. Packing the records
here instead of by mcap's `Writer` reduces the cost of a row from about 30 us to about 2 us; the rare ones (schemas,
index, summary) are mcap's own record classes.
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

from trailbrake.record.format import MAGIC, MESSAGE_HEAD, PROFILE, TOPICS, Topic

_CHUNK_HEAD = struct.Struct("<BQQQQI")  # opcode, length, first and last time, raw size, raw CRC
_FOOTER_START = struct.Struct("<BQQQ")


@dataclass(slots=True)
class Chunk:
    """Message records on their way to the file.

    Attributes:
        data: the records.
        times: log time of each message, ns.
        offsets: {channel: (indices into `times`, offsets into `data`)}, for the message index.
        rows: how many ticks are inside, for counting what is lost.
    """

    data: bytes
    times: np.ndarray[tuple[int], np.dtype[np.uint64]]
    offsets: dict[int, tuple[slice, np.ndarray[tuple[int], np.dtype[np.uint64]]]]
    rows: int = 0


def make_message_chunk(messages: list[tuple[int, bytes]]) -> Chunk:
    """Return a chunk of message records, each with the number of its channel."""
    ordered = sorted(messages, key=lambda m: m[0])  # stable: a channel's messages become one slice
    sizes = [0, *(len(record) for _, record in ordered)]
    starts = np.cumsum(sizes, dtype=np.uint64)
    times = np.array([MESSAGE_HEAD.unpack_from(record)[4] for _, record in ordered], dtype=np.uint64)
    numbers = [number for number, _ in ordered]
    offsets = {}
    for number in dict.fromkeys(numbers):
        first = numbers.index(number)
        which = slice(first, first + numbers.count(number))
        offsets[number] = (which, starts[which])
    return Chunk(b"".join(record for _, record in ordered), times, offsets)


class RecordingSink(Protocol):
    """The destination of a recorder's bytes."""

    @property
    def lost_rows(self) -> int:
        """Rows that it has accepted and not written."""

    def attach_file(self, name: str, media_type: str, data: bytes) -> None:
        """Store a file within the file."""

    def append_chunk(self, chunk: Chunk) -> None:
        """Store a chunk."""

    def close(self) -> None:
        """Complete the file."""

    def abandon(self) -> None:
        """Stop writing; the file stays incomplete."""


def _encode_records(*records: McapRecord) -> bytes:
    builder = RecordBuilder()
    for record in records:
        record.write(builder)
    data: bytes = builder.end()  # type: ignore[no-untyped-call]
    return data


def _library_name() -> str:
    try:
        return f"trailbrake {version('trailbrake')}"
    except PackageNotFoundError:  # run from a source tree that was not installed
        return "trailbrake"


def _schema_records(topics: Sequence[Topic]) -> list[McapRecord]:
    return [Schema(id=t.number, data=t.definition.encode(), encoding="ros2msg", name=t.schema_name) for t in topics]


def _channel_records(topics: Sequence[Topic]) -> list[McapRecord]:
    return [
        Channel(id=t.number, topic=t.name, message_encoding="cdr", metadata=t.metadata, schema_id=t.number)
        for t in topics
    ]


class McapFile:
    """An MCAP file being written. Every method raises OSError when the disk refuses.

    Args:
        stream: an unbuffered binary file at its start; this object owns it.
        topics: what it may hold.
    """

    lost_rows = 0

    def __init__(self, stream: io.RawIOBase, topics: Sequence[Topic] = TOPICS) -> None:
        self._stream, self._topics = stream, topics
        self._position = 0
        # Encoded at once: as objects the index of an hour would take 5 MB.
        self._chunk_index, self._chunk_count = bytearray(), 0
        self._attachments: list[McapRecord] = []
        self._message_counts = dict.fromkeys((t.number for t in topics), 0)
        self._time_range = (2**64 - 1, 0)
        self._compress = zstandard.ZstdCompressor(level=1).compress
        self._write_all(
            MAGIC
            + _encode_records(
                Header(profile=PROFILE, library=_library_name()), *_schema_records(topics), *_channel_records(topics)
            )
        )

    def _write_all(self, data: bytes) -> None:
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

    @property
    def position(self) -> int:
        """How many bytes were written."""
        return self._position

    def attach_file(self, name: str, media_type: str, data: bytes) -> None:
        """Store a file within the file."""
        start = self._position
        record = _encode_records(Attachment(create_time=0, log_time=0, name=name, media_type=media_type, data=data))
        self._write_all(record)
        self._attachments.append(
            AttachmentIndex(
                offset=start, length=len(record), log_time=0, create_time=0, data_size=len(data), name=name,
                media_type=media_type,
            )
        )  # fmt: skip

    def append_chunk(self, chunk: Chunk) -> None:
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
        self._write_all(b"".join(parts))
        index_length = self._position - start - len(record)
        self._chunk_index += _encode_records(
            ChunkIndex(
                chunk_length=len(record), chunk_start_offset=start, compression="zstd", compressed_size=len(packed),
                message_end_time=last, message_index_length=index_length, message_index_offsets=index_offsets,
                message_start_time=first, uncompressed_size=len(raw),
            )
        )  # fmt: skip
        self._chunk_count += 1
        self._time_range = (min(first, self._time_range[0]), max(last, self._time_range[1]))
        for channel, (_, offsets) in chunk.offsets.items():
            self._message_counts[channel] += len(offsets)

    def close(self) -> None:
        """Write the summary that lets readers seek, and close the file."""
        try:
            self._write_summary()
        finally:
            self._stream.close()

    def abandon(self) -> None:
        """Close the incomplete file; it reads as a cut one."""
        with contextlib.suppress(OSError):
            self._stream.close()

    def _write_summary(self) -> None:
        counts = {channel: n for channel, n in self._message_counts.items() if n}
        first, last = self._time_range if counts else (0, 0)
        statistics = Statistics(
            attachment_count=len(self._attachments), channel_count=len(self._topics), channel_message_counts=counts,
            chunk_count=self._chunk_count, message_count=sum(counts.values()), message_end_time=last,
            message_start_time=first, metadata_count=0, schema_count=len(self._topics),
        )  # fmt: skip
        end = _encode_records(DataEnd(data_section_crc=0))
        start = self._position + len(end)
        groups: list[tuple[Opcode, bytes | bytearray]] = [
            (Opcode.SCHEMA, _encode_records(*_schema_records(self._topics))),
            (Opcode.CHANNEL, _encode_records(*_channel_records(self._topics))),
            (Opcode.STATISTICS, _encode_records(statistics)),
            (Opcode.CHUNK_INDEX, self._chunk_index),
            (Opcode.ATTACHMENT_INDEX, _encode_records(*self._attachments)),
        ]
        summary, offsets = b"", []
        for opcode, group in groups:
            if group:
                offsets.append(
                    SummaryOffset(group_opcode=opcode, group_start=start + len(summary), group_length=len(group))
                )
            summary += group
        offset_start = start + len(summary)
        summary += _encode_records(*offsets)
        crc = zlib.crc32(_FOOTER_START.pack(Opcode.FOOTER, 20, start, offset_start), zlib.crc32(summary))
        self._write_all(
            end
            + summary
            + _encode_records(Footer(summary_start=start, summary_offset_start=offset_start, summary_crc=crc))
            + MAGIC
        )
