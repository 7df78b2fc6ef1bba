"""`Board`: what is to be told to the pages, written by the drive's thread, read by the server's."""

from collections.abc import Callable
from typing import Any

from trailbrake.dashboard import wire
from trailbrake.dashboard.seat import Seat
from trailbrake.dashboard.tap import LiveTap

SAID_MOST = 500  # lines kept for pages that come late


class Board:
    """Everything that a page may want to know. Its parts are replaced or appended, never changed in place.

    Args:
        clock: steady time, s.

    Attributes:
        seat: who drives, where the driver is the person at the page.
        tap: sees the drive; None until it has begun.
        header: the text message with what a page must know before the first frame; "" until then.
        lines: text messages since the beginning: laps, and what the drive says.
        by_hand: the driver is the person at the page.
        over: why the drive has ended, "" as planned; None while it goes on.
        pages: how many are open; the server counts them.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.seat = Seat(clock)
        self.tap: LiveTap | None = None
        self.header = ""
        self.lines: list[str] = []
        self.by_hand = False
        self.over: str | None = None
        self.pages = 0

    def begin(self, tap: LiveTap, header: dict[str, Any]) -> None:
        """Start to show a drive."""
        self.by_hand = header["by_hand"]
        self.tap = tap
        self.header = wire.text("header", header)

    def tell(self, kind: str, value: Any) -> None:
        """Add a text message. Once there are too many no more are taken: a page keeps count of what it has."""
        if len(self.lines) < SAID_MOST:
            self.lines.append(wire.text(kind, value))
