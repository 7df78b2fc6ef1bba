"""What can be asked of the live page; the command line makes its flags from these."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class PageOptions:
    """The live page of a drive.

    Attributes:
        watch: show the drive as a page in a browser on this machine; the drive runs in real time. It is also where
            `--driver manual` is driven from.
        watch_port: the page's port; 0 = any free one.
        open: open the page in the browser.
    """

    watch: bool = False
    watch_port: int = 0
    open: bool = False


@dataclass(frozen=True, kw_only=True)
class WatchOptions:
    """What to watch while somebody else drives.

    Attributes:
        sim: whose wire.
        track: the road to draw: a track's name or file; without one the page shows where the car has been.
        port: of the page on this machine; 0 = any free one.
        seconds: of wall time; 0 = until stopped.
        open: open the page in the browser.
    """

    sim: str = "forza"
    track: str = ""
    port: int = 8765
    seconds: float = 0.0
    open: bool = False
