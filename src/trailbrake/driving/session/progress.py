"""Listeners of a drive: messages, laps and progress for the terminal or a notebook, every tick for the live page."""

import sys
from collections.abc import Callable
from typing import Protocol

from trailbrake.analysis.lap_table import format_lap_time
from trailbrake.json_types import JsonObject
from trailbrake.laps import LapRecord
from trailbrake.planning.course import Course
from trailbrake.roles import Driver, Link, Tap
from trailbrake.state import CarState
from trailbrake.units import KMH


class ProgressListener(Protocol):
    """Receives messages and progress of a drive; the command line prints them."""

    def show_message(self, text: str) -> None:
        """A line for the user."""

    def show_lap(self, lap: LapRecord) -> None:
        """A lap is finished."""

    def show_progress(self, share_done: float, state: CarState, lap: int) -> None:
        """Called a few times a second."""


class DriveView(Protocol):
    """Shows every tick of a drive: the live page, a terminal.

    Attributes:
        has_hands: whether a person can drive there: a driver with an attribute `hands` gets what answers for them.
    """

    has_hands: bool

    def attach_drive(self, about: JsonObject, link: Link, driver: Driver, course: Course) -> Tap:
        """Return the tap of the first car."""

    def execute_requests(self) -> None:
        """Carry out what people have requested meanwhile; called between ticks, also while no sample comes."""


class SilentListener:
    """A ProgressListener that prints nothing."""

    def show_message(self, text: str) -> None:
        """Say nothing."""

    def show_lap(self, lap: LapRecord) -> None:
        """Show nothing."""

    def show_progress(self, share_done: float, state: CarState, lap: int) -> None:
        """Show nothing."""


class MessagePrinter(SilentListener):
    """A ProgressListener that passes messages on and shows nothing else.

    Args:
        say: takes a line for the user.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say

    def show_message(self, text: str) -> None:
        """Pass a line on."""
        self._say(text)


def make_listener() -> ProgressListener:
    """Return a listener that shows progress where a notebook runs this, else one that shows nothing."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return NotebookListener() if type(shell).__name__ == "ZMQInteractiveShell" else SilentListener()


class NotebookListener(SilentListener):
    """Shows messages, laps and progress by IPython."""

    def __init__(self) -> None:
        self._change_line: Callable[[object], object] | None = None

    def show_message(self, text: str) -> None:
        """Print a line."""
        print(text)

    def show_lap(self, lap: LapRecord) -> None:
        """Print the lap."""
        print(f"lap {lap.number}: {format_lap_time(lap.time_s)}{'' if lap.valid else ', ' + lap.invalid_reason}")

    def show_progress(self, share_done: float, state: CarState, lap: int) -> None:
        """Change the line."""
        from IPython.display import HTML, display

        line = HTML(f'<progress value="{share_done:.3f}"></progress> lap {lap}, {state.speed / KMH:.0f} km/h')
        if self._change_line is None:
            self._change_line = display(line, display_id=True).update
        else:
            self._change_line(line)
