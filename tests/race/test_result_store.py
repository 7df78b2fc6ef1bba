"""The file with the results: a round trip, moved folders, other programs' files, and files that are held."""

import sqlite3

import pytest

from trailbrake.errors import DataError, TrailbrakeError, UsageError
from trailbrake.race import result_store as module
from trailbrake.race.entry_result import EntryResult, JudgedLap
from trailbrake.race.plan import RaceDayPlan, RaceEntry, RaceRules, TrackRound
from trailbrake.race.result_store import APPLICATION, ResultStore
from trailbrake.race.schedule import schedule_heats

PLAN = RaceDayPlan(
    entries=(RaceEntry(name="a", driver="lane_sign"), RaceEntry(name="b", command="bot {port}")),
    schedule=(TrackRound(track="oval", races=2, host={"look": "A"}),), season="Cup", day="one",
    rules=RaceRules(points=(3, 1.5)),
)  # fmt: skip


def results(tmp_path, digest="d1"):
    laps = (JudgedLap(1, 10.25, True, "", 0, 0.0), JudgedLap(2, 11.5, False, "contact", 2, 0.5))
    path = tmp_path / "files" / "01.mcap"
    return [EntryResult(entry="a", finished=True, ended="", laps=laps, time_s=21.75, best_s=10.25, contacts=2,
                        digest=digest, recording=str(path), report=str(path.with_suffix(".html")))]  # fmt: skip


def filled(tmp_path, digest="d1"):
    path = tmp_path / "races.sqlite"
    with ResultStore(path, make=True) as store:
        day = store.store_day(PLAN, "2026-05-04T10:00:00")
        store.store_results(
            day, schedule_heats(PLAN)[0], "print", results(tmp_path, digest), str(tmp_path / "files" / "01.log")
        )
    return path


def test_what_is_put_is_what_is_read(tmp_path):
    with ResultStore(filled(tmp_path)) as store:
        season, (day,) = store.read_days()
        assert store.read_fingerprints(1) == {(1, "a"): ("print", "d1")}
    assert (season, day.name, day.sim, day.points, day.begun) == (
        "Cup",
        "one",
        "trend",
        (3.0, 1.5),
        "2026-05-04T10:00:00",
    )
    assert day.drivers == {"a": "lane_sign"}
    (race,) = day.races
    assert (race.number, race.track, race.host, race.laps, race.seed) == (1, "oval", ("look=A",), 3, 0)
    assert list(race.results) == results(tmp_path)
    assert race.logs == {"a": str(tmp_path / "files" / "01.log")}


def test_database_and_recordings_may_be_moved_together(tmp_path):
    (tmp_path / "old").mkdir()
    filled(tmp_path / "old")
    (tmp_path / "old").rename(tmp_path / "new")
    with ResultStore(tmp_path / "new" / "races.sqlite") as store:
        recording = store.read_days()[1][0].races[0].results[0].recording
    assert recording == str(tmp_path / "new" / "files" / "01.mcap")


def test_a_result_takes_the_place_of_the_one_before(tmp_path):
    filled(tmp_path)
    with ResultStore(filled(tmp_path, "d2")) as store:
        (day,) = store.read_days()[1]
    assert [result.digest for result in day.races[0].results] == ["d2"]
    assert len(day.races[0].results[0].laps) == 2


def test_a_race_that_has_become_another_loses_its_results(tmp_path):
    path = filled(tmp_path)
    with ResultStore(path, make=True) as store:
        heat = schedule_heats(RaceDayPlan(entries=PLAN.entries[1:], schedule=(TrackRound(track="kite"),)))[0]
        result = EntryResult(
            entry="b", finished=False, ended="x", laps=(), time_s=0.0, best_s=None, contacts=0, digest="e"
        )
        store.store_results(1, heat, "print", [result], "")
        (race,) = store.read_days()[1][0].races
    assert (race.track, [result.entry for result in race.results]) == ("kite", ["b"])
    base = sqlite3.connect(path)
    assert base.execute("SELECT count(*) FROM lap").fetchone() == (0,)
    base.close()


def test_nothing_half_done_is_stored(tmp_path):
    path = filled(tmp_path)
    broken = results(tmp_path, "d3")[0]
    twice = EntryResult(
        **{name: getattr(broken, name) for name in broken.__struct_fields__} | {"laps": broken.laps * 2}
    )
    with ResultStore(path, make=True) as store:
        with pytest.raises(DataError):  # two laps of one number
            store.store_results(1, schedule_heats(PLAN)[0], "print", [twice], "")
        assert store.read_fingerprints(1) == {(1, "a"): ("print", "d1")}


def test_seasons_and_days_by_name(tmp_path):
    with ResultStore(filled(tmp_path), make=True) as store:
        store.store_day(
            RaceDayPlan(entries=PLAN.entries, schedule=PLAN.schedule, season="Autumn", day="x"), "2026-09-01"
        )
        assert store.list_seasons() == ["Cup", "Autumn"]
        assert store.read_days()[0] == "Autumn"
        assert [day.name for day in store.read_days("Cup", "one")[1]] == ["one"]
        with pytest.raises(UsageError, match=r"no such season, got Cap; did you mean Cup\?"):
            store.read_days("Cap")
        with pytest.raises(UsageError, match="no such day, got two"):
            store.read_days("Cup", "two")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match="no such results"):
        ResultStore(tmp_path / "none.sqlite")
    with ResultStore(tmp_path / "races.sqlite", make=True) as store, pytest.raises(UsageError, match="no results yet"):
        store.read_days()


def test_files_that_are_not_ours_are_refused_and_left_alone(tmp_path):
    text = tmp_path / "text.sqlite"
    text.write_text("not a database at all, but a long enough text" * 10)
    other = tmp_path / "other.sqlite"
    base = sqlite3.connect(other)
    base.execute("CREATE TABLE birds (name TEXT)")
    base.commit()
    base.close()
    empty = tmp_path / "empty.sqlite"
    empty.write_bytes(b"")
    for path in (text, other):
        before = path.read_bytes()
        for make in (True, False):
            with pytest.raises(DataError) as error:
                ResultStore(path, make=make)
            assert str(path) in str(error.value)
        assert path.read_bytes() == before
    with pytest.raises(DataError, match="another program's"):
        ResultStore(empty)


def test_results_of_a_newer_version_are_refused(tmp_path):
    path = filled(tmp_path)
    base = sqlite3.connect(path)
    base.execute("PRAGMA user_version = 99")
    base.close()
    with pytest.raises(DataError, match="newer trailbrake, expected version 1 or older, got version 99"):
        ResultStore(path)


def test_a_file_that_another_program_holds_is_one_line(tmp_path, monkeypatch):
    path = filled(tmp_path)
    monkeypatch.setattr(module, "LOCK_TIMEOUT_S", 0.05)
    base = sqlite3.connect(path, isolation_level=None)
    base.execute("BEGIN EXCLUSIVE")
    with pytest.raises(UsageError, match=r"another program has held the results for 0\.05 s"):
        ResultStore(path)
    base.execute("ROLLBACK")
    base.close()


def test_the_file_says_whose_it_is(tmp_path):
    header = filled(tmp_path).read_bytes()[:100]
    assert header[:16] == b"SQLite format 3\0"
    assert int.from_bytes(header[68:72], "big") == APPLICATION  # the file format's application id


def read_all(path):
    with ResultStore(path) as store:
        store.read_days()
        store.read_fingerprints(1)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE day SET points = '[1, 2'", "UPDATE day SET points = '{}'", "UPDATE day SET score = 'luck'",
        "UPDATE day SET name = x'ff'", "UPDATE day SET season = x'fe'", "UPDATE race SET host = '[1]'",
        "UPDATE race SET host = x'ffff'", "UPDATE race SET laps = 'many'",
        "UPDATE race SET track = CAST(x'ff' AS TEXT)",
        "UPDATE result SET time_s = 'x'", "UPDATE result SET entry = x'00ff'", "UPDATE result SET recording = x'41'",
        "UPDATE result SET finished = 'yes'", "UPDATE result SET recording = 'a' || char(0)",
        "UPDATE lap SET time_s = x'00'", "UPDATE lap SET contacts = 'x'",
    ],
)  # fmt: skip
def test_rows_that_are_damaged_are_one_line(tmp_path, damage):
    path = filled(tmp_path)
    with sqlite3.connect(path) as base:
        base.execute(damage)
    base.close()
    with pytest.raises(TrailbrakeError) as caught:
        read_all(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "strange",
    [
        "CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
        "CREATE TRIGGER t AFTER INSERT ON day BEGIN DELETE FROM race; END",
    ],
)
def test_programs_in_a_database_do_not_run(tmp_path, strange):
    path = filled(tmp_path)
    with sqlite3.connect(path) as base:
        base.execute(strange)
    base.close()
    with pytest.raises(DataError, match="a database with views or triggers"):
        ResultStore(path)
