"""What is kept of a session, and what the next one has gained: against the times of the laps as they were driven."""

import json
import os
from dataclasses import replace
from datetime import datetime
from functools import cache

import msgspec
import pytest
from helpers.compared_drives import record_laps

from trailbrake.analysis.comparison import DriveChoice
from trailbrake.coaching.coach_session import coach_laps
from trailbrake.coaching.coached_sessions import (
    SESSION_HEADS,
    CoachedSession,
    Gain,
    WorkedOn,
    choose_sessions,
    keep_session,
    list_session_rows,
    list_sessions,
    render_sessions,
)
from trailbrake.coaching.corner_findings import Habit
from trailbrake.coaching.options import CoachOptions
from trailbrake.errors import UsageError
from trailbrake.record.recording_reader import Recording

EARLY = 25.0  # m by which the second bend is braked for early in the first session


@pytest.fixture(scope="module")
def drives(tmp_path_factory):
    """Three sessions: early into the second bend; not early; the same in another car."""
    folder = tmp_path_factory.mktemp("laps")
    plans = {"one": (EARLY, "point"), "two": (0.0, "point"), "other": (0.0, "brick")}
    return {
        name: record_laps(folder / f"{name}.mcap", laps=4, early=(0.0, early), car=car, driver="me",
                          started=f"2026-11-2{day}T18:00:00+0000")[0]
        for day, (name, (early, car)) in enumerate(plans.items())
    }  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_RECORDINGS", str(tmp_path / "recordings"))
    return tmp_path / "recordings" / "coached"


@cache
def report_laps(*paths):
    return coach_laps([DriveChoice(Recording.open(path), path.stem) for path in paths],
                      CoachOptions(limit=False, car="f1"))  # fmt: skip


def coach(*paths, find=True, everywhere=False):
    report = report_laps(*paths)
    habit = Habit("pace", None if everywhere else report.corners[-1], 0.4, 0.1, 0.97, "Brake later: it costs.", "")
    return replace(report, findings=(habit,) if find else ())


def test_a_session_is_one_file_and_again_the_same(drives, folder):
    (session,) = keep_session(coach(drives["one"]))
    assert list_sessions() == [session] == keep_session(coach(drives["one"]))
    assert len(list(folder.iterdir())) == 1
    assert (session.id, session.car, session.track, session.laps) == ("2026-11-20T18:00:00", "point", "stadium", 3)
    assert session.ideal_s <= session.best_s
    assert session.limit_s <= session.ideal_s
    assert session.worked_on.corner == "T2"


@pytest.mark.parametrize("everywhere", [False, True])
def test_what_was_worked_on_has_gained_what_the_laps_are_quicker_by(drives, everywhere):
    first, second = coach(drives["one"], everywhere=everywhere), coach(drives["two"])
    keep_session(first)
    _, session = keep_session(second)
    assert session.gain.before == "2026-11-20T18:00:00"
    assert session.gain.gained_s == pytest.approx(first.best_s - second.best_s, abs=0.02)
    assert session.gain.gained_s > 0.2
    assert 0.0 <= session.gain.error_s < 0.02


def test_of_a_folder_that_grows_the_new_laps_alone_count(drives):
    keep_session(coach(drives["one"]))
    alone = keep_session(coach(drives["two"]))[-1].gain
    assert keep_session(coach(drives["one"], drives["two"]))[-1].gain.gained_s == pytest.approx(
        alone.gained_s, abs=1e-6
    )


def test_another_car_is_another_history(drives):
    keep_session(coach(drives["one"]))
    (session,) = keep_session(coach(drives["other"]))
    assert session.gain is None
    assert len(list_sessions()) == 2


def test_a_session_without_a_habit_names_nothing_to_gain(drives):
    keep_session(coach(drives["one"], find=False))
    assert [session.gain for session in keep_session(coach(drives["two"]))] == [None, None]


def test_a_damaged_file_is_left_out(drives, folder):
    keep_session(coach(drives["one"]))
    (folder / "zz.json").write_text('{"case": 1, "result": {}, "trailbrake": "", "source": ""}')
    (folder / "yy.json").write_text("no")
    (file,) = (path for path in folder.iterdir() if len(path.stem) > 2)
    text = json.loads(file.read_text())
    del text["result"]["target"]["x"][3]
    (folder / "xx.json").write_text(json.dumps(text))
    assert len(list_sessions()) == 1


def test_the_date_is_that_of_the_recording(tmp_path):
    path, _ = record_laps(tmp_path / "a.mcap", laps=3, started="2026-11-26T18:03:12.5+00:00")
    assert keep_session(coach(path, find=False))[-1].id == "2026-11-26T18:03:12"


def test_without_a_date_it_is_that_of_the_file(tmp_path):
    path, _ = record_laps(tmp_path / "a.mcap", laps=3)
    os.utime(path, (1.7e9, 1.7e9))
    assert keep_session(coach(path, find=False))[-1].id == datetime.fromtimestamp(1.7e9).isoformat()


def test_a_session_is_named_by_how_its_date_begins(drives):
    keep_session(coach(drives["one"]))
    sessions = keep_session(coach(drives["two"]))
    assert [session.id[:10] for session in choose_sessions(sessions, "")] == ["2026-11-21", "2026-11-20"]
    assert choose_sessions(sessions, "2026-11-20") == [sessions[0]]
    assert choose_sessions(sessions, "last") == [sessions[1]]
    with pytest.raises(UsageError, match="1999: no such coached session"):
        choose_sessions(sessions, "1999")


@pytest.fixture
def sessions():
    work = WorkedOn("T3 <b>Hairpin</b>", "Brake later.", 0.51, 0.07, 0.99, [0.0, 0.0], [9.0, 0.0], 7.8, 0.01)
    one = CoachedSession("2026-11-20T18:00:00", "hatchback", "kartwerk", ["a"], 5, 67.197, 67.012, 62.4, 60.2, 64.6,
                         0.8, work, None, None)  # fmt: skip
    return [
        one,
        msgspec.structs.replace(
            one, id="2026-11-21T18:00:00", limit_s=None, worked_on=None, gain=Gain(one.id, 0.43, 0.02)
        ),
    ]


def test_the_gain_stands_beside_the_work_that_it_came_from(sessions):
    first, second = list_session_rows(sessions)
    assert len(first) == len(second) == len(SESSION_HEADS)
    assert first[-2:] == ("T3 <b>Hairpin</b>, 0.51 s", "+0.43 \u00b1 0.02")
    assert second[3:] == ("-", "no habit", "-")


def test_the_page_has_a_trend_from_two_sessions_on_and_no_markup_of_others(sessions):
    assert render_sessions(sessions[:1]) == ""
    page = render_sessions(sessions)
    assert page.count("<polyline") == 3
    assert "&lt;b&gt;Hairpin" in page
    assert "<b>" not in page
