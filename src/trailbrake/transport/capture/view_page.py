"""A shared page with the view of a served world: the host writes pictures, windows and drives read them.

The page begins with a header: a count that is odd while a picture is being written, then width and height (pixels) and
the picture's simulator time (s). The pixels follow, RGB by rows.
"""

import struct

import numpy as np
from numpy.typing import NDArray

from trailbrake.errors import SimulatorError
from trailbrake.transport.shm import SharedMemory

PAGE_NAME = "trailbrake_view"
LARGEST = 1024 * 768 * 3  # bytes of pixels
_HEADER = struct.Struct("<QIId")
_COUNT = struct.Struct("<Q")
_SIZE = _HEADER.size + LARGEST
_TRIES = 3  # reads of a picture that the writer is in the middle of

Pixels = NDArray[np.uint8]


class ViewWriter:
    """Makes the page and writes pictures to it.

    Args:
        doors: folder of a private wire; None = the public names.
    """

    def __init__(self, doors: str | None) -> None:
        self._page = SharedMemory(doors).create_page(PAGE_NAME, _SIZE)
        # Of a host before us: a reader that is still there sees the count go on.
        self._count = _COUNT.unpack(self._page.read(_COUNT.size))[0] | 1

    def write_picture(self, pixels: Pixels, time: float) -> None:
        """Write a picture (height, width, 3) uint8 RGB of at most LARGEST bytes, and its simulator time (s)."""
        height, width, _ = pixels.shape
        self._page.write(_COUNT.pack(self._count))
        self._page.write(np.ascontiguousarray(pixels).tobytes(), _HEADER.size)
        self._page.write(_HEADER.pack(self._count + 1, width, height, time))
        self._count += 2

    def close(self) -> None:
        """Remove the page."""
        self._page.close(remove=True)


class ViewReader:
    """Reads the pictures; a grabber of `LiveCamera`.

    Args:
        doors: as for the writer.

    Raises:
        SimulatorError: no host shows its view.
    """

    def __init__(self, doors: str | None) -> None:
        self._memory, self._last = SharedMemory(doors), 0
        self.reopen()

    def reopen(self) -> None:
        """Open the page; SimulatorError where there is none."""
        page = self._memory.open_page(PAGE_NAME, _SIZE)
        if page is None:
            raise SimulatorError("no served world shows its view", where="--camera world",
                                 hint="serve it with --view page, or --view window") from None  # fmt: skip
        self._page = page
        self._last = self._read_header()[0]  # only what comes from now on is new: its writer may be long dead

    def _read_header(self) -> tuple[int, int, int, float]:
        count, width, height, time = _HEADER.unpack(self._page.read(_HEADER.size))
        return count, width, height, time

    def grab_pixels(self) -> Pixels | None:
        """Return the newest picture (height, width, 3) uint8 RGB, None while there is no newer one than the last.

        Raises:
            SimulatorError: the host has ended.
        """
        for _ in range(_TRIES):
            count, width, height, _ = self._read_header()
            if count == self._last:
                break
            if count % 2 or not 0 < 3 * width * height <= LARGEST:
                continue
            data = self._page.read(3 * width * height, _HEADER.size)
            if self._read_header()[0] == count:
                self._last = count
                return np.frombuffer(data, np.uint8).reshape(height, width, 3)
        if not self._page.is_current():
            self._page.close()
            raise SimulatorError("the served world has ended", where="--camera world")
        return None

    def find_trouble(self) -> str:
        """Return "": nothing covers a page."""
        return ""

    def close(self) -> None:
        """Close the page."""
        self._page.close()
