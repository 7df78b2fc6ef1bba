"""The one seat behind the wheel: which page drives, and whether it is still there."""

import threading
from collections.abc import Callable

from trailbrake.control.hands import Wish

SILENT = 0.25  # s without a word from the page: the dead-man


class Seat:
    """Gives the wheel to the first page that asks; another may have it when that one lets go or falls silent.

    Args:
        clock: steady time, s.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._held: tuple[int, Wish, float] | None = None  # page, wish, when; replaced whole
        self._taking = threading.Lock()

    def ask(self, page: int, wish: Wish) -> bool:
        """Take a page's wish; return whether it drives."""
        with self._taking:
            if self.holder not in (None, page):
                return False
            self._held = (page, wish, self._clock())
            return True

    def leave(self, page: int) -> None:
        """Free the seat, if this page has it."""
        with self._taking:
            if self._held is not None and self._held[0] == page:
                self._held = None

    @property
    def holder(self) -> int | None:
        """The page that drives, None while none does."""
        held = self._held
        return held[0] if held is not None and self._clock() - held[2] <= SILENT else None

    def wish(self) -> Wish | None:
        """Return the newest wish of the page that drives; None where there is none, or it has been silent too long."""
        held = self._held
        return held[1] if held is not None and self._clock() - held[2] <= SILENT else None
