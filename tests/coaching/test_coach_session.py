"""A person with a planted habit and the same one without: what the coach says of both. The drives are real ones."""

import json
from dataclasses import replace

import pytest
from helpers.compared_drives import record_laps

from trailbrake.analysis.comparison import DriveChoice
from trailbrake.analysis.corners import Corner
from trailbrake.coaching.coach_page import describe_report, render_coach_page
from trailbrake.coaching.coach_session import coach_laps, name_dearest, rank_findings
from trailbrake.coaching.corner_findings import Habit
from trailbrake.coaching.options import CoachOptions
from trailbrake.coaching.pace_model import SHARES, build_pace_model
from trailbrake.record.recording_reader import Recording

BRAKES_EARLY, CORNER = 1, 3


def coach(path, **options):
    return coach_laps([DriveChoice(Recording.open(path), "me")], CoachOptions(limit=False, **options))


@pytest.fixture(scope="module")
def plain(drive_person):
    return coach(drive_person(0))


@pytest.fixture(scope="module")
def early(drive_person):
    return coach(drive_person(BRAKES_EARLY, CORNER))


@pytest.mark.slow
def test_the_planted_corner_is_named_first_with_its_cost_and_the_advice_is_to_brake_later(plain, early):
    first = early.findings[0]
    assert first.corner.number == CORNER
    assert first.own.brake_point < first.expected.brake_point
    zone = [corner.number for corner in early.corners].index(CORNER)
    other = [corner.number for corner in plain.corners].index(CORNER)
    true = early.gaps[zone].to_limit_s - plain.gaps[other].to_limit_s
    assert true > 0.15
    assert first.cost_s == pytest.approx(true, abs=max(0.3 * true, 0.05))


@pytest.mark.slow
def test_without_the_habit_nothing_is_invented(plain):
    assert plain.findings == ()
    assert "No habit stands out" in render_coach_page(plain)


@pytest.mark.slow
def test_the_times_are_in_order_and_the_limit_is_no_more_than_what_the_person_has_done(plain):
    assert plain.limit.least_s <= plain.limit.time_s <= plain.limit.most_s <= plain.ideal_s <= plain.best_s
    assert 0.7 < plain.share < 1.0


@pytest.mark.slow
def test_the_page_and_the_values_hold_what_was_found(early):
    page = render_coach_page(early)
    assert "Change this first: T3" in page
    assert "http-equiv" in page
    assert "src=" not in page.replace("data:", "").split("<script>")[0].replace("img id", "")
    values = json.loads(json.dumps(describe_report(early)))
    assert values["findings"][0]["corner"].startswith("T3")
    assert values["unused"][0]["reason"].startswith("begun from rest")
    assert len(values["corners"]) == len(early.corners)


def test_a_corner_is_named_once_and_costs_what_the_mean_lap_loses_there():
    corner = Corner(3, 1.0, 10.0, 20.0, 30.0)
    slow = Habit("pace", corner, 0.5, 0.1, 0.97, "slow", "")
    uneven = Habit("evenness", corner, 0.3, 0.1, 0.99, "uneven", "")
    failed = Habit("mistakes", corner, 0.4, 0.1, 1.0, "failed", "")
    assert [(f.advice, f.cost_s) for f in rank_findings([uneven, slow])] == [("uneven", 0.3)]
    assert [(f.advice, f.cost_s) for f in rank_findings([failed, slow])] == [("failed", 0.4)]
    slower = replace(slow, cost_s=uneven.cost_s + 2.0 * (uneven.error_s + slow.error_s))
    assert [f.advice for f in rank_findings([uneven, slower])] == ["slow"]


def test_what_is_everywhere_is_ranked_by_its_whole_cost_and_names_its_dearest_corners():
    corners = [Corner(number, 1.0, 0.0, 1.0, 2.0) for number in range(5)]
    hands = Habit("hands", None, 0.6, 0.1, 0.97, "hands", "steer", zone_costs=(0.3, 0.05, 0.1, 0.15, 0.0))
    shifts = Habit("shifting", None, 0.2, 0.1, 0.97, "shifts", "")
    slow = Habit("pace", corners[3], 0.4, 0.1, 0.97, "slow", "")
    assert [f.advice for f in rank_findings([shifts, slow, hands])] == ["hands", "slow", "shifts"]
    assert name_dearest(hands, corners).evidence == "steer; most of the time in T3, T2"


def test_laps_beyond_the_grip_that_was_learned_are_those_of_another_car(tmp_path, monkeypatch):
    def build(*arguments):
        return replace(build_pace_model(*arguments), share=SHARES[-1])

    monkeypatch.setattr("trailbrake.coaching.coach_session.build_pace_model", build)
    path, _ = record_laps(tmp_path / "a.mcap", laps=4)
    report = coach(path, car="f1")
    assert report.limit is None
    assert any("it is not your car's" in note for note in report.notes)


def test_a_drive_without_laps_is_told_what_cannot_be_said(tmp_path):
    path, _ = record_laps(tmp_path / "a.mcap", laps=1)
    report = coach(path)
    assert not report.findings
    assert not report.gaps
    assert "nothing can be compared" in report.notes[0]
