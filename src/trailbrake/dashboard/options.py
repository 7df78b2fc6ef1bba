"""Options of the live page; the command line makes its flags from these."""

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

CoachFlag = Annotated[tuple[str, ...] | None, Parameter(consume_multiple=True)]


@dataclass(frozen=True, kw_only=True)
class PageAccess:
    """Who sees the live page.

    Attributes:
        watch_host: serve the page to other devices too, at this address of this machine; 0.0.0.0: at each.
        watch_control: let other devices drive by hand, pause, replay and change gains.
        open: open the live page in the browser, or without `--watch` the written one.
    """

    watch_host: str = ""
    watch_control: bool = False
    open: bool = False


OWN_PAGE = PageAccess()  # for this machine alone


@dataclass(frozen=True, kw_only=True)
class PageOptions(PageAccess):
    """The live page of a drive or of a served world.

    Attributes:
        watch: show the first car on a live page in a browser, in real time, with the keys of `--driver manual`.
        watch_port: of the page; 0 = any free one.
    """

    watch: bool = False
    watch_port: int = 0


@dataclass(frozen=True, kw_only=True)
class WatchOptions(PageAccess):
    """What to watch.

    Attributes:
        sim: whose wire.
        track: the road to draw, a name or file; default: where the car has been.
        port: of the page; 0 = any free one.
        seconds: of wall time; 0 = until stopped.
        camera: window:TITLE shows the game's window too, as `drive --camera`.
        signals: names of docs/signals.md to show too, patterns as `forza.*`, or `all`.
        coach: coach the person who drives, by a session of `trailbrake coach --history`: its date, or `last`; without a
            value the newest of this road and car.
    """

    sim: str = "forza"
    track: str = ""
    port: int = 8765
    seconds: float = 0.0
    camera: str = ""
    signals: tuple[str, ...] = ()
    coach: CoachFlag = None


@dataclass(frozen=True, kw_only=True)
class ReplayPageOptions(PageOptions):
    """A recording on the live page.

    Attributes:
        seconds: of wall time; 0 = until stopped.
        coach: show the limit car as a ghost, and the coach's hints, of a session: as `watch --coach`.
    """

    seconds: float = 0.0
    coach: CoachFlag = None
