from helpers.synthetic_drives import record_drive

from trailbrake.dashboard.recorded_frames import RecordedFrames
from trailbrake.dashboard.replay_header import replay_header
from trailbrake.dashboard.replay_player import ReplayPlayer
from trailbrake.record.recording_reader import Recording


def test_road_and_line_are_the_recorded_ones(tmp_path):
    record_drive(tmp_path / "drive.mcap", laps=1, rate=50.0)
    recording = Recording.open(tmp_path / "drive.mcap")
    player = ReplayPlayer(RecordedFrames(recording, None), lambda: 0.0)
    header = replay_header(recording, player, None)
    assert header["about"]["driver"] == "on_rails"
    assert header["map"]["closed"] is True
    assert len(header["map"]["left"]["x"]) == len(recording.road_map.left)
    assert len(header["line"]["x"]) == len(recording.plan.x)
    assert header["by_hand"] is False
    assert [lap["number"] for lap in header["replay"]["laps"]] == [1]
