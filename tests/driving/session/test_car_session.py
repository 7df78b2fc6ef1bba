"""A car's recording has a name fit for every system, and a drive with slow ticks says so."""

import pytest

from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.driving.session import car_session
from trailbrake.driving.session.car_session import _ProgressTap, make_recorder
from trailbrake.driving.session.drive_setup import make_setup
from trailbrake.driving.session.progress import MessagePrinter
from trailbrake.planning.course import UnmappedCourse
from trailbrake.sims.registry import find
from trailbrake.state import CarState, Controls


@pytest.mark.parametrize(
    ("track", "driver", "name"),
    [
        ("gen:7", "line_follow", "gen-7_gt3_line_follow"),
        ("a/b: c", "mine.py:Fast", "a-b-c_gt3_mine"),
        ("kart", "policy:run 5", "kart_gt3_policy-run-5"),
    ],
)
def test_no_colons_and_no_spaces(tmp_path, track, driver, name):
    options = DriveFlags(track=track, driver=driver, car="gt3", out=tmp_path)
    setup = make_setup(find("assetto"), options.make_spec())
    recorder = make_recorder(setup, UnmappedCourse(), None, 0)
    recorder.start({})
    recorder.close()
    assert recorder.path.parent == tmp_path
    assert recorder.path.name.startswith(f"{name}_2")


class Scorer:
    laps = ()
    progress = 0.0


@pytest.mark.parametrize(("tick_s", "lines"), [(2.0, 1), (0.4, 0), (0.003, 0)])
def test_slow_ticks_are_one_line_after_some_seconds(monkeypatch, tick_s, lines):
    said, clock = [], [100.0]
    monkeypatch.setattr(car_session.steady_clock, "now", lambda: clock[0])
    tap = _ProgressTap(MessagePrinter(said.append), Scorer(), 1)
    for tick in range(int(60.0 / tick_s)):
        tap.tick(CarState(time=0.003 * tick, speed=0.0), Controls())
        clock[0] += tick_s
        if clock[0] < 105.0:
            assert said == []
    assert len(said) == lines
    if lines:
        assert said[0].startswith("slow: a tick takes 2.0 s")
        assert said[0].endswith("1 s of simulator time takes 667 s")
