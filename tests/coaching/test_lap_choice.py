from dataclasses import replace

import pytest
from helpers.compared_drives import record_laps
from helpers.stadiums import build_stadium

from trailbrake.analysis.comparison import DriveChoice
from trailbrake.coaching.lap_choice import choose_laps, describe_doubts
from trailbrake.errors import DataError
from trailbrake.record.recording_reader import Recording
from trailbrake.tracks.road_file import write_road


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    """Two recordings of one person."""
    folder = tmp_path_factory.mktemp("usual")
    return [record_laps(folder / f"{k}.mcap", laps=3, driver="me")[0] for k in range(2)]


def choose(*paths):
    return choose_laps([DriveChoice(Recording.open(path), path.stem) for path in paths])


def test_a_lap_from_rest_is_not_used_and_flying_ones_are(tmp_path):
    chosen = choose(record_laps(tmp_path / "a.mcap", laps=4)[0])
    assert [lap.number for lap in chosen.laps] == [2, 3, 4]
    assert [(lap.number, "rest" in lap.reason) for lap in chosen.unused if lap.number == 1] == [(1, True)]


@pytest.mark.parametrize(
    ("name", "said"), [("car", "another car"), ("driver", "another driver"), ("track", "another road")]
)
def test_recordings_of_something_else_are_left_out_by_name(usual, tmp_path, name, said):
    other = record_laps(tmp_path / "other.mcap", laps=2, **{"driver": "me"} | {name: "strange"})[0]
    chosen = choose(usual[0], other, usual[1])
    assert len(chosen.laps) == 4
    left = [unused for unused in chosen.unused if unused.number == 0]
    assert [unused.label for unused in left] == ["other"]
    assert said in left[0].reason
    assert "strange" in left[0].reason


def test_a_lap_that_was_slow_in_one_place_or_everywhere_is_not_used_and_the_reason_says_which(usual, tmp_path):
    paths = [record_laps(tmp_path / f"{k}.mcap", laps=3, early=(0.5 * k, 0.0), driver="me")[0] for k in (2, 3)]
    held = record_laps(tmp_path / "held.mcap", laps=2, slower=(6.0, 0.0), driver="me")[0]
    wet = record_laps(tmp_path / "wet.mcap", laps=2, slower=(3.0, 3.0), early=(60.0, 60.0), driver="me")[0]
    chosen = choose(*usual, *paths, held, wet)
    assert len(chosen.laps) == 8
    reasons = {unused.label: unused.reason for unused in chosen.unused if unused.number == 2}
    assert "traffic or a mistake" in reasons["held"]
    assert "slower" in reasons["wet"]


def test_distances_are_along_the_named_road_where_none_is_recorded(tmp_path):
    path = record_laps(tmp_path / "a.mcap", laps=3, with_map=False)[0]
    write_road(tmp_path / "road.csv", build_stadium(600.0, 120.0))
    drives = [DriveChoice(Recording.open(path), "me")]
    assert choose_laps(drives, str(tmp_path / "road.csv")).line.basis == "centre line"
    assert choose_laps(drives).line.basis == "path of the best lap"


def test_laps_that_do_not_count_are_not_used(usual):
    chosen = choose(usual[0])
    drive = chosen.drives[0]
    drive.recording.laps[:] = [replace(lap, valid=False, invalid_reason="contact") for lap in drive.recording.laps]
    again = choose_laps([drive])
    assert not again.laps
    assert "contact" in {unused.reason for unused in again.unused}


def test_few_samples_are_said(tmp_path):
    chosen = choose(record_laps(tmp_path / "a.mcap", laps=3, rate=100.0)[0])
    assert describe_doubts(chosen) == []
    coarse = [replace(lap, time=lap.time[::100], s=lap.s[::100]) for lap in chosen.laps]
    assert "samples a second" in describe_doubts(replace(chosen, laps=tuple(coarse)))[0]


def test_recordings_that_do_not_name_who_drove_are_said_to_count_as_one_person_s(usual, tmp_path):
    unnamed = [record_laps(tmp_path / f"{k}.mcap", laps=2, driver="")[0] for k in range(2)]
    assert "one person" in describe_doubts(choose(*unnamed))[0]
    assert not describe_doubts(choose(*usual, unnamed[0]))


def test_without_any_lap_it_is_said(tmp_path):
    with pytest.raises(DataError, match="no lap"):
        choose_laps([])
