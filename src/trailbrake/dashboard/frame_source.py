"""`FrameSource`: where the frames of a page come from: a drive that goes on, or a recording."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from trailbrake.dashboard.page_requests import PageRequest
from trailbrake.state import DebugLine, Image, OtherCar


class Frame(NamedTuple):
    """One frame: the row that `page_messages.frame_row` returns, the other cars with the ghosts, the camera's image."""

    row: list[float]
    others: Sequence[OtherCar]
    image: Image | None


class FrameSource(Protocol):
    """What a page shows. All methods are called by the server's thread.

    Attributes:
        restart_count: changes where the path driven has to be sent again.
        history_count: changes where the history has to be sent again.
        lines: what the driver draws in the world; replaced, never changed in place.
    """

    restart_count: int
    history_count: int
    lines: tuple[DebugLine, ...]

    @property
    def has_frames(self) -> bool:
        """Whether there is a frame already."""

    def make_frame(self, number: int, skipped: int, sent: float) -> Frame:
        """Return the newest frame.

        Args:
            number: of the frame, for this page.
            skipped: frames that this page was too slow for.
            sent: s since 1970.
        """

    def update(self) -> None:
        """Do what has to be done from time to time; called some thirty times a second, also without a page."""

    def encode_path(self) -> bytes:
        """Return the points driven: x, y (m), speed (m/s) as little-endian doubles."""

    def encode_rows(self) -> bytes:
        """Return the frames of the last half minute as rows of little-endian doubles."""

    def describe_controls(self) -> dict[str, Any]:
        """Return what a page can request, and what is set, as JSON values."""

    def execute_request(self, request: PageRequest) -> str:
        """Do what a page requests; return why not, "" if it is done."""

    @property
    def debug_image(self) -> Any:
        """The driver's own image, (height, width, 3) uint8; None without one."""
