import sqlite3
from contextlib import closing

import pytest

pytest.importorskip("fsspec")
from trailbrake.errors import DataError, UsageError
from trailbrake.storage import folder_mirror
from trailbrake.storage.folder_mirror import mirror_folder
from trailbrake.storage.mirrored_files import STATE_FILE, MirroredFolder
from trailbrake.storage.remote_folder import RemoteFolder


@pytest.fixture
def url(tmp_path):
    return f"memory://mirrors/{tmp_path.name}"


def run_once(folder, url, files, said=None, **more):
    """Write files into a mirrored folder and return what the store has then."""
    mirrored = MirroredFolder(folder=folder, url=url, **{"primary": "state.bin", **more})
    with mirror_folder(mirrored, (said if said is not None else []).append):
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
    return RemoteFolder(url).list_files() if url else {}


def test_without_an_address_nothing_happens(tmp_path):
    run_once(tmp_path, "", {"state.bin": "1"})
    assert [path.name for path in tmp_path.iterdir()] == ["state.bin"]


def test_another_machine_goes_on_from_the_copy(tmp_path, url):
    there = run_once(tmp_path / "a", url, {"state.bin": "1", "cells/x.json": "x", "half.part": "?"})
    assert there == {"state.bin": 1, "cells/x.json": 1}
    said = []
    run_once(tmp_path / "b", url, {"state.bin": "2, by b"}, said)
    assert said == [f"2 files fetched from {url}"]
    assert (tmp_path / "b" / "cells" / "x.json").read_text() == "x"
    # The first machine has not changed its file since: it gets the newer one.
    run_once(tmp_path / "a", url, {})
    assert (tmp_path / "a" / "state.bin").read_text() == "2, by b"
    assert not [path for path in (tmp_path / "a").iterdir() if path.name.endswith(".part") and path.is_dir()]


def test_what_has_changed_here_alone_is_sent(tmp_path, url):
    run_once(tmp_path, url, {"state.bin": "1"})
    (tmp_path / "state.bin").write_text("2, while the store was away")
    run_once(tmp_path, url, {})
    assert RemoteFolder(url).list_files() == {"state.bin": 27}


def test_what_has_changed_in_both_is_refused_and_nothing_is_lost(tmp_path, url):
    run_once(tmp_path / "a", url, {"state.bin": "1"})
    run_once(tmp_path / "b", url, {"state.bin": "2 by b"})
    (tmp_path / "a" / "state.bin").write_text("2 by a")
    with pytest.raises(UsageError, match=r"state\.bin is another one here than there") as caught:
        run_once(tmp_path / "a", url, {})
    assert "\n" not in str(caught.value)
    assert (tmp_path / "a" / "state.bin").read_text() == "2 by a"
    run_once(tmp_path / "c", url, {})
    assert (tmp_path / "c" / "state.bin").read_text() == "2 by b"


def test_a_damaged_copy_is_said_and_what_is_here_stays(tmp_path, url):
    def refuse(path):
        raise DataError("not a checkpoint", where=str(path), got="File is not a zip file")

    run_once(tmp_path / "a", url, {"state.bin": "1", "other": "1"})
    run_once(tmp_path / "b", url, {"state.bin": "cut o", "other": "2"})
    with pytest.raises(DataError, match=r"state\.bin of the mirror: not a checkpoint, got File is not a zip file"):
        run_once(tmp_path / "a", url, {}, check_primary=refuse)
    assert (tmp_path / "a" / "state.bin").read_text() == (tmp_path / "a" / "other").read_text() == "1"


def test_results_that_never_change_are_joined(tmp_path, url):
    run_once(tmp_path / "a", url, {"cells/x.json": "x", "page.html": "a"}, primary="")
    fetched = {"primary": "", "is_fetched": lambda name: name.startswith("cells/")}
    there = run_once(tmp_path / "b", url, {"cells/y.json": "y"}, **fetched)
    assert sorted(there) == ["cells/x.json", "cells/y.json", "page.html"]
    assert not (tmp_path / "b" / "page.html").exists()
    assert not (tmp_path / "b" / STATE_FILE).exists()


def test_parts_alone_are_copied_and_a_database_whole(tmp_path, url):
    base = tmp_path / "base"
    (base / "day").mkdir(parents=True)
    (base / "other.txt").write_text("mine")
    (base / "day" / "log").write_text("log")
    how = {"parts": ("races.sqlite", "day"), "primary": "races.sqlite", "is_fetched": lambda name: False}
    with closing(sqlite3.connect(base / "races.sqlite")) as database:
        database.execute("CREATE TABLE lap (time REAL)")
        database.execute("INSERT INTO lap VALUES (61.5)")
        database.commit()
        database.execute("INSERT INTO lap VALUES (99.0)")  # under way: not in the copy
        assert sorted(run_once(base, url, {}, **how)) == ["day/log", "races.sqlite"]
    run_once(tmp_path / "else", url, {}, **how)
    with closing(sqlite3.connect(tmp_path / "else" / "races.sqlite")) as copy:
        assert copy.execute("SELECT time FROM lap").fetchall() == [(61.5,)]
    run_once(base, url, {}, **how)  # equal rows in other bytes are no change


def test_a_store_that_cannot_be_written_is_refused_first(tmp_path, url, monkeypatch):
    def refuse(self):
        raise UsageError("cannot write to the mirror", got="Access Denied")

    monkeypatch.setattr(folder_mirror.RemoteFolder, "check_writable", refuse)
    with pytest.raises(UsageError, match="Access Denied"):
        run_once(tmp_path, url, {"state.bin": "1"})
    assert not (tmp_path / "state.bin").exists()


def test_a_store_that_fails_is_said_at_the_end_and_the_next_run_sends_what_is_missing(tmp_path, url, monkeypatch):
    def refuse(self, source, name):
        raise UsageError("cannot write to the mirror", where=url, got="Connection reset")

    monkeypatch.setattr(RemoteFolder, "send_file", refuse)
    with pytest.raises(UsageError, match=r"not complete.*Connection reset.*is whole; the same command sends") as caught:
        run_once(tmp_path, url, {"state.bin": "1"})
    assert "\n" not in str(caught.value)
    said = []
    with pytest.raises(KeyboardInterrupt), mirror_folder(MirroredFolder(folder=tmp_path, url=url), said.append):
        raise KeyboardInterrupt
    assert "Connection reset" in said[0]
    monkeypatch.undo()
    assert run_once(tmp_path, url, {}) == {"state.bin": 1}


def test_a_mirror_inside_of_its_folder_is_refused(tmp_path):
    with pytest.raises(UsageError, match="inside"):
        run_once(tmp_path, str(tmp_path / "copy"), {})
