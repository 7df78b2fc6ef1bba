"""Pictures of a window of a Windows desktop, through the package mss: what the screen shows at the window's place.

A window that covers it is captured instead of it; `find_trouble` tells so.
"""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trailbrake.errors import SimulatorError, UsageError
from trailbrake.transport.capture.camera_option import CropBox, ScreenWindow, choose_window

if sys.platform == "win32":
    import ctypes
    from ctypes import wintypes

    _user32 = ctypes.WinDLL("user32", use_last_error=True)
    _kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
    _ENUMERATOR = ctypes.WINFUNCTYPE(wintypes.BOOL, wintypes.HWND, wintypes.LPARAM)
    _user32.EnumWindows.argtypes = (_ENUMERATOR, wintypes.LPARAM)
    for _name in ("IsWindow", "IsWindowVisible", "IsIconic"):
        getattr(_user32, _name).argtypes = (wintypes.HWND,)
    _user32.GetWindowTextW.argtypes = (wintypes.HWND, wintypes.LPWSTR, ctypes.c_int)
    _user32.GetClientRect.argtypes = (wintypes.HWND, ctypes.POINTER(wintypes.RECT))
    _user32.ClientToScreen.argtypes = (wintypes.HWND, ctypes.POINTER(wintypes.POINT))
    _user32.GetWindowThreadProcessId.argtypes = (wintypes.HWND, ctypes.POINTER(wintypes.DWORD))
    _user32.WindowFromPoint.argtypes = (wintypes.POINT,)
    _user32.WindowFromPoint.restype = wintypes.HWND
    _user32.GetAncestor.argtypes = (wintypes.HWND, wintypes.UINT)
    _user32.GetAncestor.restype = wintypes.HWND
    _kernel32.OpenProcess.argtypes = (wintypes.DWORD, wintypes.BOOL, wintypes.DWORD)
    _kernel32.OpenProcess.restype = wintypes.HANDLE
    _kernel32.CloseHandle.argtypes = (wintypes.HANDLE,)
    _kernel32.QueryFullProcessImageNameW.argtypes = (
        wintypes.HANDLE, wintypes.DWORD, wintypes.LPWSTR, ctypes.POINTER(wintypes.DWORD)
    )  # fmt: skip
    _QUERY_LIMITED = 0x1000
    _ROOT = 2  # GA_ROOT
    _LONGEST = 512  # characters of a title or a path

    def _read_title(handle: int) -> str:
        text = ctypes.create_unicode_buffer(_LONGEST)
        _user32.GetWindowTextW(handle, text, _LONGEST)
        return text.value

    def _read_program(handle: int) -> str:
        number, size = wintypes.DWORD(), wintypes.DWORD(_LONGEST)
        _user32.GetWindowThreadProcessId(handle, ctypes.byref(number))
        process = _kernel32.OpenProcess(_QUERY_LIMITED, False, number)
        if not process:
            return ""
        text = ctypes.create_unicode_buffer(_LONGEST)
        _kernel32.QueryFullProcessImageNameW(process, 0, text, ctypes.byref(size))
        _kernel32.CloseHandle(process)
        return text.value.rpartition("\\")[2]

    def list_windows() -> list[ScreenWindow]:
        """Return the visible windows with a title, minimised ones included."""
        found: list[ScreenWindow] = []

        def add_window(handle: int, _: int) -> bool:
            title = _read_title(handle) if _user32.IsWindowVisible(handle) else ""
            if title:
                found.append(ScreenWindow(handle, title, _read_program(handle), not _user32.IsIconic(handle)))
            return True

        _user32.EnumWindows(_ENUMERATOR(add_window), 0)
        return found

    class DesktopWindow:
        """One window, found by its title.

        Args:
            title: part of the title, or of the program's name.
            crop: the part of the window to capture; None = all of it.

        Raises:
            UsageError: the package mss is missing.
            SimulatorError: no such window, or one that is not shown.
        """

        def __init__(self, title: str, crop: CropBox | None = None) -> None:
            try:
                import mss
            except ImportError as error:
                raise UsageError("capturing a window needs the package mss", where="--camera",
                                 hint='pip install "trailbrake[capture]"') from error  # fmt: skip
            self._title, self._crop, self._mss = title, crop, mss
            # First: it makes this process see pixels, not the scaled units of a desktop with large text.
            self._screen: Any = mss.MSS()
            self.reopen()
            self._find_region()

        def reopen(self) -> None:
            """Find the window by its title; SimulatorError while there is none that is shown."""
            chosen = choose_window(list_windows(), self._title)
            if not chosen.is_shown:
                raise SimulatorError("the window is minimised", where=chosen.title,
                                     hint="show it: a hidden window has no picture")  # fmt: skip
            self._handle = chosen.handle

        def _find_region(self) -> dict[str, int]:
            corner, size = wintypes.POINT(), wintypes.RECT()
            if not _user32.IsWindow(self._handle):
                raise SimulatorError("the window is closed", where=self._title)
            if _user32.IsIconic(self._handle):
                raise SimulatorError("the window is minimised", where=self._title)
            _user32.GetClientRect(self._handle, ctypes.byref(size))
            _user32.ClientToScreen(self._handle, ctypes.byref(corner))
            if size.right < 1 or size.bottom < 1:
                raise SimulatorError("the window has no area", where=self._title)
            left, top, width, height = 0, 0, size.right, size.bottom
            if self._crop is not None:
                left, top, width, height = self._crop.find_region(width, height)
            return {"left": corner.x + left, "top": corner.y + top, "width": width, "height": height}

        def grab_pixels(self) -> NDArray[np.uint8]:
            """Return the window's pixels (height, width, 4) uint8, blue first.

            Raises:
                SimulatorError: the window is closed, minimised, or has no area.
            """
            region = self._find_region()
            try:
                shot = self._screen.grab(region)
            except (self._mss.ScreenShotError, OSError) as error:
                raise SimulatorError(f"the screen cannot be read: {error}", where=self._title) from error
            return np.frombuffer(shot.raw, np.uint8).reshape(region["height"], region["width"], 4)

        def find_trouble(self) -> str:
            """Return what is wrong with the pictures: a window over the middle of this one; "" for nothing."""
            region = self._find_region()
            middle = wintypes.POINT(region["left"] + region["width"] // 2, region["top"] + region["height"] // 2)
            over = _user32.WindowFromPoint(middle)
            top, own = (_user32.GetAncestor(handle, _ROOT) for handle in (over, self._handle))
            return f"{_read_title(top) or 'another window'} covers it" if over and top != own else ""

        def close(self) -> None:
            """Let go of the screen."""
            self._screen.close()
