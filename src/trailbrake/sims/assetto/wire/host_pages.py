"""The shared memory of a host: its pages, and what goes over them.

The host's end of the pages that all clients share: SimState commands the session, DebugLines has lines to draw.

Source: protocol page assetto-custom-ai, sections 2.5, 2.6 and 4.5.
"""

import math

from trailbrake.errors import SimulatorError, WireError
from trailbrake.sims.assetto import codec, spec
from trailbrake.simulator_tools import Doors
from trailbrake.state.commands import MAX_TIME_SCALE, MIN_TIME_SCALE
from trailbrake.transport.shm import SharedMemory, SharedPage


class HostPages:
    """Opens the pages of a host and counts its messages.

    Args:
        doors: a private folder of pages, which are then mapped, see `trailbrake.transport.shm`. None = the public
            names.

    Attributes:
        memory: where the pages are.
        counts: messages and bytes in and out, rejected and torn messages.
        ignored_requests: functions that clients use and their cars lack.
    """

    def __init__(self, doors: Doors = None) -> None:
        self.memory, self._mapped = SharedMemory(doors), doors is not None
        self.counts = dict.fromkeys(("messages_in", "messages_out", "bytes_in", "bytes_out", "rejected", "torn"), 0)
        self.ignored_requests: list[str] = []
        self._kept: list[SharedPage] = []

    def create_page(self, name: str) -> SharedPage:
        """Create a page, or open it if it exists."""
        return self.memory.create_page(name, mapped=self._mapped)

    def create_kept_page(self, name: str) -> SharedPage:
        """Create a page that is there as long as the host, see `check_pages`."""
        page = self.create_page(name)
        self._kept.append(page)
        return page

    def check_pages(self) -> None:
        """Raise SimulatorError if another program has removed a page: no client would find this host any more."""
        for page in self._kept:
            if not page.is_current():
                raise SimulatorError("another program has removed a page of this host",
                                     where=f"{self.memory.folder}/{page.name}", hint="start it again")  # fmt: skip

    def open_page(self, name: str, size: int) -> SharedPage | None:
        """Return an existing page of `size` bytes; None if it does not exist."""
        return self.memory.open_page(name, size, mapped=self._mapped)

    def watch_page(self, name: str) -> SharedPage | None:
        """Return an existing page whose holders can be observed; None if it does not exist."""
        return self.memory.watch_page(name, mapped=self._mapped)

    def write_message(self, page: SharedPage, data: bytes) -> None:
        """Write a message; packet_id, its first field, last: a reader who sees it change finds the rest."""
        page.write(data[codec.PACKET_ID_SIZE :], codec.PACKET_ID_SIZE)
        page.write(data[: codec.PACKET_ID_SIZE])
        self.counts["messages_out"] += 1
        self.counts["bytes_out"] += len(data)


_SIZES = {
    spec.SIM_STATE_V0: codec.SIM_V0_SIZE, spec.SIM_STATE_V1: codec.SIM_V1_SIZE, spec.DEBUG_LINES: codec.DEBUG_SIZE,
}  # fmt: skip


class SharedPages:
    """Reads the pages that belong to no car, which clients write.

    Args:
        pages: of the host.
        old_patch: read SimState.v0 alone, as patches before 0.2.8.

    Attributes:
        sim_state: what the clients request of the session.
        debug_lines: the lines that were read last.
        rejected_lines: number of pages and of single lines that could not be drawn.
        problems: why a page that is there cannot be read, by its name.
    """

    def __init__(self, pages: HostPages, *, old_patch: bool = False) -> None:
        self._pages = pages
        self._sizes = {name: size for name, size in _SIZES.items() if not (old_patch and name == spec.SIM_STATE_V1)}
        self._open: dict[str, SharedPage] = {}
        self._last_lines_data = b""
        self.sim_state = codec.SimState()
        self.debug_lines: tuple[codec.LineRecord, ...] = ()
        self.rejected_lines = 0
        self.problems: dict[str, str] = {}

    def open_pages(self) -> None:
        """Open the pages that exist. Costs a few file calls: not for every step."""
        for name, size in self._sizes.items():
            page = self._open.get(name)
            if page is not None and not page.is_current():
                self._open.pop(name).close()
                page = None
            if page is None:
                try:
                    page = self._pages.open_page(name, max(size, codec.PAGE_SIZE))
                except SimulatorError as error:  # another user's page, or none at all: the host serves on
                    self.problems.setdefault(name, f"{error}; it is not read")
                if page is not None:
                    self._open[name] = page

    def read_sim_state(self) -> codec.SimState:
        """Return what the SimState page requests. Of two versions v1 wins here; no source names the game's choice."""
        sim = codec.SimState()
        try:
            if (data := self._read_page(spec.SIM_STATE_V1)) is not None:
                sim = codec.decode_sim_v1(data)
            elif (data := self._read_page(spec.SIM_STATE_V0)) is not None:
                sim = codec.decode_sim_v0(data)
        except WireError:  # its client has truncated the page
            self._pages.counts["rejected"] += 1
        self.sim_state = sim
        return sim

    @property
    def time_scale(self) -> float:
        """Factor on real time that the clients request, within MIN_TIME_SCALE to MAX_TIME_SCALE.

        0, negative and not finite values count as 1 (section 2.5).
        """
        scale = self.sim_state.time_scale
        if not (math.isfinite(scale) and scale > 0.0):
            return 1.0
        return min(max(scale, MIN_TIME_SCALE), MAX_TIME_SCALE)

    def read_debug_lines(self) -> None:
        """Read and check the debug lines, once a frame."""
        data = self._read_page(spec.DEBUG_LINES)
        if data is None:
            self.debug_lines, self._last_lines_data = (), b""
            return
        if data == self._last_lines_data:
            return
        self._last_lines_data = data
        self._pages.counts["messages_in"] += 1
        self._pages.counts["bytes_in"] += len(data)
        try:
            lines = codec.decode_debug_lines(data)
        except WireError:
            self.debug_lines = ()
            self.rejected_lines += 1
            return
        self.debug_lines = tuple(line for line in lines if all(map(math.isfinite, (*line.start, *line.end))))
        self.rejected_lines += len(lines) - len(self.debug_lines)

    def _read_page(self, name: str) -> bytes | None:
        page = self._open.get(name)
        return None if page is None else page.read(self._sizes[name])

    def close(self) -> None:
        """Close the pages; they belong to the clients."""
        for page in self._open.values():
            page.close()
        self._open = {}
