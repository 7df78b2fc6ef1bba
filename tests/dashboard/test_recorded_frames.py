import numpy as np
import pytest
from helpers.synthetic_drives import LENGTH, record_drive

from trailbrake.dashboard.recorded_frames import MAX_GAP_S, RecordedFrames, measure_play_times
from trailbrake.errors import DataError
from trailbrake.record.recorder import Recorder
from trailbrake.record.recording_reader import Recording
from trailbrake.state.tables import STATE_COLUMNS

NAMES = [column.name for column in STATE_COLUMNS]


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("drives") / "drive.mcap"
    record_drive(path, laps=3, rate=50.0)
    return Recording.open(path)


@pytest.fixture
def frames(recording):
    return RecordedFrames(recording, None)


def test_a_restart_and_a_pause_take_no_long_time():
    times = np.array([5.0, 6.0, 2.0, 3.0, np.nan, 4.0, 4.5, 1000.0])
    assert measure_play_times(times).tolist() == [0.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.5, 2.5 + MAX_GAP_S]


def test_a_row_is_what_was_recorded(recording, frames):
    for row in (1, 255, 256, len(recording) - 1):
        values, _ = frames.read_row(row)
        for name in ("time", "x", "speed", "gear", "rr_load"):
            assert values[NAMES.index(name)] == recording.state[name][row]
    values, bend = frames.read_row(frames.row_at(35.0))
    assert bend.curvature == pytest.approx(values[NAMES.index("yaw_rate")] / values[NAMES.index("speed")], nan_ok=True)
    assert len(values) == len(NAMES) + len(recording.controls)


def test_places_are_found_by_time(frames):
    assert frames.row_at(-1.0) == 0
    assert frames.row_at(1e9) == len(frames.times) - 1
    row = frames.row_at(30.0)
    assert frames.times[row] <= 30.0 < frames.times[row + 1]
    rows = frames.rows_between(20.0, 30.0, 0.1)
    assert len(rows) == pytest.approx(101, abs=1)
    assert frames.rows_between(0.0, 0.51, 0.001) == list(range(26))  # each once, though the step is finer


def test_a_lap_becomes_a_path(recording, frames):
    lap, path = frames.laps[0], frames.lap_path(0)
    assert lap.time_s == recording.laps[0].time_s
    assert lap.end - lap.start == pytest.approx(lap.time_s)
    assert path.samples[-1, 0] == pytest.approx(lap.time_s, abs=0.1)
    assert path.samples[-1, 1] == pytest.approx(LENGTH, rel=0.01)
    ghost = path.ghost_at(20.0)
    values, _ = frames.read_row(frames.row_at(lap.start + 20.0))
    assert np.hypot(ghost.x - values[NAMES.index("x")], ghost.y - values[NAMES.index("y")]) < 1.5  # a row at 60 m/s


def test_the_path_before_a_place_is_the_newest(frames):
    path = frames.path_before(30.0, 100)
    values, _ = frames.read_row(frames.row_at(30.0))
    assert path.shape == (100, 3)
    assert np.hypot(*(path[-1, :2] - values[[NAMES.index("x"), NAMES.index("y")]])) < 3.0


def test_blocks_do_not_fill_the_memory(recording, monkeypatch):
    monkeypatch.setattr("trailbrake.dashboard.recorded_frames.KEPT_BLOCKS", 2)
    frames = RecordedFrames(recording, None)
    for row in range(0, len(recording), 200):
        frames.read_row(row)
    assert len(frames._blocks) == 2


def test_a_recording_without_rows_is_refused(tmp_path):
    path = tmp_path / "empty.mcap"
    recorder = Recorder(path)
    recorder.start({})
    recorder.close()
    with pytest.raises(DataError, match="no rows"):
        RecordedFrames(Recording.open(path), None)
