import pytest

from trailbrake.errors import SimulatorError
from trailbrake.transport.capture.camera_option import ScreenWindow, choose_window

WINDOWS = [
    ScreenWindow(1, "Forza Horizon 5", "forzahorizon5.exe"),
    ScreenWindow(2, "BeamNG.drive - 0.38 - RELEASE - x64", "BeamNG.drive.x64.exe"),
    ScreenWindow(3, "Assetto Corsa", "acs.exe"),
    ScreenWindow(4, "Assetto Corsa Launcher", "AssettoCorsa.exe"),
    ScreenWindow(5, "Forza Horizon 5 wheel guide - Browser", "browser.exe", is_shown=False),
    ScreenWindow(6, "", "tray.exe"),
]


@pytest.mark.parametrize(
    ("wanted", "handle"),
    [
        ("beamng", 2),  # part of a title, whatever its case
        ("assetto corsa", 3),  # exactly a title before part of one
        ("forza", 1),  # a shown window before a hidden one
        ("acs.exe", 3),  # the program, where no title fits
        ("wheel guide", 5),  # a hidden one where there is no other: the caller says that it is hidden
    ],
)
def test_the_window_that_is_meant(wanted, handle):
    assert choose_window(WINDOWS, wanted).handle == handle


def test_several_windows_are_listed():
    with pytest.raises(SimulatorError) as raised:
        choose_window(WINDOWS, "Assetto")
    assert str(raised.value) == (
        "--camera window:Assetto: several windows fit, got Assetto Corsa (acs.exe); "
        "Assetto Corsa Launcher (AssettoCorsa.exe); write more of the title"
    )


def test_no_window_lists_those_that_are_there_and_what_else_it_may_be():
    with pytest.raises(SimulatorError) as raised:
        choose_window(WINDOWS, "Gran Turismo", "maybe it hides")
    line = str(raised.value)
    assert line.startswith("--camera window:Gran Turismo: no such window; there are: Assetto Corsa (acs.exe); ")
    assert line.endswith("; maybe it hides")
    assert "tray.exe" not in line


def test_a_long_list_is_cut_short():
    many = [ScreenWindow(n, f"Window {n}", "a.exe") for n in range(40)]
    with pytest.raises(SimulatorError, match="and 28 more"):
        choose_window(many, "no such thing")


def test_an_empty_screen_says_so():
    with pytest.raises(SimulatorError, match="no such window; the screen has no windows"):
        choose_window([], "x")
