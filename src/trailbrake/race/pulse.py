"""Who is being asked right now, in a file that outlives the process which writes it.

A driver that hangs cannot say so, and one that ends the process cannot either: whoever watches reads it here.
"""

import mmap
import struct
from pathlib import Path

NOBODY = -1
_LAYOUT = struct.Struct("<qq")


class Pulse:
    """A place in a file that two processes share.

    Args:
        path: the file; made where it is not there yet.
    """

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(_LAYOUT.pack(NOBODY, 0))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), _LAYOUT.size)

    def mark(self, seat: int, tick: int) -> None:
        """Write down that the driver in `seat` is asked at `tick`; 0 is getting ready. NOBODY: the world goes on."""
        _LAYOUT.pack_into(self._map, 0, seat, tick)

    def read(self) -> tuple[int, int]:
        """Return seat and tick of the last mark."""
        seat, tick = _LAYOUT.unpack_from(self._map)
        return seat, tick

    def close(self) -> None:
        """Let go of the file."""
        self._map.close()
