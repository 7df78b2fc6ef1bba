"""Reads the classic pages of a running game: its session, its track and its car, and the wait for a session.

Source: protocol page assetto-custom-ai, sections 4.6, 6 and 8. Pages of a dead game remain readable; only
an advancing packet_id shows that the game runs.
"""

import math
from collections.abc import Callable
from typing import TypeVar

from trailbrake.errors import SimulatorError, WireError
from trailbrake.sims.assetto.wire import acpmf
from trailbrake.simulator_tools import Idle
from trailbrake.transport.shm import SharedMemory, SharedPage
from trailbrake.units import RPM

SETTLED_STEPS = 666  # physics steps, 2 s: the game gives no car right after a session began (section 4.6)
Message = TypeVar("Message")
_PAGES = {
    acpmf.PHYSICS_NAME: acpmf.PHYSICS_SIZE,
    acpmf.GRAPHICS_NAME: acpmf.GRAPHICS_SIZE,
    acpmf.STATIC_NAME: acpmf.STATIC_SIZE,
}


class ClassicPageReader:
    """Reads the classic pages; each result is None while its page does not exist.

    Args:
        memory: where the pages are.
    """

    def __init__(self, memory: SharedMemory) -> None:
        self._memory = memory
        self._pages: dict[str, SharedPage] = {}

    def read_physics(self) -> acpmf.Physics | None:
        """Return the page that the game writes in every physics step."""
        return self._read_page(acpmf.PHYSICS_NAME, acpmf.decode_physics)

    def read_graphics(self) -> acpmf.Graphics | None:
        """Return the page that the game writes in every frame."""
        return self._read_page(acpmf.GRAPHICS_NAME, acpmf.decode_graphics)

    def read_static(self) -> acpmf.Static | None:
        """Return the page of the session's constants; None too while it names no track."""
        static = self._read_page(acpmf.STATIC_NAME, acpmf.decode_static)
        return static if static is not None and static.track else None

    def read_limiter(self) -> float:
        """Return the engine speed at the limiter of the player's car, rad/s; NaN where the page does not say it."""
        static = self.read_static()
        return static.max_rpm * RPM if static is not None and static.max_rpm > 0 else math.nan

    def _read_page(self, name: str, decode: Callable[[bytes], Message]) -> Message | None:
        page = self._pages.get(name)
        if page is not None and not page.is_current():
            self._pages.pop(name).close()
            page = None
        if page is None:
            page = self._memory.open_page(name, _PAGES[name])  # no larger: the file of a bridge must keep its size
            if page is None:
                return None
            self._pages[name] = page
        try:
            return decode(page.read(_PAGES[name]))
        except WireError:  # another program has truncated it
            return None

    def close(self) -> None:
        """Close the pages."""
        for page in self._pages.values():
            page.close()
        self._pages = {}


def await_session(
    reader: ClassicPageReader, now: float, wait: float, idle: Idle, say: Callable[[str], None] = lambda text: None
) -> float:
    """Wait until the game's session runs and has settled; return at once where there are no classic pages.

    Args:
        reader: the pages.
        now: s.
        wait: s to wait at most.
        idle: lets time pass and returns the new `now`.
        say: receives a line about what the wait is for.

    Returns:
        `now` at the end of the wait.

    Raises:
        SimulatorError: no session within `wait`.
    """
    deadline, said = now + wait, ""
    while True:
        graphics, physics = reader.read_graphics(), reader.read_physics()
        if graphics is None:
            return now
        if graphics.status == acpmf.LIVE and (physics is None or physics.packet_id >= SETTLED_STEPS):
            return now
        live = graphics.status == acpmf.LIVE
        status = "just beginning" if live else f"in status {status_text(graphics.status)}"
        if now >= deadline:
            raise SimulatorError(
                f"no running session: the game is {status}", where=acpmf.GRAPHICS_NAME,
                expected=f"status live within {wait:g} s", hint="start a session and drive out of its menu; "
                "a pause that a program requested ends by trailbrake sim assetto resume",
            )  # fmt: skip
        if not live and status != said:
            said = status
            say(f"waiting for the session: the game is {status}")
        now = idle()


def status_text(status: int) -> str:
    """Return the name of a status; its number if it has no name."""
    return acpmf.STATUSES[status] if 0 <= status < len(acpmf.STATUSES) else str(status)


def session_text(session: int) -> str:
    """Return the name of a kind of session; its number if it has no name."""
    return acpmf.SESSIONS.get(session, str(session))
