"""The other cars of a session, by their CarPublic pages.

Source: protocol page assetto-custom-ai, section 2.4. The game writes these pages at its frame rate.
"""

from itertools import count

from trailbrake.sims.assetto import codec, convert, spec
from trailbrake.state import OtherCar
from trailbrake.transport.shm import SharedMemory, SharedPage

_READ_STEPS = 5  # physics steps between reads of the pages
_COUNT_STEPS = 333  # physics steps between counts of the cars


class OtherCarReader:
    """Reads the public pages of all cars but our own.

    Args:
        memory: where the pages are.
        own_index: number of our car.
        mapped: whether to map the pages, see `trailbrake.transport.shm`.
    """

    def __init__(self, memory: SharedMemory, own_index: int, mapped: bool) -> None:
        self._memory, self._own_index, self._mapped = memory, own_index, mapped
        self._pages: dict[int, SharedPage] = {}
        self._cars: list[OtherCar] = []
        self._step = self._read_at = self._counted_at = 0  # physics steps

    def read_cars(self, step: int) -> list[OtherCar]:
        """Return the other cars at physics step `step`: the list of the last call, or a new one."""
        if step < self._step:  # the session was restarted
            self._read_at = self._counted_at = step
        self._step = step
        if step - self._counted_at >= _COUNT_STEPS or self._counted_at == 0:
            self._counted_at = step
            self._open_pages()
        if step - self._read_at >= _READ_STEPS:
            self._read_at = step
            # A new list, since earlier states keep theirs.
            self._cars = [car for index, page in self._pages.items() if (car := _read_car(index, page)) is not None]
        return self._cars

    def _open_pages(self) -> None:
        """Open the pages of new cars, and drop those that were removed. Cars are numbered without gaps."""
        for index in count():
            page = self._pages.get(index)
            if page is not None:
                if page.is_current():
                    continue
                self._pages.pop(index).close()
            if index == self._own_index:
                if not self._memory.page_exists(spec.public_name(index)):
                    return
                continue
            page = self._memory.open_page(spec.public_name(index), mapped=self._mapped)
            if page is None:
                return
            self._pages[index] = page

    def close(self) -> None:
        """Close the pages."""
        for page in self._pages.values():
            page.close()
        self._pages = {}


def _read_car(index: int, page: SharedPage) -> OtherCar | None:
    """Return car `index` as its page shows it; None where the page is not yet written, or was truncated."""
    data = page.read(codec.PUBLIC_SIZE)
    again = page.read(codec.PUBLIC_SIZE)
    if again != data:
        again = page.read(codec.PUBLIC_SIZE)
    if len(again) != codec.PUBLIC_SIZE or codec.decode_packet_id(again) == 0:
        return None
    return convert.other_from_wire(index, codec.decode_public(again))
