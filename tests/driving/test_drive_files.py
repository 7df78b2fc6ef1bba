"""One loader for all that can be read as a drive, and the verbs that use it."""

import gzip
import pickle
from pathlib import Path

import numpy as np
import pytest
from helpers.lap_log_files import make_laps, write_racebox
from helpers.synthetic_drives import record_drive

from trailbrake.config import logs_folder
from trailbrake.driving.drive_files import find_session_simulator, list_gaps, open_drive
from trailbrake.errors import DataError, UsageError
from trailbrake.learning.learning_drives import read_drive
from trailbrake.record import Recording
from trailbrake.record.recorder import Recorder
from trailbrake.sims.forza.tables import has_packet_columns
from trailbrake.state import CarState, Controls

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "lap_logs"


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_CACHE", str(tmp_path_factory.mktemp("cache")))


def test_every_kind_of_file_is_a_recording(tmp_path):
    own = record_drive(tmp_path / "a.mcap", rate=20.0, laps=1).path
    table = tmp_path / "forza.csv"
    table.write_text("norm_driving_line,speed,angular_velocity_y\n" + "-3,17.5,0.5\n" * 301)
    said = []
    for path in (own, table, GOLDEN / "laps.ld", GOLDEN / "laps.ibt", GOLDEN / "laps.gpx"):
        found = open_drive(str(path), say=said.append)
        assert isinstance(found, Recording)
        assert found.path == path
        assert len(found) > 100
    text = "\n".join(said)
    assert "its rows count as 60 per second" in text
    assert "MoTeC log, 20 Hz" in text
    assert "Lat [deg] as latitude" in text


def test_a_real_session_of_free_roaming_says_what_it_lacks(shared):
    said = []
    found = open_drive(shared / "data" / "forza_recorded.csv.gz", say=said.append)
    assert (len(found), found.laps) == (2785, [])
    (lacks,) = [line for line in said if line.startswith("what it lacks: ")]
    assert "no finished lap; the brake is never touched" in lacks
    assert "positions" not in lacks


def test_a_rate_is_for_tables_of_messages(tmp_path):
    with pytest.raises(UsageError, match="the file has its own times"):
        open_drive(GOLDEN / "laps.ld", rate=30.0)
    table = tmp_path / "forza.csv"
    table.write_text("norm_driving_line,speed,angular_velocity_y\n" + "-3,17.5,0.5\n" * 301)
    assert np.ptp(open_drive(table, 30.0).state["time"]) == pytest.approx(10.0, abs=0.1)


def test_a_table_of_another_tool_is_no_session(tmp_path):
    path = write_racebox(tmp_path / "a.csv", make_laps(10.0, laps=1))
    assert find_session_simulator(path) is None
    packed = tmp_path / "b.csv.gz"
    packed.write_bytes(gzip.compress(b"speed,accel,brake,gear\n1,2,3,4\n"))
    assert find_session_simulator(packed).name == "forza"
    packed.write_bytes(b"\x1f\x8b damaged")
    assert not has_packet_columns(packed)


def test_a_missing_and_an_unknown_file_are_one_line(tmp_path):
    with pytest.raises(UsageError, match="cannot read"):
        open_drive(tmp_path / "a.ld")
    (tmp_path / "a.bin").write_bytes(b"\x01\x02")
    with pytest.raises(DataError, match="not a recording"):
        open_drive(tmp_path / "a.bin")


def test_a_car_is_learned_from_logs_with_the_velocities_of_the_body_and_without():
    assert len(read_drive(GOLDEN / "laps.ibt", 0)) > 500
    assert len(read_drive(GOLDEN / "laps.ld", 0)) > 500
    assert not list(logs_folder().glob("*.part"))


def test_a_converted_log_is_pickled_with_the_file_that_it_came_from():
    recording = open_drive(GOLDEN / "laps.ld")
    copy = pickle.loads(pickle.dumps(recording))
    assert copy.path == recording.path == GOLDEN / "laps.ld"
    assert copy.laps == recording.laps


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
