"""The client's end of DebugLines: lines of a driver that the game draws in its world.

Source: protocol page assetto-custom-ai, section 2.6. The order of the bytes of a colour is not known; Direct3D's usual
one is written here: red in the lowest byte, alpha in the highest.
"""

from collections.abc import Sequence

from trailbrake.sims.assetto import codec, spec
from trailbrake.sims.assetto.axes import assetto_from_iso
from trailbrake.state import DebugLine
from trailbrake.transport.shm import SharedMemory, SharedPage


def encode_line(line: DebugLine) -> codec.LineRecord:
    """Return a line of the state in the wire's axes, opaque."""
    red, green, blue = line.color >> 16 & 0xFF, line.color >> 8 & 0xFF, line.color & 0xFF
    color = 0xFF000000 | blue << 16 | green << 8 | red
    return codec.LineRecord(assetto_from_iso(line.start), assetto_from_iso(line.end), color)


class DebugLinesWriter:
    """Writes the page, which it creates with the first lines, and removes it at the end.

    Args:
        memory: where the pages are.
    """

    def __init__(self, memory: SharedMemory) -> None:
        self._memory = memory
        self._page: SharedPage | None = None

    def write_lines(self, lines: Sequence[codec.LineRecord]) -> None:
        """Draw `lines` instead of those before; none removes them. WireError above MAX_DEBUG_LINES."""
        data = codec.encode_debug_lines(lines)
        if self._page is None:
            self._page = self._memory.create_page(spec.DEBUG_LINES, codec.DEBUG_SIZE)
        # The count last: a reader never counts lines that are not yet written.
        self._page.write(data[codec.LINE_COUNT_SIZE :], codec.LINE_COUNT_SIZE)
        self._page.write(data[: codec.LINE_COUNT_SIZE])

    def close(self) -> None:
        """Remove the lines, and the page if it did not exist before."""
        if self._page is not None:
            self.write_lines(())
            self._page.close(remove=self._page.created)
            self._page = None
