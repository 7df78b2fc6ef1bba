"""The client's end of DebugLines: lines of a driver that the game draws in its world.

Source: protocol page assetto-custom-ai, section 2.6. The order of the bytes of a colour is not known; Direct3D's usual
one is written here: red in the lowest byte, alpha in the highest.
"""

from collections.abc import Sequence

from trailbrake.errors import WireError
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
    """Writes lines beside those of other writers, opens the page with the first ones, and removes its own at the end.

    Args:
        memory: where the pages are.
    """

    def __init__(self, memory: SharedMemory) -> None:
        self._memory = memory
        self._page: SharedPage | None = None
        self._written: list[bytes] = []

    def write_lines(self, lines: Sequence[codec.LineRecord]) -> None:
        """Draw `lines` instead of this writer's last ones; none removes them. WireError above MAX_DEBUG_LINES.

        Where the lines of several writers fill the page, the newest writer gets half of it; the first lines stay.
        """
        mine = _split_lines(codec.encode_debug_lines(lines))
        if self._page is not None and not self._page.is_current():  # another program has removed it
            self._page.close()
            self._page = None
        if self._page is None:
            self._page = self._memory.create_page(spec.DEBUG_LINES, codec.DEBUG_SIZE)
        others = self._read_other_lines(mine)
        self._written = mine[: max(codec.MAX_DEBUG_LINES - len(others), codec.MAX_DEBUG_LINES // 2)]
        drawn = [*others[: codec.MAX_DEBUG_LINES - len(self._written)], *self._written]
        # The count last: a reader never counts lines that are not yet written.
        self._page.write(b"".join(drawn), codec.LINE_COUNT_SIZE)
        self._page.write(codec.encode_line_count(len(drawn)))

    def _read_other_lines(self, mine: list[bytes]) -> list[bytes]:
        """Return the lines on the page that are neither this writer's last ones nor among its next ones."""
        assert self._page is not None
        known = {*self._written, *mine}
        return [line for line in _split_lines(self._page.read(codec.DEBUG_SIZE)) if line not in known]

    def close(self) -> None:
        """Remove this writer's lines, and the page if it did not exist before and no other writer draws."""
        if self._page is not None:
            self.write_lines(())
            self._page.close(remove=self._page.created and not self._read_other_lines([]))
            self._page = None


def _split_lines(page: bytes) -> list[bytes]:
    """Return the single lines of a page, encoded; none where it cannot be read."""
    try:
        count = len(codec.decode_debug_lines(page))
    except WireError:
        return []
    starts = range(codec.LINE_COUNT_SIZE, codec.LINE_COUNT_SIZE + count * codec.LINE_SIZE, codec.LINE_SIZE)
    return [page[start : start + codec.LINE_SIZE] for start in starts]
