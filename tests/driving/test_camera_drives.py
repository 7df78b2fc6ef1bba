"""Whole drives by the camera, through the wire, in both looks."""

import pytest

from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.driving.session.drive_session import drive
from trailbrake.errors import UsageError
from trailbrake.record.driving_log import SkippedRows, read_rows
from trailbrake.record.recording_reader import Recording

# s of the first lap, from rest; lockstep repeats to the bit, and another library may round a picture otherwise.
GOLDEN = {("lane_sign", "A"): 28.35, ("wall_follow", "B"): 31.36}


@pytest.mark.slow
@pytest.mark.parametrize(("driver", "look"), list(GOLDEN))
def test_a_clean_lap_by_pictures_alone(driver, look, tmp_path):
    summary = drive(
        DriveFlags(sim="trend", driver=driver, track="clover", laps=1, out=tmp_path, host=(f"look={look}",)).make_spec()
    )
    assert summary["ended"] == "done"
    assert summary["contacts"] == 0
    assert [lap["valid"] for lap in summary["laps"]] == [True]
    assert summary["laps"][0]["time_s"] == pytest.approx(GOLDEN[driver, look], abs=0.4)
    assert summary["max_abs_lateral_error_m"] != summary["max_abs_lateral_error_m"]  # no line, no number
    assert summary["report"] is not None
    assert "lap" in (tmp_path / summary["report"]).read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_drive_is_recorded_with_its_pictures_and_as_a_driving_log(tmp_path):
    options = DriveFlags(sim="trend", driver="wall_follow", laps=0, seconds=2.0, out=tmp_path, log=tmp_path / "log")
    summary = drive(options.make_spec())
    recording = Recording.open(summary["recording"])
    pictures = list(recording.pictures())
    assert [picture.row for picture in pictures] == list(range(len(recording)))
    assert all(picture.data.startswith(b"\xff\xd8\xff") for picture in pictures)
    skipped = SkippedRows()
    found = list(read_rows(tmp_path / "log", skipped))
    assert not skipped.counts
    assert len(found) == len(recording) == summary["driving_log"]["rows"] > 40
    assert [row.steer for row in found] == pytest.approx(recording.controls["steer"].tolist(), abs=1e-5)
    assert [row.time for row in found] == pytest.approx(recording.state["time"].tolist())
    assert [row.picture.read_bytes() for row in found] == [picture.data for picture in pictures]


def test_a_driving_log_without_pictures_is_refused_before_anything_moves(tmp_path):
    with pytest.raises(UsageError, match="--log: a driving log is made of pictures"):
        drive(DriveFlags(sim="trend", driver="lane_sign", log=tmp_path, pictures=False).make_spec())


def test_nobody_named_somebody_who_sees_drives(tmp_path):
    summary = drive(DriveFlags(sim="trend", seconds=0.2, laps=1, out=tmp_path, report=False).make_spec())
    assert summary["driver"] == "lane_sign"
    assert summary["ended"] == "0.2 s driven" or summary["loop"]["ticks"] >= 4
