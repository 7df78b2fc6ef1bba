"""Options of the live page; the command line makes its flags from these."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class PageOptions:
    """The live page of a drive.

    Attributes:
        watch: show the drive as a page in a browser on this machine; the drive runs in real time. The keys of
            `--driver manual` work there.
        watch_port: the page's port; 0 = any free one.
        open: open the page in the browser.
    """

    watch: bool = False
    watch_port: int = 0
    open: bool = False


@dataclass(frozen=True, kw_only=True)
class ServePageOptions:
    """The live page of a served world.

    Attributes:
        watch: show the first car of the world as a page in a browser on this machine, whichever program drives it.
        watch_port: the page's port; 0 = any free one.
        open: open the page in the browser.
    """

    watch: bool = False
    watch_port: int = 0
    open: bool = False


@dataclass(frozen=True, kw_only=True)
class WatchOptions:
    """What to watch.

    Attributes:
        sim: whose wire.
        track: the road to draw: a track's name or file; without one the page shows where the car has been.
        port: of the page on this machine; 0 = any free one.
        seconds: of wall time; 0 = until stopped.
        open: open the page in the browser.
        camera: window:TITLE shows the game's window on the page too, as `drive --camera` takes it.
        signals: names of docs/signals.md to show too, or patterns as `forza.*`; `all` for every signal.
    """

    sim: str = "forza"
    track: str = ""
    port: int = 8765
    seconds: float = 0.0
    open: bool = False
    camera: str = ""
    signals: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ReplayPageOptions:
    """A recording on the live page.

    Attributes:
        watch: show the recording as a page in a browser on this machine.
        watch_port: the page's port; 0 = any free one.
        open: open the page in the browser.
        seconds: of wall time; 0 = until stopped.
    """

    watch: bool = False
    watch_port: int = 0
    open: bool = False
    seconds: float = 0.0
