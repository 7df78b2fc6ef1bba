"""`LiveCamera`: captures pictures in a thread of its own; a drive's loop reads the newest one and never waits."""

import sys
import threading
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from trailbrake.errors import SimulatorError, TrailbrakeError
from trailbrake.histogram import DurationHistogram
from trailbrake.json_types import JsonObject
from trailbrake.state import CarState
from trailbrake.system import steady_clock
from trailbrake.transport.capture.camera_option import CameraOption
from trailbrake.transport.capture.picture_scaling import CapturedImage, scale_picture
from trailbrake.transport.client_notices import print_to_stderr

OLDEST_S = 0.5  # s; an older picture is none: the window is closed, hidden, or its owner hangs
FIRST_PICTURE_S = 5.0  # s that the first picture may take
CLOSE_S = 2.0  # s that the thread may take to end
_RETRY_S = 0.5  # s between attempts to find a window again
_LOOK_S = 1.0  # s between looks for trouble


class PictureGrabber(Protocol):
    """What pictures are captured from."""

    def grab_pixels(self) -> NDArray[np.uint8] | None:
        """Return the pixels now: (h, w, 4) blue first, or (h, w, 3) RGB; None where there are no newer ones.

        Raises:
            SimulatorError: it is gone.
        """

    def reopen(self) -> None:
        """Find it again after it was gone; SimulatorError while it cannot be found."""

    def find_trouble(self) -> str:
        """Return what is wrong with the pictures, "" for nothing."""

    def close(self) -> None:
        """Let go of it."""


def open_window(option: CameraOption) -> PictureGrabber:
    """Return the grabber of the window that `option` names.

    Raises:
        UsageError: the package for it is missing, or the crop lies outside of the window.
        SimulatorError: no such window, or one that is not shown; no display.
    """
    if sys.platform == "win32":
        from trailbrake.transport.capture.windows_window import DesktopWindow

        return DesktopWindow(option.title, option.crop)
    from trailbrake.transport.capture.x11_window import X11Window

    return X11Window(option.title, option.crop)


def open_live_camera(option: CameraOption, doors: str | None = None) -> "LiveCamera":
    """Return a camera of what another process shows: a window, or the world that a host draws on its page.

    Args:
        option: which, its size and rate.
        doors: folder of the private wire; None = the public names.

    Raises:
        UsageError, SimulatorError: as `open_window`; the host shows no view, or no picture comes.
    """
    if option.kind == "window":
        return LiveCamera(open_window(option), option, print_to_stderr)
    from trailbrake.transport.capture.view_page import ViewReader

    return LiveCamera(ViewReader(doors), option, print_to_stderr)


class LiveCamera:
    """Captures pictures until it is closed. Older ones are dropped, never queued.

    Args:
        grabber: an open one; `close` closes it.
        option: size and rate of the pictures.
        say: receives a line when pictures cease and when they are back.

    Attributes:
        newest: the newest picture.

    Raises:
        SimulatorError: no picture came within FIRST_PICTURE_S.
    """

    def __init__(
        self, grabber: PictureGrabber, option: CameraOption, say: Callable[[str], None] = lambda text: None
    ) -> None:
        self._grabber, self._option, self._say = grabber, option, say
        self._ended = threading.Event()
        self._count, self._failures, self._trouble = 0, 0, ""
        self._ages, self._captures = DurationHistogram(), DurationHistogram()
        self._began_at = steady_clock.now()
        try:
            self.newest: CapturedImage = self._await_first()
        except BaseException:
            grabber.close()
            raise
        self._thread = threading.Thread(target=self._capture_until_closed, name="camera", daemon=True)
        self._thread.start()

    def _await_first(self) -> CapturedImage:
        while (first := self._capture_picture()) is None:
            if steady_clock.now() - self._began_at > FIRST_PICTURE_S or self._ended.wait(0.01):
                raise SimulatorError("no picture comes", where="--camera", expected=f"one within {FIRST_PICTURE_S:g} s")
        return first

    def _capture_picture(self) -> CapturedImage | None:
        began = steady_clock.now()
        pixels = self._grabber.grab_pixels()
        if pixels is None:
            return None
        self._count += 1
        picture = CapturedImage(scale_picture(pixels, self._option.width, self._option.height), self._count, began)
        self._captures.add_duration(steady_clock.now() - began)
        return picture

    def _capture_until_closed(self) -> None:
        period = 1.0 / self._option.rate
        due, look_at = steady_clock.now() + period, 0.0
        while not self._ended.wait(max(due - steady_clock.now(), 0.0)):
            try:
                picture = self._capture_picture()
                if picture is not None:
                    self.newest = picture
                if steady_clock.now() >= look_at:
                    look_at = steady_clock.now() + _LOOK_S
                    self._report_trouble(self._grabber.find_trouble())
            except TrailbrakeError as error:
                self._failures += 1
                self._report_trouble(str(error))
                if not self._find_again():
                    return
            # From now where a capture took longer: pictures that nobody took are not made up for.
            due = max(due + period, steady_clock.now())

    def _find_again(self) -> bool:
        """Wait until the grabber is found again; return False where the camera is closed meanwhile."""
        while not self._ended.wait(_RETRY_S):
            try:
                self._grabber.reopen()
                return True
            except TrailbrakeError:
                continue
        return False

    def _report_trouble(self, trouble: str) -> None:
        if trouble != self._trouble:
            self._trouble = trouble
            self._say(f"camera: {trouble}" if trouble else "camera: pictures are back")

    def find_picture(self, state: CarState) -> CapturedImage | None:
        """Return the newest picture; None while it is older than OLDEST_S. The state does not matter."""
        newest = self.newest
        age = steady_clock.now() - newest.taken_at
        self._ages.add_duration(age)
        return newest if age <= OLDEST_S else None

    def summarise_pictures(self) -> JsonObject:
        """Return how many pictures came, how often, how old they were when read, and how long a capture took."""
        seconds = max(steady_clock.now() - self._began_at, 1e-9)
        return {
            "pictures": self._count,
            "rate_hz": self._count / seconds,
            "age_p50_ms": 1e3 * self._ages.percentile(0.5),
            "age_p99_ms": 1e3 * self._ages.percentile(0.99),
            "capture_p50_ms": 1e3 * self._captures.percentile(0.5),
            "capture_p99_ms": 1e3 * self._captures.percentile(0.99),
            "failures": self._failures,
            "trouble": self._trouble,
        }

    def close(self) -> None:
        """End the thread and let go of the window."""
        self._ended.set()
        self._thread.join(CLOSE_S)
        if not self._thread.is_alive():  # else its display hangs, and the end of the process ends it
            self._grabber.close()
