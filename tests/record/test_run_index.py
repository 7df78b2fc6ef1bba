import math
import os
import sqlite3
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from trailbrake.errors import DataError, UsageError
from trailbrake.record import Recorder
from trailbrake.record.mcap_scan import MAGIC
from trailbrake.record.run_index import FILE_NAME, RunIndex, choose_run, read_tags, resolve_recording, write_tags
from trailbrake.state import CarState, Controls


@dataclass
class Lap:
    number: int
    time_s: float
    valid: bool = True
    sectors_s: tuple = ()
    invalid_reason: str = ""
    off_track_s: float = 0.0
    contacts: int = 0
    end: float = math.nan


def record(path, *laps, age=0, **about):
    recorder = Recorder(path)
    recorder.start({"sim": "assetto", "track": "oval", "car": "kart", "driver": "line_follow", **about})
    for i in range(5):
        recorder.tick(CarState(time=i * 0.01, sequence=i), Controls())
    for lap in laps:
        recorder.store_lap(lap)
    recorder.close()
    os.utime(path, (1e9 - age, 1e9 - age))


def list_runs(folder, **options):
    with closing(RunIndex(folder, **options)) as index:
        return index.list_runs()


@pytest.fixture
def folder(tmp_path):
    record(tmp_path / "new.mcap", Lap(1, 50.0), Lap(2, 48.0, valid=False), age=1)
    record(tmp_path / "old.mcap", Lap(1, 47.0), age=9)
    (tmp_path / "day").mkdir()
    record(tmp_path / "day" / "race.mcap", Lap(1, 40.0), age=5, track="ring", driver="<script>alert(1)</script>")
    return tmp_path


def test_runs_are_described_by_their_recordings(folder):
    runs = list_runs(folder)
    assert [run.id for run in runs] == ["new", "day--race", "old"]
    assert (runs[0].sim, runs[0].track, runs[0].car, runs[0].driver) == ("assetto", "oval", "kart", "line_follow")
    assert [(run.laps, run.best_s) for run in runs] == [(2, 50.0), (1, 40.0), (1, 47.0)]
    assert runs[1].driver == "<script>alert(1)</script>", "pages escape it"


def test_an_open_loop_replay_has_no_laps_of_its_driver(folder):
    record(folder / "replay.mcap", Lap(1, 30.0), driver="lane_keep", open_loop="new.mcap")
    replay, *runs = list_runs(folder)
    assert (replay.driver, replay.laps, replay.best_s) == ("lane_keep", 0, None)
    assert choose_run([replay, *runs], "best", folder).id == "old"


def test_the_index_follows_the_files_and_can_be_made_again(folder):
    before = list_runs(folder)
    (folder / FILE_NAME).unlink()
    assert list_runs(folder) == before
    (folder / "old.mcap").unlink()
    record(folder / "third.mcap", Lap(1, 30.0))
    assert [run.id for run in list_runs(folder)] == ["third", "new", "day--race"]
    assert list_runs(folder, rebuild=True) == list_runs(folder)


def test_a_recording_that_has_not_changed_is_not_read_again(folder, monkeypatch):
    before = list_runs(folder)
    monkeypatch.setattr("trailbrake.record.run_index.Recording.open", lambda *_, **__: pytest.fail("read again"))
    assert list_runs(folder) == before


@pytest.mark.parametrize("damage", [b"nothing of a database" * 100, b"SQLite format 3\0" + b"\xff" * 2000])
def test_a_damaged_index_is_replaced(folder, damage):
    before = list_runs(folder)
    (folder / FILE_NAME).write_bytes(damage)
    assert list_runs(folder) == before


def test_another_program_s_database_is_left_alone(folder):
    with closing(sqlite3.connect(folder / FILE_NAME)) as base:
        base.execute("CREATE TABLE mine (x)")
    with pytest.raises(DataError, match="another program's database"):
        list_runs(folder)


def test_an_index_with_a_place_out_of_the_folder_is_refused(folder):
    list_runs(folder)
    with closing(sqlite3.connect(folder / FILE_NAME)) as base, base:
        base.execute("UPDATE run SET path = '../secret.mcap' WHERE id = 'old'")
    with closing(RunIndex(folder)) as index:
        # What is not among the files is removed; what is asked for before that is refused.
        assert "../secret.mcap" not in [run.path for run in index.list_runs()]
        from trailbrake.record.run_index import RunEntry

        with pytest.raises(DataError, match="out of its folder"):
            index.locate_run(RunEntry("x", "../secret.mcap", 0, 0))


def test_what_is_no_recording_is_listed_with_its_problem_and_harms_nothing(folder):
    (folder / "text.mcap").write_bytes(b"hello")
    (folder / "empty.mcap").write_bytes(b"")
    with open(folder / "sparse.mcap", "wb") as file:  # 10 GB that are not there
        file.write(MAGIC)
        file.truncate(10 * 2**30)
    with open(folder / "claims.mcap", "wb") as file:  # an attachment of 9 GB
        file.write(MAGIC + b"\x09" + (9 * 2**30).to_bytes(8, "little"))
        file.truncate(10 * 2**30)
    with open(folder / "chunk.mcap", "wb") as file:  # a chunk of 9 GB
        file.write(MAGIC + b"\x06" + (9 * 2**30).to_bytes(8, "little"))
        file.truncate(10 * 2**30)
    (folder / "link.mcap").symlink_to(folder / "old.mcap")
    problems = {run.id: run.problem for run in list_runs(folder) if run.problem}
    assert set(problems) == {"text", "empty", "sparse", "claims", "chunk"}
    assert choose_run(list_runs(folder), "last", folder).problem == ""


def test_names_of_runs(folder):
    record(folder / "nest.mcap", age=20)
    runs = list_runs(folder)
    meant = {
        "last": "new", "previous": "day--race", "last:ne": "new", "last:old": "old", "best": "old",
        "best:ring": "day--race", "old": "old",
        "rac": "day--race", "ace": "day--race",
    }  # fmt: skip
    assert {name: choose_run(runs, name, folder).id for name in meant} == meant
    for name, text in (
        ("ne", r"more than one.*last:ne for the newest"),
        ("last:zzz", "no such"),
        ("zzz", "no such"),
        ("best:moon", "no run with a valid lap"),
    ):
        with pytest.raises(UsageError, match=text):
            choose_run(runs, name, folder)


@pytest.mark.parametrize("name", ["../old", "..", "day/../../old", "%2e%2e", "old\0", "", "'; DROP TABLE run; --"])
def test_an_id_is_looked_up_and_never_becomes_a_path(folder, name):
    with pytest.raises(UsageError, match=r"no such recording or run|more than one"):
        choose_run(list_runs(folder / "day"), name, folder)


def test_a_word_is_a_path_or_a_run(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert resolve_recording("old", folder) == folder / "old.mcap"
    assert resolve_recording("day--race", folder) == folder / "day" / "race.mcap"
    assert resolve_recording("../x.mcap", folder) == Path("../x.mcap")
    (folder / "last").write_text("a file")
    assert resolve_recording("last", folder) == folder / "new.mcap"
    with pytest.raises(UsageError, match="no such recording or run"):
        resolve_recording("unknown", folder)
    with pytest.raises(UsageError, match="no recordings yet"):
        resolve_recording("last", folder / "none")


def test_tags_outlive_the_index(folder):
    path = folder / "old.mcap"
    assert write_tags(path, ["wet", "  new\ntyres ", "wet", ""]) == ["new tyres", "wet"]
    (folder / FILE_NAME).unlink(missing_ok=True)
    assert read_tags(path) == ["new tyres", "wet"]
    path.with_suffix(".tags").write_bytes(b"x" * 50_000)
    assert read_tags(path) == []


def test_later_parts_are_no_runs_of_their_own(tmp_path):
    record(tmp_path / "a.mcap", Lap(1, 50.0))
    record(tmp_path / "a_part2.mcap", Lap(2, 49.0), part=2)
    assert [(run.id, run.problem == "") for run in list_runs(tmp_path)] == [("a", True), ("a_part2", False)]


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes on Linux alone")
def test_a_name_that_is_no_text_is_a_run_like_others(tmp_path):
    name = os.fsdecode(b"b\xe4d.mcap")
    record(tmp_path / name, Lap(1, 61.5), age=5)
    record(tmp_path / "a%E4.mcap", Lap(1, 60.5), age=9)
    with closing(RunIndex(tmp_path)) as index:
        odd, plain = index.list_runs()
        assert [(run.id, run.best_s, run.problem) for run in (odd, plain)] == [("b%E4d", 61.5, ""), ("a%E4", 60.5, "")]
        assert index.locate_run(odd).name == name
        assert index.locate_run(plain).name == "a%E4.mcap"
    assert resolve_recording("last", tmp_path).name == name
