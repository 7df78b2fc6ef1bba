"""Where the cars of a drive were, out of their recordings; clocks and sizes are tested with the steward."""

import pytest

from trailbrake.analysis.race_motion import find_recordings, read_race
from trailbrake.analysis.report import write_report
from trailbrake.errors import DataError
from trailbrake.record.recorder import Recorder
from trailbrake.record.recording_reader import Recording
from trailbrake.state import CarState, Controls


def test_cars_without_a_road_or_positions_have_no_race(tmp_path):
    for name in ("a.mcap", "a_car1.mcap"):
        recorder = Recorder(tmp_path / name)
        recorder.start({"sim": "test"})
        recorder.tick(CarState(time=0.0, speed=1.0), Controls())
        recorder.close()
    with pytest.raises(DataError, match="no road"):
        read_race([Recording.open(tmp_path / "a.mcap")])
    assert "<h2>Race</h2>" not in write_report(tmp_path / "a.mcap").read_text()


def test_recordings_of_one_drive_are_found_from_any_of_them(tmp_path):
    names = ["a.mcap", "a_car1.mcap", "a_car2.mcap", "a_car4.mcap", "b.mcap"]
    for name in names:
        (tmp_path / name).touch()
    for name in names[:3]:
        assert [path.name for path in find_recordings(tmp_path / name)] == names[:3]
