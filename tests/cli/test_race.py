"""`race`: its exit codes, and one line for whatever is wrong."""

import json
import sqlite3

import pytest
from helpers.contact_scenes import brake_test, record_scene

from trailbrake.cli.race import steward
from trailbrake.errors import UsageError
from trailbrake.race.entry_result import EntryResult, JudgedLap
from trailbrake.race.plan import RaceDayPlan, RaceEntry, TrackRound
from trailbrake.race.result_store import ResultStore
from trailbrake.race.schedule import schedule_heats

DAY = """
day = "one"
[[schedule]]
track = "oval"
[[entries]]
driver = "{}"
"""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("race", "no entry or no track"),
        ("race none.toml", "none.toml: cannot read the race file"),
        ("race none.toml --laps 2", "a race file and flags"),
        ("race --entry lane_sing --track oval", "did you mean lane_sign"),
        ("race --entry lane_sign --track ovall", "did you mean oval"),
        ("race --entry lane_sign --track oval --laps -3", "rules.laps: too small a number, expected 1 or more, got -3"),
        ("race --entry lane_sign --track oval --cars 2", "one car only through the wire of trend"),
        ("race --entry lane_sign --track oval --host look", "expected KEY=VALUE"),
        ("race --entry lane_sign --track oval --jobs -1", "--jobs"),
        ("race --entry lane_sign --track oval --score style", '"best_lap", "finish"'),
        ("race --entry no_such_bot:{port} --track oval", "no such program"),
        ("race --entry line_follow --track oval", "needs what trend does not supply"),
        ("race --lap 2", "Did you mean --laps?"),
    ],
)
def test_wrong_usage_is_one_line_that_says_what_to_try(cli, words, said, tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_RECORDINGS", str(tmp_path))
    assert said in cli(*words.split()).error
    assert list(tmp_path.iterdir()) == []


def test_a_day_of_a_file_may_have_another_name(cli, tmp_path, monkeypatch):
    path, days = tmp_path / "day.toml", []

    def run(plan, *rest):
        days.append(plan.day)
        raise UsageError("enough")

    monkeypatch.setattr("trailbrake.race.race_day.run_day", run)
    path.write_text(DAY.format("lane_sign"))
    for words in (("--day", "two"), ()):
        assert "enough" in cli("race", path, *words).error
    assert days == ["two", "one"]


def test_a_file_with_a_missing_key_is_one_line_and_one_object(cli, tmp_path):
    path = tmp_path / "day.toml"
    path.write_text(DAY.format("lane_sign").replace("track", "trakc"))
    said = cli("race", path, "--json")
    assert said.code == 2
    assert "in schedule[0]" in said.error
    assert said.object["error"] in said.error


def test_a_database_of_another_program_is_refused(cli, tmp_path):
    path, other = tmp_path / "day.toml", tmp_path / "birds.sqlite"
    path.write_text(DAY.format("lane_sign"))
    base = sqlite3.connect(other)
    base.execute("CREATE TABLE birds (name TEXT)")
    base.close()
    assert "another program's database" in cli("race", path, "--db", other).error


@pytest.mark.slow
def test_a_race_in_a_few_words(cli, tmp_path):
    (tmp_path / "day.toml").write_text(DAY.format("mine.py") + "[rules]\nseconds = 1\n")
    (tmp_path / "mine.py").write_text("from trailbrake.drivers.originals.wall_follow_seed import Driver as Seed\n"
                                      "class Mine(Seed):\n    'Drives.'\n")  # fmt: skip
    words = ("race", tmp_path / "day.toml", "--db", tmp_path / "r.sqlite", "--json")
    said = cli(*words)
    assert said.code == 0
    assert said.object["ran"] == 1
    (race,) = said.object["days"][0]["races"]
    assert race["results"][0]["ended"] == "out of time after 1 s"
    assert said.err[-1] == "race 1 on oval: mine.py: 0 laps; out of time after 1 s"
    assert said.err[-2].startswith("entries ")  # what this system keeps them from
    table = cli("leaderboard", "--db", tmp_path / "r.sqlite", "--html", tmp_path / "board.html")
    assert "mine.py" in table.out
    assert (tmp_path / "board.html").is_file()
    base = sqlite3.connect(tmp_path / "r.sqlite")
    base.execute("UPDATE result SET digest = 'another'")
    base.commit()
    base.close()
    differs = cli(*words[:-1], "--check", "--no-report")
    assert differs.code == 1
    assert differs.err[-1] == "trailbrake: race 1, mine.py: not the result of before"


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
    assert ["1", "Grace", "29.250", "1"] in lines


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


def test_one_recording_stands_for_all_cars(tmp_path, capsys):
    path = record_scene(tmp_path, brake_test(1))
    steward([str(path)])
    assert "car 0 at fault: braked without a reason (C 2.e, S)" in capsys.readouterr().out
    other = path.with_stem(path.stem + "_car1")
    for files in ([str(other)], [str(path), str(other)]):
        steward(files, json=True)
        report = json.loads(capsys.readouterr().out)
        assert report["recordings"] == [str(path), str(other)]
        assert [row["fault"] for row in report["contacts"]] == [0]


def test_a_drive_of_one_car_is_refused_in_one_line(tmp_path):
    path = record_scene(tmp_path, brake_test(2))
    path.with_stem(path.stem + "_car1").unlink()
    with pytest.raises(UsageError, match="needs the recordings of two cars"):
        steward([str(path)])
