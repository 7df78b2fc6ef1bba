import pickle
from pathlib import Path

import pytest
from helpers.synthetic_drives import record_drive

from trailbrake.driving.session.drive_result import DriveResult

LAP = {"number": 1, "time_s": 62.5, "valid": True}


def made(path):
    return DriveResult(driver="<b>", car="kart", track=None, laps=[LAP], ended="off the road", recording=str(path))


def test_a_notebook_shows_the_laps_and_escapes_names():
    shown = made("a/run.mcap")._repr_html_()
    assert "<td>1:02.500</td>" in shown
    assert "&lt;b&gt;, kart" in shown
    assert "off the road" in shown
    assert "run.mcap" in shown
    assert "<svg" not in shown, "the file is not there"


def test_a_result_has_its_recording_with_laps_and_a_picture(tmp_path):
    result = made(record_drive(tmp_path / "run.mcap", rate=40.0).path)
    best = result.laps.best()
    assert best is result.recording.laps.best()
    assert Path(result.recording).is_file(), "a recording is a path to its file"
    assert len(best.telemetry()["speed"]) == best.row - best.first
    shown = result._repr_html_()
    assert shown.count("<svg") == 2
    assert f"path of lap {best.number}" in shown
    assert pickle.loads(pickle.dumps(result)).recording.path == result.recording.path
    pytest.importorskip("pandas", exc_type=ImportError)
    assert len(result.to_pandas()) == len(result.recording)
