import math

import numpy as np
import pytest
from helpers.compared_drives import brake_place, record_laps

from trailbrake.analysis.comparison import DriveChoice
from trailbrake.coaching.coach_session import coach_laps
from trailbrake.coaching.options import CoachOptions
from trailbrake.coaching.target_laps import join_best_sections, make_target_laps
from trailbrake.record.recording_reader import Recording


def coach(path, **options):
    return coach_laps([DriveChoice(Recording.open(path), "me")], CoachOptions(limit=False, **options))


def test_each_section_is_that_of_the_lap_that_was_quickest_there():
    nan = math.nan
    times = np.array([[0.0, 1.0, 2.0, 5.0, 8.0], [0.1, 2.0, 4.0, 5.0, 6.0], [nan, nan, nan, 9.0, 11.0]])
    assert join_best_sections(times, [0, 2, 4]).tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert join_best_sections(times[2:], [0, 2, 4]).tolist() == pytest.approx([nan] * 5, nan_ok=True)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    path, _ = record_laps(tmp_path_factory.mktemp("laps") / "a.mcap", laps=4, early=(0.0, 20.0))
    return coach(path, car="f1")


def test_the_target_laps_are_those_of_the_report_at_the_same_places(report):
    target = make_target_laps(report)
    assert {name: times[-1] for name, times in target.times.items()} == pytest.approx(
        {"best": report.best_s, "ideal": report.ideal_s, "limit": report.limit.lap.time_s}, abs=0.01
    )
    count = len(target.s)
    assert {count, *map(len, target.times.values())} == {len(target.x), len(target.limit_path)}
    assert not target.width_known, "a road of the laps has no edges that anybody measured"
    assert target.limiter is None
    assert [corner.name for corner in target.corners] == ["T1", "T2"]


def test_a_corner_says_where_each_lap_brakes_and_in_a_few_words_what_to_change(report):
    bends = make_target_laps(report).corners
    assert bends[0].brakes["best"] == pytest.approx(brake_place(0), abs=2.0)
    assert bends[1].brakes["best"] == pytest.approx(brake_place(1) - 20.0, abs=2.0)
    assert bends[0].brakes["limit"] > bends[0].brakes["best"]
    assert all(corner.hint and ":" not in corner.hint for corner in bends)


def test_without_positions_there_is_nothing_to_drive_against(tmp_path):
    path, _ = record_laps(tmp_path / "a.mcap", laps=3, positions=False, with_map=False)
    assert make_target_laps(coach(path)) is None
