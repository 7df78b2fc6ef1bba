"""Windows of a Windows desktop: a window of our own, painted and captured. On Linux run by `.ci/windows.py`, under wine
with a display."""

import sys

import pytest

from trailbrake.errors import SimulatorError
from trailbrake.transport.capture.camera_option import parse_camera
from trailbrake.transport.capture.windows_window import __doc__ as about

pytestmark = pytest.mark.skipif(sys.platform != "win32", reason="captures a window of Windows")

if sys.platform == "win32":
    import ctypes
    from ctypes import wintypes

    from trailbrake.transport.capture.windows_window import DesktopWindow, list_windows

    user32, gdi32 = ctypes.WinDLL("user32"), ctypes.WinDLL("gdi32")
    user32.CreateWindowExW.restype = wintypes.HWND
    user32.CreateWindowExW.argtypes = (
        wintypes.DWORD, wintypes.LPCWSTR, wintypes.LPCWSTR, wintypes.DWORD, *[ctypes.c_int] * 4, wintypes.HWND,
        wintypes.HMENU, wintypes.HINSTANCE, wintypes.LPVOID
    )  # fmt: skip
    user32.GetDC.restype = wintypes.HDC
    user32.GetDC.argtypes = (wintypes.HWND,)
    user32.ReleaseDC.argtypes = (wintypes.HWND, wintypes.HDC)
    user32.FillRect.argtypes = (wintypes.HDC, ctypes.POINTER(wintypes.RECT), wintypes.HBRUSH)
    user32.ShowWindow.argtypes = (wintypes.HWND, ctypes.c_int)
    user32.DestroyWindow.argtypes = (wintypes.HWND,)
    user32.GetClientRect.argtypes = (wintypes.HWND, ctypes.POINTER(wintypes.RECT))
    gdi32.CreateSolidBrush.restype = wintypes.HBRUSH
    gdi32.CreateSolidBrush.argtypes = (wintypes.COLORREF,)
    VISIBLE, TOPMOST, MINIMISE, RESTORE = 0x10CF0000, 8, 6, 9  # WS_VISIBLE | WS_OVERLAPPEDWINDOW, WS_EX_TOPMOST, SW_...
    RED, GREEN = 0x0000FF, 0x80FF00  # COLORREF: blue, green, red


class Window:
    """A window of two colours side by side."""

    def __init__(self, title, left=60, top=40, width=420, height=340):
        self.handle = user32.CreateWindowExW(TOPMOST, "#32770", title, VISIBLE, left, top, width, height, None, None,
                                             None, None)  # fmt: skip
        if not self.handle:
            pytest.skip("no desktop here")
        self.settle()

    def settle(self):
        message = wintypes.MSG()
        for _ in range(50):
            while user32.PeekMessageW(ctypes.byref(message), None, 0, 0, 1):
                user32.DispatchMessageW(ctypes.byref(message))

    def paint(self, left, right):
        self.settle()
        area = wintypes.RECT()
        user32.GetClientRect(self.handle, ctypes.byref(area))
        context, middle = user32.GetDC(self.handle), area.right // 2
        for colour, begin, end in ((left, 0, middle), (right, middle, area.right)):
            part = wintypes.RECT(begin, 0, end, area.bottom)
            user32.FillRect(context, ctypes.byref(part), gdi32.CreateSolidBrush(colour))
        gdi32.GdiFlush()
        user32.ReleaseDC(self.handle, context)
        self.settle()  # wine shows what was painted when messages are looked for
        return area.right, area.bottom

    def show(self, how):
        user32.ShowWindow(self.handle, how)
        self.settle()

    def close(self):
        if self.handle:
            user32.DestroyWindow(self.handle)
            self.settle()
        self.handle = None


@pytest.fixture
def window():
    pytest.importorskip("mss")
    window = Window("Test Game for Windows")
    yield window
    window.close()


def colour(pixels, x, y):
    return tuple(int(level) for level in pixels[y, x, 2::-1])


def test_the_module_says_what_covers_it():
    assert "covers it" in about


def test_a_window_is_found_by_its_title_or_its_program(window):
    found = [one for one in list_windows() if one.handle == window.handle]
    assert [one.title for one in found] == ["Test Game for Windows"]
    assert found[0].program.lower().startswith("python")
    assert found[0].is_shown


def test_its_client_area_is_captured(window):
    width, height = window.paint(RED, GREEN)
    grabber = DesktopWindow("test game")
    pixels = grabber.grab_pixels()
    assert pixels.shape == (height, width, 4)
    assert colour(pixels, 5, 5) == (255, 0, 0)
    assert colour(pixels, width - 5, height - 5) == (0, 255, 128)
    window.paint(GREEN, RED)
    assert colour(grabber.grab_pixels(), 5, 5) == (0, 255, 128)
    grabber.close()


def test_a_crop_is_a_part_of_the_client_area(window):
    width, _ = window.paint(RED, GREEN)
    grabber = DesktopWindow("Test Game", parse_camera("window:x,crop=50%,0%,50%,10%").crop)
    pixels = grabber.grab_pixels()
    assert pixels.shape[1] == pytest.approx(width / 2, abs=1)
    assert colour(pixels, 5, 5) == (0, 255, 128)
    grabber.close()


def test_a_minimised_window_is_said_and_seen_again(window):
    grabber = DesktopWindow("Test Game")
    window.show(MINIMISE)
    with pytest.raises(SimulatorError, match="the window is minimised"):
        grabber.grab_pixels()
    with pytest.raises(SimulatorError, match="minimised; show it"):
        DesktopWindow("Test Game")
    window.show(RESTORE)
    window.paint(RED, GREEN)
    grabber.reopen()
    assert colour(grabber.grab_pixels(), 5, 5) == (255, 0, 0)
    grabber.close()


def test_a_window_over_it_is_said(window):
    grabber = DesktopWindow("Test Game")
    assert grabber.find_trouble() == ""
    cover = Window("Terminal", 20, 20, 600, 500)
    assert grabber.find_trouble() == "Terminal covers it"
    cover.close()
    grabber.close()


def test_a_closed_window_is_said(window):
    grabber = DesktopWindow("Test Game")
    window.close()
    with pytest.raises(SimulatorError, match="the window is closed"):
        grabber.grab_pixels()
    with pytest.raises(SimulatorError, match="no such window"):
        grabber.reopen()
    grabber.close()
