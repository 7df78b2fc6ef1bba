"""Listeners of a drive: messages, laps and progress for the terminal, every tick for the live page."""

from collections.abc import Callable
from typing import Protocol

from trailbrake.json_types import JsonObject
from trailbrake.laps import LapRecord
from trailbrake.planning.course import Course
from trailbrake.roles import Driver, Link, Tap
from trailbrake.state import CarState


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
