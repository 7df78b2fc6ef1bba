"""`PageState`: what open pages show, written by the drive's thread; `ControlLease`: which page drives."""

import json
import threading
from collections.abc import Callable
from typing import Any

from trailbrake.control.vehicle.manual_input import ManualInput
from trailbrake.dashboard import page_messages
from trailbrake.dashboard.frame_source import FrameSource

MAX_TEXTS = 500  # kept for pages that are opened later
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


class PageState:
    """The state of a drive for its pages. Parts are replaced or appended, never changed in place.

    Args:
        clock: steady time, s.

    Attributes:
        control_lease: which page drives, where the driver is the person at the page.
        source: of the frames; None before the start.
        scene: what `scene_data.describe_scene` returns, as JSON; "" before the start.
        header: the text message that a page needs before the first frame; "" before the start.
        texts: text messages since the start: laps, and lines for the user.
        is_driven_by_hand: the driver is the person at the page.
        end_reason: why the drive has ended, "" as planned; None while it goes on.
        open_pages: how many are open; the server counts them.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.control_lease = ControlLease(clock)
        self.source: FrameSource | None = None
        self.header = self.scene = ""
        self.texts: list[str] = []
        self.is_driven_by_hand = False
        self.end_reason: str | None = None
        self.open_pages = 0

    def start_drive(self, source: FrameSource, header: dict[str, Any], scene: dict[str, Any]) -> None:
        """Start to show a drive or a recording."""
        self.is_driven_by_hand = header["by_hand"]
        self.source = source
        self.scene = json.dumps(scene, allow_nan=False)
        self.header = page_messages.encode_text("header", header)

    def publish_text(self, kind: str, value: Any) -> None:
        """Add a text message; further ones than MAX_TEXTS are dropped, since a page counts what it has received."""
        if len(self.texts) < MAX_TEXTS:
            self.texts.append(page_messages.encode_text(kind, value))
