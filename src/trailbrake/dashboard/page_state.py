"""`PageState`: what open pages show; the drive's thread writes it, the server's thread reads it."""

from collections.abc import Callable
from typing import Any

from trailbrake.dashboard import page_messages
from trailbrake.dashboard.control_lease import ControlLease
from trailbrake.dashboard.live_tap import LiveTap

MAX_TEXTS = 500  # kept for pages that are opened later


class PageState:
    """The state of a drive for its pages. Parts are replaced or appended, never changed in place.

    Args:
        clock: steady time, s.

    Attributes:
        control_lease: which page drives, where the driver is the person at the page.
        live_tap: receives the drive's ticks; None before the start.
        header: the text message that a page needs before the first frame; "" before the start.
        texts: text messages since the start: laps, and lines for the user.
        is_driven_by_hand: the driver is the person at the page.
        end_reason: why the drive has ended, "" as planned; None while it goes on.
        open_pages: how many are open; the server counts them.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.control_lease = ControlLease(clock)
        self.live_tap: LiveTap | None = None
        self.header = ""
        self.texts: list[str] = []
        self.is_driven_by_hand = False
        self.end_reason: str | None = None
        self.open_pages = 0

    def start_drive(self, tap: LiveTap, header: dict[str, Any]) -> None:
        """Start to show a drive."""
        self.is_driven_by_hand = header["by_hand"]
        self.live_tap = tap
        self.header = page_messages.encode_text("header", header)

    def publish_text(self, kind: str, value: Any) -> None:
        """Add a text message; further ones than MAX_TEXTS are dropped, since a page counts what it has received."""
        if len(self.texts) < MAX_TEXTS:
            self.texts.append(page_messages.encode_text(kind, value))
