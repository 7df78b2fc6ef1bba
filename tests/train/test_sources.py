import numpy as np
import pytest
from helpers.picture_drives import record

from trailbrake.errors import DataError, UsageError
from trailbrake.record import Recorder, Recording
from trailbrake.record.driving_log import export_driving_log
from trailbrake.state import CarState, Controls
from trailbrake.train.sources import LogSource, RecordingSource, find_sources


def test_a_recording_and_its_driving_log_say_the_same(tmp_path):
    steers = record(tmp_path / "a.mcap", 60)
    export_driving_log(Recording.open(tmp_path / "a.mcap"), tmp_path / "log")
    (ours,), (log,) = find_sources([tmp_path / "a.mcap"]), find_sources([tmp_path / "log"])
    assert isinstance(ours, RecordingSource)
    assert isinstance(log, LogSource)
    one, two = ours.read_labels(), log.read_labels()
    assert one.steer == pytest.approx(steers)
    for name in ("time", "steer", "pedal", "speed", "backs"):
        assert getattr(one, name) == pytest.approx(getattr(two, name), abs=1e-6), name
    wanted = [3, 17, 59]
    assert list(ours.read_pictures(wanted)) == list(log.read_pictures(wanted))
    assert [row for row, _ in ours.read_pictures(wanted)] == wanted


def test_folders_are_searched_one_deep_and_a_log_stands_for_its_folder(tmp_path):
    record(tmp_path / "a.mcap", 5)
    record(tmp_path / "b.mcap", 5)
    export_driving_log(Recording.open(tmp_path / "a.mcap"), tmp_path / "log")
    record(tmp_path / "log" / "c.mcap", 5)
    assert [s.name for s in find_sources([tmp_path])] == [str(tmp_path / n) for n in ("a.mcap", "b.mcap", "log")]


def test_an_expert_s_answers_take_the_place_of_what_was_done(tmp_path):
    record(tmp_path / "a.mcap", 5)
    answers = np.array([[0.1, 1.0], [0.2, -1.0], [0.3, 0.5], [np.nan, np.nan], [0.0, 0.0]])
    found = RecordingSource(tmp_path / "a.mcap", answers).read_labels()
    assert found.corrected
    assert found.steer[:3].tolist() == [0.1, 0.2, 0.3]
    assert found.pedal[:3].tolist() == [1.0, -1.0, 0.5]


def test_pictures_that_have_gone_are_missing_and_nothing_else(tmp_path):
    record(tmp_path / "a.mcap", 9)
    export_driving_log(Recording.open(tmp_path / "a.mcap"), tmp_path / "log")
    log = LogSource(tmp_path / "log")
    reading = log.read_pictures(range(9))
    assert next(reading)[0] == 0
    assert len(log.read_labels()) == 9
    sorted((tmp_path / "log" / "IMG").iterdir())[8].unlink()
    assert [row for row, _ in reading] == list(range(1, 8))


def test_nothing_to_learn_from_is_refused_with_what_to_do(tmp_path):
    with pytest.raises(UsageError, match="nothing to learn from"):
        find_sources([tmp_path])
    with pytest.raises(UsageError, match="no such folder"):
        find_sources([tmp_path / "gone"])
    recorder = Recorder(tmp_path / "blind.mcap")
    recorder.tick(CarState(time=0.0), Controls())
    recorder.close()
    with pytest.raises(DataError, match="a recording without pictures"):
        find_sources([tmp_path / "blind.mcap"])[0].read_labels()
