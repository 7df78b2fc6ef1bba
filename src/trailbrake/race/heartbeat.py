"""The entry whose driver is being called, in a file that outlives the process which writes it.

A driver that hangs cannot say so, and one that ends the process cannot either: the supervising process reads it here.
"""

import mmap
import struct
from pathlib import Path

NO_ENTRY = -1
_MARK = struct.Struct("<qq")


class Heartbeat:
    """A place in a file that two processes share.

    Args:
        path: the file; made where it is not there yet.
    """

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(_MARK.pack(NO_ENTRY, 0))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), _MARK.size)

    def mark_entry(self, place: int, tick: int) -> None:
        """Store that the driver of entry `place` is called at `tick` (0: to be reset); NO_ENTRY: the world steps."""
        _MARK.pack_into(self._map, 0, place, tick)

    def read_mark(self) -> tuple[int, int]:
        """Return seat and tick of the last mark."""
        seat, tick = _MARK.unpack_from(self._map)
        return seat, tick

    def close(self) -> None:
        """Let go of the file."""
        self._map.close()
