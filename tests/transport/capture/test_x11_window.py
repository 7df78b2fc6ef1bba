"""Windows of a real X server without a screen: found by their title, captured whole, and what is said where not."""

import sys

import numpy as np
import pytest
from helpers.virtual_display import open_test_window, virtual_display

from trailbrake.errors import SimulatorError
from trailbrake.transport.capture.camera_option import parse_camera
from trailbrake.transport.capture.x11_window import X11Window

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="X11 is Linux's")]

RED, GREEN, BLUE = (255, 0, 0), (0, 255, 128), (0, 0, 255)  # as the helper's colours #ff0000, #00ff80, #0000ff


@pytest.fixture(scope="module")
def display():
    with virtual_display() as name:
        yield name


@pytest.fixture
def screen(display, monkeypatch):
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    return display


@pytest.fixture
def window(screen):
    with open_test_window(screen) as window:
        window.order("paint", "#ff0000", "#00ff80")
        yield window


def colour(pixels, x, y):
    return tuple(int(level) for level in pixels[y, x, 2::-1])


def test_a_window_is_found_and_its_pixels_are_right(window):
    grabber = X11Window("test game")
    pixels = grabber.grab_pixels()
    assert pixels.shape == (300, 400, 4)
    assert (pixels[:, :200, 2::-1] == RED).all()
    assert (pixels[:, 200:, 2::-1] == GREEN).all()
    grabber.close()


def test_each_grab_shows_the_present(window):
    grabber = X11Window("Test Game")
    assert colour(grabber.grab_pixels(), 5, 5) == RED
    window.order("paint", "#0000ff", "#ff0000")
    assert colour(grabber.grab_pixels(), 5, 5) == BLUE
    grabber.close()


def test_a_crop_is_a_part_of_the_window(window):
    grabber = X11Window("Test Game", parse_camera("window:x,crop=150,10,100,20").crop)
    pixels = grabber.grab_pixels()
    assert pixels.shape == (20, 100, 4)
    assert colour(pixels, 49, 0) == RED
    assert colour(pixels, 50, 0) == GREEN
    grabber.close()


def test_a_covered_window_is_captured_itself(screen, window):
    grabber = X11Window("Test Game")
    with open_test_window(screen, "Terminal", "500x400+50+20") as cover:
        cover.order("paint", "#0000ff", "#0000ff")
        cover.order("raise")
        window.order("paint", "#00ff80", "#ff0000")  # and it goes on painting below
        pixels = grabber.grab_pixels()
        assert colour(pixels, 5, 5) == GREEN
        assert colour(pixels, 395, 295) == RED
    grabber.close()


def test_a_window_that_grows_is_captured_whole(window):
    grabber = X11Window("Test Game")
    window.order("resize", "600x500+10+10")
    window.order("paint", "#0000ff", "#ff0000")
    pixels = grabber.grab_pixels()
    assert pixels.shape == (500, 600, 4)
    assert colour(pixels, 5, 495) == BLUE
    grabber.close()


def test_a_hidden_window_is_said_and_seen_again_when_it_is_back(window):
    grabber = X11Window("Test Game")
    window.order("hide")
    with pytest.raises(SimulatorError, match="Test Game: the window is minimised"):
        grabber.grab_pixels()
    with pytest.raises(SimulatorError, match="minimised or on another desktop; show it"):
        X11Window("Test Game")
    window.order("show")
    window.order("paint", "#0000ff", "#0000ff")
    grabber.reopen()
    assert colour(grabber.grab_pixels(), 5, 5) == BLUE
    grabber.close()


def test_a_closed_window_is_said_and_the_next_of_its_title_is_found(screen, window):
    grabber = X11Window("Test Game")
    window.close()
    with pytest.raises(SimulatorError, match="the window is closed"):
        grabber.grab_pixels()
    with pytest.raises(SimulatorError, match="no such window"):
        grabber.reopen()
    with open_test_window(screen) as again:
        again.order("paint", "#0000ff", "#0000ff")
        grabber.reopen()
        assert colour(grabber.grab_pixels(), 5, 5) == BLUE
    grabber.close()


def test_a_wrong_title_lists_the_windows(window, monkeypatch):
    with pytest.raises(SimulatorError) as raised:
        X11Window("Forza")
    assert str(raised.value) == "--camera window:Forza: no such window; there are: Test Game (tk Tk)"
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    with pytest.raises(SimulatorError, match=r"; windows of Wayland's own programs are not visible to X11$"):
        X11Window("Forza")


def test_pixels_of_an_earlier_grab_do_not_outlive_it(window):
    grabber = X11Window("Test Game")
    first = grabber.grab_pixels()
    kept = first.copy()
    window.order("paint", "#0000ff", "#0000ff")
    assert np.shares_memory(first, grabber.grab_pixels()), "one buffer: a grab allocates nothing"
    assert not (first == kept).all()
    grabber.close()


def test_without_a_display_the_line_says_what_to_do(screen, monkeypatch):
    monkeypatch.setenv("DISPLAY", "")
    with pytest.raises(SimulatorError, match=r"no X display, .* got no DISPLAY; run in the session of the desktop"):
        X11Window("x")
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    with pytest.raises(SimulatorError, match="a Wayland desktop needs XWayland, and the game in it"):
        X11Window("x")
    monkeypatch.setenv("DISPLAY", ":987")
    with pytest.raises(SimulatorError, match=r"the X display does not answer, .* got :987"):
        X11Window("x")
