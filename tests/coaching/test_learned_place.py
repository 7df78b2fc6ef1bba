import numpy as np
import pytest
from helpers.compared_drives import record_laps
from helpers.synthetic_drives import LENGTH

from trailbrake.analysis.comparison import DriveChoice
from trailbrake.coaching import learned_place
from trailbrake.coaching.lap_choice import choose_laps
from trailbrake.coaching.learned_place import choose_rows, learn_place
from trailbrake.coaching.options import CoachOptions
from trailbrake.errors import DataError, TrailbrakeError
from trailbrake.record.recording_reader import Recording


def learn(path, **options):
    chosen = choose_laps([DriveChoice(Recording.open(path), "me")])
    return learn_place(chosen, CoachOptions(**options), lambda text: None)


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("TRAILBRAKE_LINES", str(tmp_path / "lines"))


def test_a_road_that_nobody_has_is_made_of_the_laps(tmp_path):
    path, _ = record_laps(tmp_path / "a.mcap", laps=3)
    learned = learn(path, car="hatchback", width=8.0)
    road = learned.place.course.track.road
    assert road.closed
    assert road.length == pytest.approx(LENGTH, rel=0.02)
    assert learned.notes[0].startswith(
        "stadium, which the recording names, cannot be read from this folder. The road is"
    )
    assert "8 m wide by assumption" in learned.notes[0]
    assert learned.doubt is None
    assert np.isnan(learned.shown)


def test_a_named_track_that_is_elsewhere_is_refused(tmp_path):
    path, _ = record_laps(tmp_path / "a.mcap", laps=3)
    with pytest.raises(DataError, match="not driven on this track"):
        learn(path, car="hatchback", track="pinegrove")
    with pytest.raises(TrailbrakeError, match="nowhere"):
        learn(path, car="hatchback", track="nowhere")


def test_laps_without_positions_have_no_road(tmp_path):
    path, _ = record_laps(tmp_path / "a.mcap", laps=3, with_map=False, positions=False)
    with pytest.raises(DataError, match="no positions"):
        learn(path, car="hatchback")


def test_a_car_is_learned_from_the_end_of_a_long_recording_up_to_its_best_lap(tmp_path, monkeypatch):
    """An hour at 333 Hz was read whole, every column of it: more than a gigabyte."""
    path, _ = record_laps(tmp_path / "a.mcap", laps=4)
    recording = Recording.open(path)
    assert choose_rows(recording, 4) == slice(0, len(recording))
    monkeypatch.setattr(learned_place, "LEARNING_S", 10.0)
    rows, last = choose_rows(recording, 4), recording.laps[3].row
    assert rows.stop == last
    time = recording.race_times
    assert time[last - 1] - time[rows.start] == pytest.approx(10.0, abs=0.1)
    assert choose_rows(recording, 1).stop == recording.laps[0].row
