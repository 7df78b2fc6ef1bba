"""The lease of the car's controls: which page drives, and whether it still responds."""

import threading
from collections.abc import Callable

from trailbrake.control.vehicle.manual_input import ManualInput

LEASE_TIMEOUT_S = 0.25  # s of a page's silence after which it loses the lease: the dead-man


class ControlLease:
    """Gives the controls to the first page that requests them; another may have them after a release or a timeout.

    Args:
        clock: steady time, s.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._newest_request: tuple[int, ManualInput, float] | None = None  # page, input, time; replaced whole
        self._change_lock = threading.Lock()

    def request_control(self, page: int, manual_input: ManualInput) -> bool:
        """Store a page's input if the page has the lease or can have it; return whether it drives."""
        with self._change_lock:
            if self.holder not in (None, page):
                return False
            self._newest_request = (page, manual_input, self._clock())
            return True

    def release_control(self, page: int) -> None:
        """End the lease, if this page has it."""
        with self._change_lock:
            if self._newest_request is not None and self._newest_request[0] == page:
                self._newest_request = None

    @property
    def holder(self) -> int | None:
        """Number of the page that drives; None while no page does."""
        held = self._newest_request
        return held[0] if held is not None and self._clock() - held[2] <= LEASE_TIMEOUT_S else None

    def newest_input(self) -> ManualInput | None:
        """Return the newest input of the page that drives; None while no page does."""
        held = self._newest_request
        return held[1] if held is not None and self._clock() - held[2] <= LEASE_TIMEOUT_S else None
