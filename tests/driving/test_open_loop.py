import math

import numpy as np
import pytest
from helpers.compared_drives import record_laps

from trailbrake.analysis.comparison import DriveChoice, compare_drives
from trailbrake.driving.open_loop import replay_open_loop
from trailbrake.driving.options import OpenLoopOptions
from trailbrake.errors import DriverError, UsageError
from trailbrake.record import Recording
from trailbrake.record.recorder import Recorder
from trailbrake.state import CarState, Controls, SignalValues
from trailbrake.state.signals import make_signal

DRIVER = """
from trailbrake import Controls

class Driver:
    NEEDS = frozenset({needs})

    def reset(self, course):
        self.calls = []
        {reset}

    def act(self, state, dt):
        self.calls.append(dt)
        {act}
"""


@pytest.fixture
def recording(tmp_path):
    path, _ = record_laps(tmp_path / "drive.mcap", rate=30.0, laps=2)
    return Recording.open(path)


def write_driver(folder, act, needs='{"speed"}', reset="pass"):
    path = folder / "mine.py"
    path.write_text(DRIVER.format(needs=needs, act=act, reset=reset))
    return str(path)


def test_a_driver_that_answers_what_was_driven_differs_nowhere(recording, tmp_path):
    name = write_driver(tmp_path, "return Controls(steer=state.steer, throttle=state.throttle, brake=state.brake)")
    done = replay_open_loop(recording, OpenLoopOptions(name))
    assert (done.rows, done.ended, done.rejected) == (len(recording), "", 0)
    assert (done.steer_rms, done.throttle_rms, done.brake_rms) == (0.0, 0.0, 0.0)
    made = Recording.open(done.path)
    assert np.array_equal(made.state["x"], recording.state["x"])
    assert [(lap.number, lap.time_s, lap.row) for lap in made.laps] == [
        (lap.number, lap.time_s, lap.row) for lap in recording.laps
    ]
    assert made.about["open_loop"] == "drive.mcap"
    assert made.about["track"] == "stadium"


def test_compare_shows_where_the_answers_differ(recording, tmp_path):
    """The driver brakes as was driven, but not in the second bend."""
    name = write_driver(
        tmp_path, "b = 0.0 if state.lap_progress > 0.5 else state.brake\n        return Controls(brake=b)"
    )
    done = replay_open_loop(recording, OpenLoopOptions(name, out=tmp_path / "answers.mcap"))
    assert done.path == tmp_path / "answers.mcap"
    found = compare_drives([DriveChoice(recording, "driven", 2), DriveChoice(Recording.open(done.path), "mine", 2)], 1)
    losses = {loss.corner.name: loss for loss in found.losses[1]}
    assert losses["T2"].lost_s == pytest.approx(0.0, abs=1e-6), "the car is the same"
    assert losses["T1"].figures.brake_point == pytest.approx(losses["T1"].reference.brake_point)
    assert math.isnan(losses["T2"].figures.brake_point)
    assert math.isfinite(losses["T2"].reference.brake_point)
    assert any("open-loop" in note for note in found.notes)


def test_the_first_row_and_a_restart_have_no_dt(recording, tmp_path):
    name = write_driver(tmp_path, "return Controls(steer=dt)")
    made = Recording.open(replay_open_loop(recording, OpenLoopOptions(name)).path)
    assert made.controls["steer"][0] == 0.0
    assert made.controls["steer"][1:] == pytest.approx(np.diff(recording.state["time"]))


def test_a_driver_that_fails_ends_the_replay(recording, tmp_path):
    name = write_driver(tmp_path, "return Controls() if len(self.calls) < 100 else 1 / 0")
    done = replay_open_loop(recording, OpenLoopOptions(name))
    assert done.rows == 99
    assert "ZeroDivisionError" in done.ended
    assert len(Recording.open(done.path)) == 99


def test_refusals(recording, tmp_path):
    with pytest.raises(UsageError, match="does not have: image"):
        replay_open_loop(recording, OpenLoopOptions(write_driver(tmp_path, "pass", needs='{"image"}')))
    with pytest.raises(DriverError, match=r"reset\(\) raised"):
        replay_open_loop(recording, OpenLoopOptions(write_driver(tmp_path, "pass", reset="1 / 0"),
                                                    track="pinegrove", car="gt3"))  # fmt: skip
    with pytest.raises(UsageError, match="stadium"):
        replay_open_loop(recording, OpenLoopOptions("line_follow"))


def test_a_driver_receives_the_recorded_signals_and_the_answers_keep_them(tmp_path):
    signal = make_signal("forza.smashed", "1", "how much was hit")
    recorder = Recorder(tmp_path / "a.mcap", signals=[signal])
    recorder.start({"sim": "forza"})
    for k in range(50):
        recorder.tick(CarState(time=k * 0.01, speed=1.0, signals=SignalValues({signal.name: 0}, (k / 50,))), Controls())
    recorder.close()
    act = 'return Controls(throttle=state.signals["forza.smashed"])'
    name = write_driver(tmp_path, act, needs='{"speed", "forza.smashed"}')
    made = Recording.open(replay_open_loop(Recording.open(recorder.path), OpenLoopOptions(name)).path)
    assert made.controls["throttle"] == pytest.approx(np.arange(50) / 50)
    assert np.array_equal(made.signals["forza.smashed"], np.arange(50) / 50)
    other = write_driver(tmp_path, act, needs='{"speed", "forza.other"}')
    with pytest.raises(UsageError, match=r"forza\.other"):
        replay_open_loop(Recording.open(recorder.path), OpenLoopOptions(other))
