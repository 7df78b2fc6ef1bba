"""Taking a car: the lock against a second trailbrake, and the CarControls page that takes the car from the game.

Source: protocol page assetto-custom-ai, sections 1, 4.1 and 4.6.
"""

from trailbrake.errors import SimulatorError
from trailbrake.sims.assetto import codec, spec
from trailbrake.transport.client_notices import print_to_stderr
from trailbrake.transport.shm import SharedLock, SharedMemory, SharedPage

_NOTED_WRITES = 3  # of another program: the user gets a line


class CarClaim:
    """Owns the CarControls page of one car, from `acquire_lock` to `close`.

    Args:
        memory: where the pages are.
        index: number of the car.
        mapped: whether to map the page, see `trailbrake.transport.shm`.

    Attributes:
        foreign_writes: how often another program had changed our controls when we wrote the next.
        written: the newest controls, as bytes.
    """

    def __init__(self, memory: SharedMemory, index: int, mapped: bool) -> None:
        self.foreign_writes = 0
        self.written = b""
        self._memory, self._mapped = memory, mapped
        self._name = spec.controls_name(index)
        self._index = index
        self._lock: SharedLock | None = None
        self._page: SharedPage | None = None
        self._untouched: bool | None = None  # whether the page is as written; None: not compared since the last write

    @property
    def is_open(self) -> bool:
        """Whether the page exists."""
        return self._page is not None

    def acquire_lock(self) -> None:
        """Take the lock of the car; SimulatorError while another trailbrake drives it."""
        self._lock = self._memory.acquire_lock(self._name)
        if self._lock is None:
            raise SimulatorError(
                f"car {self._index} is driven already by another trailbrake",
                where=f"{self._memory.folder}/{self._name}",
                hint="stop that one, or take another car",
            )

    def create_page(self, data: bytes) -> None:
        """Create the page, which takes the car, or replace the one that the game did not notice (section 4.6).

        Args:
            data: the first controls.
        """
        if self._page is not None:
            self._page.close(remove=self._page.created)
        self._page = self._memory.create_page(self._name, mapped=self._mapped)
        self.written = data
        self._page.write(data)

    def compare_page(self) -> None:
        """Compare the page with what was written last, so that the next `write_controls` need not."""
        if self._page is not None and self._untouched is not False:
            self._untouched = self._page.read(codec.CONTROLS_SIZE) == self.written

    def write_controls(self, data: bytes) -> None:
        """Write the controls `data`, and count a change that another program made to the last ones."""
        if self._page is None:
            raise SimulatorError("the link is not open", where=self._name)
        if self._untouched is None:
            self._untouched = self._page.read(codec.CONTROLS_SIZE) == self.written
        if not self._untouched:
            self.foreign_writes += 1
            if self.foreign_writes == _NOTED_WRITES:
                print_to_stderr(
                    f"{spec.NAME}: another program writes the controls of car {self._index} too, at "
                    f"{self._memory.folder}/{self._name}: the newest ones count, stop one of the two"
                )
        self._untouched = None
        self.written = data
        self._page.write(data)

    def close_page(self) -> None:
        """Give the car back."""
        if self._page is not None:
            # A page that existed before was left by a killed client, unless another program writes to it.
            self._page.close(remove=self._page.created or not self.foreign_writes)
            self._page = None

    def release_lock(self) -> None:
        """Release the lock of the car."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None
