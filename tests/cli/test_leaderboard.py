"""`leaderboard`: the table, the object, the page, and one line where there is none."""

import sqlite3

import pytest

from trailbrake.race.entry_result import EntryResult, JudgedLap
from trailbrake.race.plan import RaceDayPlan, RaceEntry, TrackRound
from trailbrake.race.result_store import ResultStore
from trailbrake.race.schedule import schedule_heats


@pytest.fixture
def db(tmp_path):
    path = tmp_path / "races.sqlite"
    with ResultStore(path, make=True) as store:
        for day, times in (("one", (30.5, 29.25)), ("two", (28.0, 31.0))):
            plan = RaceDayPlan(entries=(RaceEntry(name="[bold]Ada", driver="a.py"),
                                        RaceEntry(name="Grace", driver="b.py")),
                               schedule=(TrackRound(track="oval", laps=1),), season="Cup", day=day)  # fmt: skip
            number = store.store_day(plan, "2026-05-04T10:00:00")
            for heat, time in zip(schedule_heats(plan), times, strict=True):
                lap = JudgedLap(1, time, True, "", 0, 0.0)
                result = EntryResult(entry=heat.grid[0].name, finished=True, ended="", laps=(lap,), time_s=time,
                                     best_s=time, contacts=0, digest=f"{time}")  # fmt: skip
                store.store_results(number, heat, "print", [result], "")
    return path


def test_the_season_s_table(cli, db):
    said = cli("leaderboard", "--db", db)
    assert said.code == 0
    lines = [line.split() for line in said.out.splitlines()]
    assert ["1", "[bold]Ada", "18", "8", "10", "1", "2", "of", "2", "2", "0"] in lines
    assert ["1", "Grace", "18", "10", "8", "1", "2", "of", "2", "2", "0"] in lines
    assert ["1", "Grace", "0:29.250", "1"] in lines


def test_one_object(cli, db):
    board = cli("leaderboard", "--db", db, "--json").object
    assert [(row["entry"], row["points"]) for row in board["standings"]] == [("Grace", 18), ("[bold]Ada", 18)]
    assert [day["day"] for day in board["days"]] == ["one", "two"]
    assert len(board["digest"]) == 64


def test_one_day_as_a_page(cli, db, tmp_path):
    said = cli("leaderboard", "--db", db, "--day", "two", "--html", tmp_path / "board.html", "--json")
    assert said.object["page"] == str(tmp_path / "board.html")
    text = (tmp_path / "board.html").read_text(encoding="utf-8")
    assert "28.000" in text
    assert "29.250" not in text


@pytest.mark.parametrize(("words", "said"), [("--season Cap", "did you mean Cup?"), ("--day thre", "no such day"),
                                             ("--db none.sqlite", "no such results")])  # fmt: skip
def test_what_is_not_there_is_one_line(cli, db, words, said):
    given = words.split() if "--db" in words else [*words.split(), "--db", db]
    assert said in cli("leaderboard", *given).error


def test_results_of_a_newer_version_are_one_line(cli, db):
    base = sqlite3.connect(db)
    base.execute("PRAGMA user_version = 7")
    base.close()
    assert "results of a newer trailbrake" in cli("leaderboard", "--db", db).error
