"""The text of `--camera`: which picture, which part of it, at which size and rate.

The windows of a screen, and which of them a title means.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from trailbrake.errors import SimulatorError, UsageError

CameraKind = Literal["window", "world"]
RATE_HZ = 30.0
WIDTH, HEIGHT = 320, 240  # pixels: what the shipped drivers by camera and `train clone` were made for
_MOST_HZ = 240.0
_SMALLEST, _LARGEST = 16, 4096  # pixels
_SETTING = re.compile(r",(?=\s*(?:crop|size|rate)\s*=)")
_FORM = "window:TITLE or world, then ,crop=X,Y,W,H ,size=WxH ,rate=HZ as wanted"


class CropEdge(NamedTuple):
    """One number of a crop: pixels, or a share of the window's width or height."""

    value: float
    is_share: bool

    def to_pixels(self, whole: int) -> float:
        """Return the number in pixels of a side that is `whole` pixels long."""
        return self.value * whole if self.is_share else self.value


class CropBox(NamedTuple):
    """The part of a window's client area that is the picture: left, top, width, height."""

    left: CropEdge
    top: CropEdge
    width: CropEdge
    height: CropEdge

    def find_region(self, width: int, height: int) -> tuple[int, int, int, int]:
        """Return left, top, width and height in whole pixels of a window of `width` x `height`, cut at its edges.

        Raises:
            UsageError: nothing of the window is left.
        """
        left, top = round(self.left.to_pixels(width)), round(self.top.to_pixels(height))
        right = min(left + round(self.width.to_pixels(width)), width)
        bottom = min(top + round(self.height.to_pixels(height)), height)
        if right - left < 1 or bottom - top < 1:
            raise UsageError("the crop lies outside of the window", where="--camera, crop",
                             expected=f"a part of {width} x {height} pixels",
                             got=f"from {left}, {top} to {right}, {bottom}")  # fmt: skip
        return left, top, right - left, bottom - top


@dataclass(frozen=True)
class CameraOption:
    """A camera that a wire does not have.

    Attributes:
        kind: `window`: the picture of a window on the screen; `world`: the embedded world's view from the car.
        title: part of the window's title, or of its program's name.
        crop: which part of the window; None = all of it.
        width, height: of the picture that the driver receives, pixels.
        rate: pictures per second.
    """

    kind: CameraKind
    title: str = ""
    crop: CropBox | None = None
    width: int = WIDTH
    height: int = HEIGHT
    rate: float = RATE_HZ


def parse_camera(text: str) -> CameraOption | None:
    """Return the camera that `text` describes; None for "".

    Raises:
        UsageError: the text has another form, or a value out of its range.
    """
    if not text:
        return None
    first, *settings = _SETTING.split(text)
    kind, _, title = first.partition(":")
    title = title.strip()
    if kind == "window" and title:
        option = CameraOption("window", title)
    elif first == "world":
        option = CameraOption("world")
    else:
        raise UsageError("no such camera", where="--camera", expected=_FORM, got=repr(text))
    for setting in settings:
        name, _, value = (part.strip() for part in setting.partition("="))
        option = _SETTERS[name](option, value)
    return option


def _set_crop(option: CameraOption, text: str) -> CameraOption:
    if option.kind == "world":
        raise UsageError("the world's view cannot be cropped", where="--camera, crop", hint="leave crop= out")
    numbers = [part.strip() for part in text.split(",")]
    try:
        edges = [
            CropEdge(float(n[:-1]) / 100.0, True) if n.endswith("%") else CropEdge(float(n), False) for n in numbers
        ]
        left, top, width, height = edges
    except ValueError:
        edges = []
    if not edges or not all(0.0 <= edge.value < math.inf for edge in edges) or not (width.value and height.value):
        raise UsageError("no crop", where="--camera, crop", expected="X,Y,W,H in pixels, or in % of the window",
                         got=repr(text))  # fmt: skip
    return replace(option, crop=CropBox(left, top, width, height))


def _set_size(option: CameraOption, text: str) -> CameraOption:
    width, _, height = text.lower().partition("x")
    if not (width.isdecimal() and height.isdecimal() and all(_SMALLEST <= int(n) <= _LARGEST for n in (width, height))):
        raise UsageError("no size of a picture", where="--camera, size",
                         expected=f"WxH, each {_SMALLEST} to {_LARGEST} pixels", got=repr(text))  # fmt: skip
    return replace(option, width=int(width), height=int(height))


def _set_rate(option: CameraOption, text: str) -> CameraOption:
    try:
        rate = float(text)
    except ValueError:
        rate = math.nan
    if not 1.0 <= rate <= _MOST_HZ:
        raise UsageError("no rate of pictures", where="--camera, rate", expected=f"1 to {_MOST_HZ:g} per second",
                         got=repr(text))  # fmt: skip
    return replace(option, rate=rate)


_SETTERS = {"crop": _set_crop, "size": _set_size, "rate": _set_rate}


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
