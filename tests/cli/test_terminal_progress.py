import math
import sys

import pytest

from trailbrake.cli.terminal_progress import TerminalProgress
from trailbrake.laps import LapRecord
from trailbrake.run.options import DriveOptions
from trailbrake.state import CarState

GOOD = LapRecord(1, 62.5, True, (20.0, 20.0, 22.5), "", 0.0, 0)
BAD = LapRecord(2, 61.0, False, (20.0, 20.0, 21.0), "contact", 0.0, 1)


def show():
    with TerminalProgress(DriveOptions()) as terminal:
        terminal.show_message("moving")
        terminal.show_progress(0.3, CarState(speed=50.0), 1)
        terminal.show_progress(math.nan, CarState(speed=50.0), 2)
        terminal.show_lap(GOOD)
        terminal.show_lap(BAD)


def test_without_a_terminal_plain_lines_on_stderr(capsys):
    show()
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == ["moving", "lap 1  1:02.500", "lap 2  1:01.000  not valid: contact"]


@pytest.mark.parametrize("raises", [False, True])
def test_on_a_terminal_a_bar_that_goes_away(capsys, monkeypatch, raises):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    if raises:
        with pytest.raises(ZeroDivisionError), TerminalProgress(DriveOptions()):
            raise ZeroDivisionError
    else:
        show()
    out, err = capsys.readouterr()
    assert out == ""
    assert "180 km/h" in err or raises
    assert "\x1b[?25h" in err, "the cursor is shown again"
