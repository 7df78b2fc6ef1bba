"""The shared memory of a host: its pages, and what goes over them."""

from trailbrake.errors import SimulatorError
from trailbrake.sims.assetto import codec
from trailbrake.simulator_tools import Doors
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
