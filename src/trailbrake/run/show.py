"""How a drive tells whoever watches it that it goes on."""

from typing import Any, Protocol

from trailbrake.laps import LapRecord
from trailbrake.planning.course import Course
from trailbrake.roles import Driver, Link, Tap
from trailbrake.state import CarState


class Show(Protocol):
    """What wants to be told how a drive goes; the command line prints it."""

    def say(self, text: str) -> None:
        """A line for the user."""

    def lap(self, lap: LapRecord) -> None:
        """A lap is finished."""

    def progress(self, share_done: float, state: CarState, lap: int) -> None:
        """Called a few times a second."""


class Watch(Protocol):
    """What wants to see every tick of a drive, and may lend its driver a person's hands; the live page does."""

    def attend(self, about: dict[str, Any], link: Link, driver: Driver, course: Course) -> Tap:
        """Return the tap of the first car. A driver with an attribute `hands` gets what answers for the person."""


class Quiet:
    """A Show that shows nothing."""

    def say(self, text: str) -> None:
        """Say nothing."""

    def lap(self, lap: LapRecord) -> None:
        """Show nothing."""

    def progress(self, share_done: float, state: CarState, lap: int) -> None:
        """Show nothing."""
