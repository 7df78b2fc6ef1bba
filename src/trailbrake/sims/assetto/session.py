"""The pages that all clients share: SimState, which commands the session, and DebugLines, which the game would draw.

Source: protocol page assetto-custom-ai, sections 2.5, 2.6 and 4.5.
"""

import math

from trailbrake.errors import WireError
from trailbrake.sims.assetto import codec, spec
from trailbrake.sims.assetto.slot import Counts
from trailbrake.transport.shm import Page, SharedMemory

_SIZES = {
    spec.SIM_STATE_V0: codec.SIM_V0_SIZE, spec.SIM_STATE_V1: codec.SIM_V1_SIZE, spec.DEBUG_LINES: codec.DEBUG_SIZE,
}  # fmt: skip


class SharedPages:
    """Reads what clients have written to the pages that belong to no car.

    Attributes:
        sim: the session as the clients want it.
        lines: the debug lines of the last look.
        rejected_lines: how often their page, or a line on it, could not be drawn.
    """

    def __init__(self, memory: SharedMemory, mapped: bool, counts: Counts) -> None:
        self._memory, self._mapped, self._counts = memory, mapped, counts
        self._pages: dict[str, Page] = {}
        self._drawn = b""
        self.sim = codec.SimState()
        self.lines: tuple[codec.DebugLine, ...] = ()
        self.rejected_lines = 0

    def look(self) -> None:
        """Look which pages are there. Costs a few file calls: not for every step."""
        for name, size in _SIZES.items():
            page = self._pages.get(name)
            if page is not None and not page.current():
                self._pages.pop(name).close()
                page = None
            if page is None:
                page = self._memory.open(name, max(size, codec.PAGE_SIZE), mapped=self._mapped)
                if page is not None:
                    self._pages[name] = page

    def take_sim(self) -> codec.SimState:
        """Read the session's wishes; both pages there: nobody has told which one wins in the game; here it is v1."""
        sim = codec.SimState()
        try:
            if (data := self._read(spec.SIM_STATE_V1)) is not None:
                sim = codec.decode_sim_v1(data)
            elif (data := self._read(spec.SIM_STATE_V0)) is not None:
                sim = codec.decode_sim_v0(data)
        except WireError:  # its client has cut the page short
            self._counts.number["rejected"] += 1
        self.sim = sim
        return sim

    @property
    def time_scale(self) -> float:
        """How many times faster than real time the clients want it; 0, negative and not finite are 1 (section 2.5)."""
        scale = self.sim.time_scale
        return scale if math.isfinite(scale) and scale > 0.0 else 1.0

    def take_lines(self) -> None:
        """Read and check the debug lines, once a frame."""
        data = self._read(spec.DEBUG_LINES)
        if data is None:
            self.lines, self._drawn = (), b""
            return
        if data == self._drawn:
            return
        self._drawn = data
        self._counts.number["messages_in"] += 1
        self._counts.number["bytes_in"] += len(data)
        try:
            lines = codec.decode_debug_lines(data)
        except WireError:
            self.lines = ()
            self.rejected_lines += 1
            return
        self.lines = tuple(line for line in lines if all(map(math.isfinite, (*line.start, *line.end))))
        self.rejected_lines += len(lines) - len(self.lines)

    def _read(self, name: str) -> bytes | None:
        page = self._pages.get(name)
        return None if page is None else page.read(_SIZES[name])

    def close(self) -> None:
        """Let go of the pages; they are the clients'."""
        for page in self._pages.values():
            page.close()
        self._pages = {}
