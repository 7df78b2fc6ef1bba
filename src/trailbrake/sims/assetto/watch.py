"""Looks at the classic pages of a running game: what session it is in, with which car on which track.

Source: protocol page assetto-custom-ai, sections 4.6, 6 and 8. Pages of a dead game read fine for ever; what lives is
told by a packet_id that advances.
"""

from collections.abc import Callable
from typing import TypeVar

from trailbrake.errors import SimulatorError, WireError
from trailbrake.sims.assetto import acpmf
from trailbrake.transport.shm import Page, SharedMemory

SETTLED_STEPS = 666  # physics steps, 2 s: a car asked for right after the session began is not given (section 4.6)
Message = TypeVar("Message")
_PAGES = {
    acpmf.PHYSICS_NAME: acpmf.PHYSICS_SIZE,
    acpmf.GRAPHICS_NAME: acpmf.GRAPHICS_SIZE,
    acpmf.STATIC_NAME: acpmf.STATIC_SIZE,
}


class Watch:
    """Reads the classic pages; each answer is None while its page is not there.

    Args:
        memory: where the pages are.
    """

    def __init__(self, memory: SharedMemory) -> None:
        self._memory = memory
        self._pages: dict[str, Page] = {}

    def physics(self) -> acpmf.Physics | None:
        """Return the page of every step."""
        return self._read(acpmf.PHYSICS_NAME, acpmf.decode_physics)

    def graphics(self) -> acpmf.Graphics | None:
        """Return the page of every frame."""
        return self._read(acpmf.GRAPHICS_NAME, acpmf.decode_graphics)

    def static(self) -> acpmf.Static | None:
        """Return the page of the session; None too while it names no track."""
        static = self._read(acpmf.STATIC_NAME, acpmf.decode_static)
        return static if static is not None and static.track else None

    def _read(self, name: str, decode: Callable[[bytes], Message]) -> Message | None:
        page = self._pages.get(name)
        if page is not None and not page.current():
            self._pages.pop(name).close()
            page = None
        if page is None:
            page = self._memory.open(name, _PAGES[name])  # no larger: a bridge's file shall stay as it is
            if page is None:
                return None
            self._pages[name] = page
        try:
            return decode(page.read(_PAGES[name]))
        except WireError:  # a stranger cut it short
            return None

    def close(self) -> None:
        """Let the pages go."""
        for page in self._pages.values():
            page.close()
        self._pages = {}


def await_session(
    watch: Watch, now: float, wait: float, idle: Callable[[], float], say: Callable[[str], None] = lambda text: None
) -> float:
    """Return when the game is in a running session that has settled; at once where there are no classic pages.

    Args:
        watch: the pages.
        now: s.
        wait: s to wait at most.
        idle: lets time pass and returns the new `now`.
        say: told once what is waited for.

    Returns:
        The `now` of then.

    Raises:
        SimulatorError: no session within `wait`.
    """
    deadline, said = now + wait, ""
    while True:
        graphics, physics = watch.graphics(), watch.physics()
        if graphics is None:
            return now
        if graphics.status == acpmf.LIVE and (physics is None or physics.packet_id >= SETTLED_STEPS):
            return now
        live = graphics.status == acpmf.LIVE
        status = "just beginning" if live else f"in status {status_text(graphics.status)}"
        if now >= deadline:
            raise SimulatorError(
                f"no running session: the game is {status}", where=acpmf.GRAPHICS_NAME,
                expected=f"status live within {wait:g} s", hint="start a session and drive out of its menu",
            )  # fmt: skip
        if not live and status != said:
            said = status
            say(f"waiting for the session: the game is {status}")
        now = idle()


def status_text(status: int) -> str:
    """Return the name of a status, or its number where it has none."""
    return acpmf.STATUSES[status] if 0 <= status < len(acpmf.STATUSES) else str(status)


def session_text(session: int) -> str:
    """Return the name of a kind of session."""
    return acpmf.SESSIONS.get(session, str(session))
