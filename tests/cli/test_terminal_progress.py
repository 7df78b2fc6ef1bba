import contextlib
import math
import os
import sys

import pytest

from trailbrake.cli.terminal_progress import (
    BAR_WIDTH,
    DriveFigures,
    TaskProgress,
    TerminalProgress,
    describe_drive,
    describe_times,
    draw_bar,
    draw_centred_bar,
)
from trailbrake.dashboard.live_tap import LiveTap
from trailbrake.dashboard.page_messages import ConnectionHealth
from trailbrake.laps import LapRecord
from trailbrake.planning.course import UnmappedCourse
from trailbrake.state import CarState, Controls

GOOD = LapRecord(1, 62.5, True, (20.0, 20.0, 22.5), "", 0.0, 0)
BAD = LapRecord(2, 61.0, False, (20.0, 20.0, 21.0), "contact", 0.0, 1)
LAPS = [LapRecord(1, 62.5, True, (), "", 0.0, 0), LapRecord(2, 61.0, False, (), "contact", 0.0, 1)]


def show():
    with TerminalProgress("gt3 on hartmoor") as terminal:
        terminal.show_message("moving")
        terminal.show_progress(0.3, CarState(speed=50.0), 1)
        terminal.show_progress(math.nan, CarState(speed=50.0), 2)
        terminal.show_lap(GOOD)
        terminal.show_lap(BAD)


def use_terminal(monkeypatch):
    """Make stderr a terminal of 80 by 24 characters."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    for name, value in {"TERM": "xterm", "FORCE_COLOR": "1", "COLUMNS": "80", "LINES": "24"}.items():
        monkeypatch.setenv(name, value)


def test_without_a_terminal_plain_lines_on_stderr(capsys):
    show()
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == ["moving", "lap 1  1:02.500", "lap 2  1:01.000  not valid: contact"]


@pytest.mark.parametrize("raises", [False, True])
def test_on_a_terminal_a_bar_that_goes_away(capsys, monkeypatch, raises):
    use_terminal(monkeypatch)
    if raises:
        with pytest.raises(ZeroDivisionError), TerminalProgress("gt3 on hartmoor"):
            raise ZeroDivisionError
    else:
        show()
    out, err = capsys.readouterr()
    assert out == ""
    assert "gt3 on hartmoor" in err
    assert "\x1b[?25h" in err, "the cursor is shown again"


def test_with_json_and_on_a_terminal_that_cannot_be_redrawn_there_are_plain_lines(capsys, monkeypatch):
    use_terminal(monkeypatch)
    for title, wanted, kind in (("a", False, "xterm"), ("b", True, "dumb")):
        monkeypatch.setenv("TERM", kind)
        with TaskProgress(title, wanted=wanted) as progress:
            progress.show_share(0.5)
            progress.show_message("half")
        assert capsys.readouterr().err == "half\n"


@pytest.mark.skipif(sys.platform == "win32", reason="poll")
def test_a_drive_does_not_wait_for_the_reader_of_its_lines(monkeypatch):
    """`drive 2>&1 | less`: at the next lap the car was braked until somebody read on."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)  # so that a line too many raises, and does not hang
    with os.fdopen(reading, "rb") as reader, os.fdopen(writing, "w") as end, monkeypatch.context() as changed:
        changed.setattr(sys, "stderr", end)
        progress = TerminalProgress("kart")
        progress.show_lap(GOOD)
        assert reader.read1() == b"lap 1  1:02.500\n"
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writing, b"x" * 4096)
        progress.show_lap(GOOD)
        assert b"lap" not in reader.read1(1 << 20)


def test_a_drive_is_a_table_of_80_columns(capsys, monkeypatch):
    use_terminal(monkeypatch)
    with TerminalProgress("driving") as progress:
        tap = LiveTap(lambda: 10.0)
        progress.show_samples({"car": "gt3", "track": "oval"}, tap)
        tap.tick(CarState(time=1.0, speed=50.0, throttle=0.25, steer=-0.5, gear=3, lap_time=12.5), Controls())
        progress.show_progress(0.25, CarState(), 2)
        drawn = progress._console.render_lines(progress._render())
    lines = ["".join(part.text for part in line).rstrip() for line in drawn]
    assert max(map(len, lines)) <= 80
    assert len(lines) == 7
    assert lines[0].split() == ["speed", "180", "km/h", "lap", "2", "12.500"]
    assert "25 %" in lines[2]
    assert lines[6].startswith("gt3 on oval")
    assert lines[6].endswith("so far")
    monkeypatch.setenv("COLUMNS", "50")
    with TerminalProgress("gt3 on hartmoor") as progress:
        progress.show_samples({"car": "gt3", "track": "oval"}, tap)
        assert len(progress._console.render_lines(progress._render())) == 1, "too narrow for the table"


def test_a_lap_is_followed_by_the_terminal_alone_where_there_is_no_page(capsys, monkeypatch):
    use_terminal(monkeypatch)
    progress = TerminalProgress("kart")
    tap = LiveTap(lambda: 10.0)
    progress._tap, progress._updates_tap = tap, True
    for lap, speed in ((1, 20.0), (2, 25.0)):
        for k in range(int(300.0 / speed / 0.1)):
            state = CarState(time=100.0 * lap + 0.1 * k, x=0.1 * k * speed, speed=speed, lap_time=0.1 * k)
            state.y = state.z = state.yaw = state.steering_wheel_angle = 0.0
            tap.tick(state, Controls())
            progress._render()
        if lap == 1:
            progress.show_lap(LapRecord(1, 15.0, True, (), "", 0.0, 0))
    assert tap.pace.delta == pytest.approx(300.0 / 25.0 - 300.0 / 20.0, abs=0.1)


def test_the_title_is_the_car_and_the_track_of_the_drive_where_they_are_known(monkeypatch):
    use_terminal(monkeypatch)
    for about, title in (
        ({"car": "gt3", "track": "hartmoor"}, "gt3 on hartmoor"),
        ({"car": "", "track": ""}, "driving"),
    ):
        progress = TerminalProgress("driving")
        progress.attach_drive(about, None, None, UnmappedCourse())
        assert progress._bar.tasks[0].description == title


@pytest.mark.parametrize(
    ("elapsed", "share", "text"),
    [
        (65.9, 0.25, " 25 %  1:05 so far, 3:17 left"),
        (3725.0, 1.0, "100 %  1:02:05 so far, 0:00 left"),
        (0.2, 0.5, "0:00 so far"),
        (12.0, math.nan, "0:12 so far"),
        (12.0, 0.0, "0:12 so far"),
    ],
)
def test_the_time_left_follows_from_the_share(elapsed, share, text):
    assert describe_times(elapsed, share) == text


def values(state, controls=None, health=None, delta=math.nan, laps=(), lap=math.nan):
    figures = DriveFigures(state, controls or Controls(), health or ConnectionHealth(silent=0.002), delta, laps, lap)
    rows = describe_drive(figures, ascii_only=True)
    return {name: value for row in rows for name, value in (row[:2], row[2:])}


def test_speed_gear_laps_and_the_time_gained():
    state = CarState(speed=50.0, gear=-1, engine_speed=100.0 * math.pi)
    shown = values(state, delta=-0.2134, laps=LAPS, lap=3, health=ConnectionHealth(lap_clock=12.5, silent=0.002))
    assert shown["speed"] == "180 km/h"
    assert shown["gear"] == "R   3000 rpm"
    assert shown["lap 3"] == "12.500"
    assert shown["to best"] == "-0.213 s"
    assert shown["last"] == "1:01.000 not valid"
    assert shown["best"] == "1:02.500"


def test_pedals_are_those_of_the_car_and_else_those_that_were_sent():
    shown = values(CarState(throttle=0.5), Controls(throttle=1.0, brake=0.25, steer=-1.0))
    assert shown["throttle"].endswith(" 50 %")
    assert shown["brake"].endswith(" 25 %")
    assert shown["steer"] == "." * 8 + "#" * 8 + " 100 % right"


def test_what_is_not_known_is_a_dash():
    shown = values(CarState(), Controls(steer=math.nan, throttle=math.nan, brake=math.nan))
    assert {shown[name] for name in ("speed", "throttle", "steer", "last", "best", "to best", "lap")} == {"-"}


def test_a_silent_wire_is_said():
    assert "SILENT" not in values(CarState())["link"]
    assert values(CarState(), health=ConnectionHealth(silent=0.4))["link"] == "newest 400 ms, SILENT old"


@pytest.mark.parametrize("ascii_only", [True, False])
def test_bars_have_one_width(ascii_only):
    for share in (-0.5, 0.0, 0.3, 1.0, 7.0):
        assert len(draw_bar(share, ascii_only=ascii_only).split()[0]) == BAR_WIDTH
        assert len(draw_centred_bar(share, ascii_only=ascii_only).split()[0]) == BAR_WIDTH
    assert draw_bar(0.5, ascii_only=True).startswith("#" * 8 + "." * 8)
    assert draw_centred_bar(0.5, ascii_only=True).startswith("." * 4 + "#" * 4 + "." * 8)
