"""`PageState`: what open pages show; the drive's thread writes it, the server's thread reads it."""

import json
from collections.abc import Callable
from typing import Any

from trailbrake.dashboard import page_messages
from trailbrake.dashboard.control_lease import ControlLease
from trailbrake.dashboard.frame_source import FrameSource

MAX_TEXTS = 500  # kept for pages that are opened later


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
