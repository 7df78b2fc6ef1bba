"""The message indexes behind the chunks of a file: how many rows there are, and when, without unpacking a chunk.

They are what the writer said of a chunk; a damaged chunk has fewer rows than its index says, or none.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

MAX_INDEXED_ROWS = 20_000_000  # of a recording: 16 hours at 333 Hz; a sparse file may claim any number
_HEAD = 6  # bytes: the channel's id and the length of the entries
_ENTRY = 16  # bytes: log time, ns, and offset in the chunk


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
    file: BinaryIO | None = None
    opened, at = Path(), 0
    try:
        for place, count in zip(places, counts, strict=True):
            index = (place.indexes or {}).get(channel)
            if index is not None:
                if file is None or place.path != opened:
                    if file is not None:
                        file.close()
                    file, opened = place.path.open("rb"), place.path
                file.seek(index.offset + _HEAD)
                data = file.read(_ENTRY * index.messages)
                found = np.frombuffer(data, "<u8", len(data) // _ENTRY * 2)[::2][:count]
                times[at : at + len(found)] = found / 1e9
            at += count
    finally:
        if file is not None:
            file.close()
    return times
