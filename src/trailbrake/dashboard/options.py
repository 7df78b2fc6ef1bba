"""Options of the live page; the command line makes its flags from these."""

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

CoachFlag = Annotated[tuple[str, ...] | None, Parameter(consume_multiple=True)]


@dataclass(frozen=True, kw_only=True)
class PageAccess:
    """Who sees the live page.

    Attributes:
        watch_host: serve the page to other devices too, at this address of this machine; 0.0.0.0: at each of them. They
            need the printed address, which contains a token.
        watch_control: other devices may also drive by hand, pause, replay and change gains; without it they only watch.
        open: open the page in the browser: the live page, or without `--watch` the one that is written.
    """

    watch_host: str = ""
    watch_control: bool = False
    open: bool = False


OWN_PAGE = PageAccess()  # for this machine alone


@dataclass(frozen=True, kw_only=True)
class PageOptions(PageAccess):
    """The live page of a drive or of a served world.

    Attributes:
        watch: show the first car as a live page in a browser; a drive runs in real time. The keys of `--driver manual`
            work there.
        watch_port: the page's port; 0 = any free one.
    """

    watch: bool = False
    watch_port: int = 0


@dataclass(frozen=True, kw_only=True)
class WatchOptions(PageAccess):
    """What to watch.

    Attributes:
        sim: whose wire.
        track: the road to draw: a track's name or file; without one the page shows where the car has been.
        port: of the page; 0 = any free one.
        seconds: of wall time; 0 = until stopped.
        camera: window:TITLE shows the game's window on the page too, as `drive --camera` takes it.
        signals: names of docs/signals.md to show too, or patterns as `forza.*`; `all` for every signal.
        coach: coach the person who drives, by a session of `trailbrake coach --history`: its date or how that begins,
            or `last`; without a value the newest one of this road and car.
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
        coach: show the limit lap's car as a ghost, and the coach's times and hints, of a session of `trailbrake coach
            --history`: its date or how that begins, or `last`; without a value the newest one of this road and car.
    """

    seconds: float = 0.0
    coach: CoachFlag = None
