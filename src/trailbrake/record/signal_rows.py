"""The rows of a recording's /signals: as the recorder writes them, and as a reader collects them."""

import math
import struct

import numpy as np
from mcap.opcode import Opcode
from numpy.typing import NDArray

from trailbrake.record import cdr
from trailbrake.record.format import MESSAGE, MESSAGE_FIELDS, RECORD_HEAD, row_dtype
from trailbrake.record.mcap_file import Chunk

_RECORD_HEAD = struct.Struct("<BQ")


class SignalBlock:
    """Rows that wait to be written, each a message record of fixed size.

    Args:
        channel: id of their channel.
        width: values in a row.

    Attributes:
        rows: how many wait.
    """

    def __init__(self, channel: int, width: int) -> None:
        self.rows = 0
        self._channel, self._width = channel, width
        self._row = struct.Struct(f"<BQHIQQ4s{width}d")
        self._length = MESSAGE_FIELDS + 4 + 8 * width
        self._missing = (math.nan,) * width
        self._data = bytearray()
        self._times: list[int] = []

    def add_row(self, sequence: int, time: int, values: tuple[float, ...]) -> None:
        """Add the values of one tick.

        Args:
            sequence: the tick's.
            time: its log time, ns.
            values: of the signals; other than `width` of them, as before the first sample, count as missing.
        """
        if len(values) != self._width:
            values = self._missing
        self._data += self._row.pack(
            MESSAGE, self._length, self._channel, sequence, time, time, cdr.HEADER, *values
        )  # fmt: skip
        self._times.append(time)
        self.rows += 1

    def take_chunk(self) -> Chunk:
        """Return the rows as a chunk of their own, and forget them."""
        starts = np.arange(self.rows, dtype=np.uint64) * np.uint64(self._row.size)
        # Counts no rows: those of a tick that is dropped are counted with its state.
        chunk = Chunk(
            bytes(self._data), np.array(self._times, dtype=np.uint64), {self._channel: (slice(None), starts)}, 0
        )
        self._data, self._times, self.rows = bytearray(), [], 0
        return chunk


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
