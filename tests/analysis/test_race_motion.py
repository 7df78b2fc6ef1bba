"""Where the cars of a drive were, out of their recordings; clocks and sizes are tested with the steward."""

import pytest

from trailbrake.analysis.race_motion import open_race, read_race
from trailbrake.analysis.report import write_report
from trailbrake.errors import DataError
from trailbrake.record.recorder import Recorder
from trailbrake.record.recording_reader import Recording
from trailbrake.state import CarState, Controls


def write_recordings(folder, about):
    for name in about:
        recorder = Recorder(folder / name)
        recorder.start({"sim": "test", **about[name]})
        recorder.tick(CarState(time=0.0, speed=1.0), Controls())
        recorder.close()


def test_recordings_of_one_drive_are_found_from_any_of_them(tmp_path):
    names = ["a.mcap", "a_car1.mcap", "a_car2.mcap", "a_car4.mcap", "b.mcap"]
    write_recordings(tmp_path, {name: {} for name in names})
    for name in names[:3]:
        recording = Recording.open(tmp_path / name)
        found = open_race(recording)
        assert [each.path.name for each in found] == names[:3]
        assert found[names.index(name)] is recording
    assert len(open_race(Recording.open(tmp_path / "b.mcap"))) == 1


@pytest.mark.parametrize(
    ("named", "found"),
    [(["x.mcap", "y.mcap"], 2), (["x.mcap", "gone.mcap"], 1), (["../y.mcap", "x.mcap"], 2), (["y.mcap", 3], 1), (7, 1)],
)
def test_recordings_may_name_each_other(named, found, tmp_path):
    write_recordings(tmp_path, {"x.mcap": {"race_files": named}, "y.mcap": {}})
    assert len(open_race(Recording.open(tmp_path / "x.mcap"))) == found


def test_cars_without_a_road_or_positions_have_no_race(tmp_path):
    write_recordings(tmp_path, {"a.mcap": {}, "a_car1.mcap": {}})
    recording = Recording.open(tmp_path / "a.mcap")
    with pytest.raises(DataError, match="no road"):
        read_race(open_race(recording))
    assert "<h2>Race</h2>" not in write_report(recording).read_text()
