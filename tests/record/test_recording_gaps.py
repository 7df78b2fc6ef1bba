"""What recordings lack."""

from helpers.synthetic_drives import record_drive

from trailbrake.record import Recording
from trailbrake.record.recorder import Recorder
from trailbrake.record.recording_gaps import list_gaps
from trailbrake.state import CarState, Controls


def test_a_whole_drive_lacks_little_and_a_poor_one_most(tmp_path):
    full = list_gaps(Recording.open(record_drive(tmp_path / "a.mcap", rate=20.0).path))
    assert not any("lap" in gap or "touched" in gap for gap in full)
    plain = list_gaps(Recording.open(record_drive(tmp_path / "b.mcap", rate=20.0, full=False).path))
    (missing,) = [gap for gap in plain if gap.startswith("not recorded: ")]
    assert missing.startswith("not recorded: throttle, brake, steer, gear, engine speed")
    assert "positions" not in missing


def test_a_brake_that_is_never_touched_and_a_drive_without_laps(tmp_path):
    recorder = Recorder(tmp_path / "a.mcap")
    recorder.start({})
    for k in range(50):
        recorder.tick(CarState(time=0.1 * k, x=k, y=0.0, throttle=k / 50, brake=0.0, steer=0.0, gear=3), Controls())
    recorder.close()
    gaps = list_gaps(Recording.open(recorder.path))
    assert gaps[:4] == [
        "no finished lap",
        "the brake is never touched",
        "the steer is never touched",
        "the gear never changes",
    ]
    assert not any("throttle is" in gap for gap in gaps)


def test_an_empty_recording(tmp_path):
    recorder = Recorder(tmp_path / "a.mcap")
    recorder.start({})
    recorder.close()
    assert list_gaps(Recording.open(recorder.path)) == ["no finished lap", "no samples"]
