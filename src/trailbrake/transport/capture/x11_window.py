"""Pictures of a window of an X11 screen, through the package xcffib and the X server's shared memory.

The picture is that of the window itself, not of its place on the screen: a window that another one covers is seen
whole, where the server keeps windows apart (a compositing desktop, or our own request to the Composite extension).
XWayland's windows are seen, those of Wayland's own programs are not.
"""

import contextlib
import ctypes
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trailbrake.errors import SimulatorError, UsageError
from trailbrake.transport.capture.camera_option import CropBox, ScreenWindow, choose_window

_ALL_PLANES, _Z_PIXMAP, _VIEWABLE = 0xFFFFFFFF, 2, 2
_NEW_SEGMENT = 0o1600  # IPC_CREAT, readable and writable by this user
_REMOVE_SEGMENT = 0  # IPC_RMID
_NO_ADDRESS = 2 ** (8 * ctypes.sizeof(ctypes.c_void_p)) - 1  # as an address: it failed
_REDIRECT_AUTOMATIC = 0
_DEEPEST = 3  # levels of windows below the root that are looked through where no window manager lists them
_PROPERTY_WORDS = 1024
_WAYLAND_HINT = "windows of Wayland's own programs are not visible to X11"


class X11Window:
    """One window, found by its title.

    Args:
        title: part of the title, or of the program's name.
        crop: the part of the window to capture; None = all of it.

    Raises:
        UsageError: the package xcffib is missing.
        SimulatorError: no X display, no such window, or one that is not shown.
    """

    def __init__(self, title: str, crop: CropBox | None = None) -> None:
        self._title, self._crop = title, crop
        self._segment = _SharedSegment()
        self._display = _Display()
        try:
            self._window = self._find_window()
            self._display.keep_apart(self._window)
            self.grab_pixels()
        except BaseException:
            self.close()
            raise

    def _find_window(self) -> int:
        hint = _WAYLAND_HINT if os.environ.get("WAYLAND_DISPLAY") else ""
        chosen = choose_window(self._display.list_windows(), self._title, hint)
        if not chosen.is_shown:
            raise SimulatorError("the window is minimised or on another desktop", where=chosen.title,
                                 hint="show it: a hidden window has no picture")  # fmt: skip
        return chosen.handle

    def grab_pixels(self) -> NDArray[np.uint8]:
        """Return the window's pixels (height, width, 4) uint8, blue first. The next call overwrites them.

        Raises:
            SimulatorError: the window is closed, hidden, or partly outside of the screen.
        """
        display = self._display
        try:
            size = display.core.GetGeometry(self._window).reply()
            left, top, width, height = 0, 0, size.width, size.height
            if self._crop is not None:
                left, top, width, height = self._crop.find_region(width, height)
            if size.depth not in (24, 32):
                raise SimulatorError("a screen of few colours", where=self._title, expected="24 bits per pixel",
                                     got=str(size.depth))  # fmt: skip
            self._segment.reserve_bytes(display, 4 * width * height)
            display.shm.GetImage(self._window, left, top, width, height, _ALL_PLANES, _Z_PIXMAP, self._segment.number,
                                 0).reply()  # fmt: skip
        except display.errors as error:
            raise SimulatorError(display.explain_error(error, self._window), where=self._title) from error
        return self._segment.pixels[: 4 * width * height].reshape(height, width, 4)

    def find_trouble(self) -> str:
        """Return "": a covered window is captured all the same."""
        return ""

    def reopen(self) -> None:
        """Find the window again by its title, after it was closed; SimulatorError while there is none."""
        self._window = self._find_window()
        self._display.keep_apart(self._window)

    def close(self) -> None:
        """Leave the display."""
        self._segment.release()
        self._display.close()


class _Display:
    """A connection to the X server, and the extensions that are used."""

    def __init__(self) -> None:
        try:
            import xcffib
            import xcffib.composite
            import xcffib.shm
            import xcffib.xproto
        except ImportError as error:
            raise UsageError("capturing a window needs the package xcffib", where="--camera",
                             hint='pip install "trailbrake[capture]"') from error  # fmt: skip
        except OSError as error:  # the C library that it loads
            raise UsageError(f"capturing a window needs libxcb: {error}", where="--camera",
                             hint="install your system's package libxcb1") from error  # fmt: skip
        self.errors = (xcffib.XcffibException, xcffib.ConnectionException)
        name = os.environ.get("DISPLAY", "")
        self._xcffib: Any = xcffib  # Any: its methods have no types, and mypy must pass with it and without
        try:
            self._connection: Any = self._xcffib.Connection()
        except self.errors as error:
            wayland = bool(os.environ.get("WAYLAND_DISPLAY"))
            raise SimulatorError("no X display" if not name else "the X display does not answer", where="--camera",
                                 expected="DISPLAY=:0 or the like", got=name or "no DISPLAY",
                                 hint="a Wayland desktop needs XWayland, and the game in it" if wayland
                                 else "run in the session of the desktop") from error  # fmt: skip
        self.core: Any = self._connection.core
        self._root = self._connection.get_setup().roots[self._connection.pref_screen].root
        try:
            self.shm: Any = self._connection(xcffib.shm.key)
            self.shm.QueryVersion().reply()
        except self.errors as error:
            self.close()
            raise _no_shared_memory() from error

    def make_number(self) -> int:
        """Return a number for a new object of the server."""
        number: int = self._connection.generate_id()
        return number

    def list_windows(self) -> list[ScreenWindow]:
        """Return the windows with a title: those that the window manager lists, or all of them."""
        listed = self._read_numbers(self._root, "_NET_CLIENT_LIST")
        found = [self._describe_window(handle) for handle in listed or self._walk_windows(self._root, 1)]
        return [window for window in found if window is not None and (window.title or window.program)]

    def _walk_windows(self, parent: int, level: int) -> list[int]:
        found: list[int] = []
        with contextlib.suppress(*self.errors):
            for child in self.core.QueryTree(parent).reply().children:
                found.append(child)
                if level < _DEEPEST:
                    found += self._walk_windows(child, level + 1)
        return found

    def _describe_window(self, handle: int) -> ScreenWindow | None:
        try:
            shown = self.core.GetWindowAttributes(handle).reply().map_state == _VIEWABLE
            title = self._read_text(handle, "_NET_WM_NAME") or self._read_text(handle, "WM_NAME")
            return ScreenWindow(handle, title, self._read_text(handle, "WM_CLASS"), shown)
        except self.errors:  # closed meanwhile
            return None

    def _read_property(self, window: int, name: str) -> Any:
        atom = self.core.InternAtom(False, len(name), name).reply().atom
        return self.core.GetProperty(False, window, atom, 0, 0, _PROPERTY_WORDS).reply().value

    def _read_numbers(self, window: int, name: str) -> list[int]:
        return [int(number) for number in np.frombuffer(self._read_property(window, name).buf(), np.uint32)]

    def _read_text(self, window: int, name: str) -> str:
        data = bytes(self._read_property(window, name).buf()).rstrip(b"\0").replace(b"\0", b" ")
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            return data.decode("latin-1")

    def keep_apart(self, window: int) -> None:
        """Let the server keep the window's picture apart from the screen's, where no compositor does so already."""
        selection = f"_NET_WM_CM_S{self._connection.pref_screen}"
        with contextlib.suppress(*self.errors):
            atom = self.core.InternAtom(False, len(selection), selection).reply().atom
            if self.core.GetSelectionOwner(atom).reply().owner:
                return
            composite = self._connection(self._xcffib.composite.key)
            composite.QueryVersion(0, 4).reply()
            composite.RedirectWindowChecked(window, _REDIRECT_AUTOMATIC).check()

    def explain_error(self, error: Exception, window: int) -> str:
        """Return why a picture of the window could not be had."""
        if isinstance(error, self._xcffib.ConnectionException):
            return "the X display is gone"
        try:
            shown = self.core.GetWindowAttributes(window).reply().map_state == _VIEWABLE
        except self.errors:
            return "the window is closed"
        return "the window is partly outside of the screen" if shown else "the window is minimised"

    def close(self) -> None:
        """Disconnect."""
        with contextlib.suppress(*self.errors):
            self._connection.disconnect()


class _SharedSegment:
    """Memory that the X server writes pictures to (System V; the MIT-SHM extension).

    Attributes:
        number: the server's number of it.
        pixels: its bytes.
    """

    def __init__(self) -> None:
        self._libc: Any = None
        self._address = 0
        self.number = 0
        self.pixels: NDArray[np.uint8] = np.empty(0, np.uint8)

    def reserve_bytes(self, display: _Display, size: int) -> None:
        """Make room for `size` bytes, where there is less."""
        if size <= len(self.pixels):
            return
        self.release()
        if self._libc is None:
            self._libc = ctypes.CDLL(None, use_errno=True)
            self._libc.shmget.argtypes = (ctypes.c_int, ctypes.c_size_t, ctypes.c_int)
            self._libc.shmat.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
            self._libc.shmat.restype = ctypes.c_void_p
            self._libc.shmdt.argtypes = (ctypes.c_void_p,)
        key = self._libc.shmget(0, size, _NEW_SEGMENT)
        address: int = self._libc.shmat(key, None, 0) if key >= 0 else _NO_ADDRESS
        try:
            if address == _NO_ADDRESS:
                raise SimulatorError(f"no shared memory: {os.strerror(ctypes.get_errno())}", where="--camera",
                                     expected=f"{size} bytes")  # fmt: skip
            self._address = address
            self.number = display.make_number()
            display.shm.AttachChecked(self.number, key, False).check()
        except display.errors as error:
            self.release()
            raise _no_shared_memory() from error
        finally:
            if key >= 0:  # it lives on until the last of us has let go of it
                self._libc.shmctl(key, _REMOVE_SEGMENT, None)
        self.pixels = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))

    def release(self) -> None:
        """Let go of the memory; the server does so when we disconnect."""
        self.pixels = np.empty(0, np.uint8)
        if self._address:
            self._libc.shmdt(self._address)
        self._address = 0


def _no_shared_memory() -> SimulatorError:
    return SimulatorError("the X display shares no memory with this program", where="--camera",
                          hint="a remote display, or one outside of a container, cannot be captured")  # fmt: skip
