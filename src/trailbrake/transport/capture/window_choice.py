"""The windows of a screen, and which of them a title means."""

from collections.abc import Sequence
from typing import NamedTuple

from trailbrake.errors import SimulatorError

_MOST_LISTED = 12


class ScreenWindow(NamedTuple):
    """One window.

    Attributes:
        handle: the window system's number of it.
        title: as its title bar shows it.
        program: names of the program that owns it.
        is_shown: whether it has a place on the screen: not minimised, and on the desktop in use.
    """

    handle: int
    title: str
    program: str
    is_shown: bool = True


def choose_window(windows: Sequence[ScreenWindow], wanted: str, hint: str = "") -> ScreenWindow:
    """Return the window that `wanted` means: whose title it is, or is in; else whose program's name it is in.

    A title that is exactly `wanted` comes first, and shown windows come before hidden ones. Case does not count.

    Args:
        windows: all windows with a title.
        wanted: part of a title, or of a program's name.
        hint: what else may be the reason for a missing window.

    Raises:
        SimulatorError: no window fits, or several do; the error lists them.
    """
    text = wanted.casefold()
    for fits in (_is_title, _is_in_title, _is_in_program):
        found = [window for window in windows if fits(window, text)]
        found = [window for window in found if window.is_shown] or found
        if len(found) == 1:
            return found[0]
        if found:
            raise SimulatorError("several windows fit", where=_place(wanted), got=_list_titles(found),
                                 hint="write more of the title")  # fmt: skip
    titled = [window for window in windows if window.title]
    there = f"there are: {_list_titles(titled)}" if titled else "the screen has no windows"
    raise SimulatorError("no such window", where=_place(wanted), hint="; ".join(filter(None, [there, hint])))


def _place(wanted: str) -> str:
    return f"--camera window:{wanted}"


def _is_title(window: ScreenWindow, text: str) -> bool:
    return window.title.casefold() == text


def _is_in_title(window: ScreenWindow, text: str) -> bool:
    return text in window.title.casefold()


def _is_in_program(window: ScreenWindow, text: str) -> bool:
    return text in window.program.casefold()


def _list_titles(windows: Sequence[ScreenWindow]) -> str:
    names = sorted(f"{window.title or 'no title'} ({window.program or 'unknown program'})" for window in windows)
    more = len(names) - _MOST_LISTED
    return "; ".join(names[:_MOST_LISTED]) + (f"; and {more} more" if more > 0 else "")
