"""`Watching`: a drive with a live page. What the terminal is told the page is told too."""

import webbrowser
from types import TracebackType
from typing import Any, Self

from trailbrake.dashboard import wire
from trailbrake.dashboard.board import Board
from trailbrake.dashboard.server import PageServer
from trailbrake.dashboard.tap import LiveTap
from trailbrake.laps import LapRecord
from trailbrake.planning.course import Course, Unmapped
from trailbrake.roles import Driver, Link, Tap
from trailbrake.run import rate
from trailbrake.run.show import Show
from trailbrake.state import CarState
from trailbrake.tracks.road import Road


class Watching:
    """A Show around another one, and a Watch. A context manager: on leaving the page is told that it is over.

    Args:
        show: who else is told.
        port: of the page, 0 for any free one.
        open_browser: whether to open the page.

    Attributes:
        url: where the page is.

    Raises:
        SimulatorError: the port is taken.
    """

    def __init__(self, show: Show, port: int = 0, open_browser: bool = False) -> None:
        self._show = show
        self._board = Board(rate.now)
        self._server = PageServer(self._board, port)
        self._tap: LiveTap | None = None
        self.url = self._server.url
        show.say(f"the page is at {self.url}")
        if open_browser and not webbrowser.open(self.url):
            show.say("no browser could be opened: open that address in one")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close("" if error is None else " ".join(str(error).split()) or type(error).__name__)

    def say(self, text: str) -> None:
        """Pass a line on."""
        self._board.tell("said", text)
        self._show.say(text)

    def lap(self, lap: LapRecord) -> None:
        """Pass a finished lap on."""
        if self._tap is not None:
            self._tap.lap()
        self._board.tell("lap", wire.lap(lap))
        self._show.lap(lap)

    def progress(self, share_done: float, state: CarState, lap: int) -> None:
        """Pass on how far it is."""
        self._show.progress(share_done, state, lap)

    def attend(self, about: dict[str, Any], link: Link, driver: Driver, course: Course) -> Tap:
        """Begin to show a drive, and let the person at the page have the wheel where the driver wants that."""
        if isinstance(course, Unmapped):
            return self.begin(about, link, driver, None, None)
        line = course.line if course.car is not None else None
        return self.begin(about, link, driver, course.track.road, line)

    def begin(
        self, about: dict[str, Any], link: Link, driver: Driver | None, road: Road | None, line: Road | None
    ) -> LiveTap:
        """Begin to show what a link tells.

        Args:
            about: what the page's title says.
            link: whose counters are shown.
            driver: who drives; None: somebody else.
            road: the track; None where it is not known.
            line: the planned line.
        """
        by_hand = hasattr(driver, "hands")
        if by_hand:
            driver.hands = self._board.seat.wish  # type: ignore[union-attr]
        self._tap = LiveTap(rate.now, link, driver)
        self._board.begin(self._tap, wire.header(about, road, line, by_hand))
        return self._tap
