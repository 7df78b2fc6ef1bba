"""Changes that can be shown before and taken back after."""

import os
import stat

import pytest

from trailbrake.errors import DataError, TrailbrakeError
from trailbrake.sims.assetto.install import file_edits
from trailbrake.sims.assetto.install.file_edits import FileEdit


def shout(data):
    return data.replace(b"quiet", b"LOUD") if data else b"LOUD\r\n"


@pytest.fixture
def there(tmp_path):
    path = tmp_path / "a.ini"
    path.write_bytes(b"\xef\xbb\xbfquiet\r\n\xff")
    return FileEdit(path, shout, "a")


@pytest.fixture
def missing(tmp_path):
    return FileEdit(tmp_path / "new" / "b.ini", shout, "b")


def test_there_and_back(there, missing):
    before = there.path.read_bytes()
    said = list(file_edits.apply_edits([there, missing]))
    assert there.path.read_bytes() == b"\xef\xbb\xbfLOUD\r\n\xff"
    assert missing.path.read_bytes() == b"LOUD\r\n"
    assert said == [f"a: changed {there.path}; as it was: a.ini.trailbrake-backup", f"b: made {missing.path}"]
    assert list(file_edits.apply_edits([there, missing])) == [
        f"a: is so already, {there.path}", f"b: is so already, {missing.path}"
    ]  # fmt: skip
    assert there.backup_path.read_bytes() == before  # the second time changed no backup
    assert list(file_edits.undo_edits([there, missing])) == [
        f"a: taken back, {there.path}",
        f"b: taken back, {missing.path}",
    ]
    assert there.path.read_bytes() == before
    assert not missing.path.exists()
    assert sorted(os.listdir(there.path.parent)) == ["a.ini", "new"]
    assert list(missing.path.parent.iterdir()) == []
    assert list(file_edits.undo_edits([there])) == [f"a: nothing to take back, {there.path}"]


def test_showing_changes_nothing(there, missing):
    before = there.path.read_bytes()
    said = list(file_edits.preview_edits([there, missing]))
    assert "-\xef\xbb\xbfquiet" in said
    assert "+\xef\xbb\xbfLOUD" in said
    assert f"b: would change {missing.path}" in said
    assert there.path.read_bytes() == before
    assert not missing.path.parent.exists()
    list(file_edits.apply_edits([there]))
    assert list(file_edits.preview_edits([there])) == [f"a: is so already, {there.path}"]


def test_what_somebody_changed_since_is_left_alone(there):
    list(file_edits.apply_edits([there]))
    there.path.write_bytes(b"LOUD and more")
    (said,) = file_edits.undo_edits([there])
    assert said.startswith("a: left alone, since it was changed meanwhile")
    assert said.endswith("as it was before trailbrake: a.ini.trailbrake-backup")
    assert there.path.read_bytes() == b"LOUD and more"
    assert there.backup_path.exists()


def test_a_read_only_file_stops_everything_before_anything_is_written(there, missing, tmp_path):
    locked = tmp_path / "c.ini"
    locked.write_bytes(b"quiet")
    locked.chmod(stat.S_IRUSR)
    with pytest.raises(DataError, match=r"c.ini: the file is read-only; allow writing to it"):
        list(file_edits.apply_edits([there, missing, FileEdit(locked, shout, "c")]))
    assert there.path.read_bytes().startswith(b"\xef\xbb\xbfquiet")
    assert not missing.path.exists()
    locked.chmod(stat.S_IRUSR | stat.S_IWUSR)


def test_a_write_that_fails_takes_the_others_back(there, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    impossible = FileEdit(tmp_path / "file" / "d.ini", shout, "d")
    before = there.path.read_bytes()
    with pytest.raises(TrailbrakeError, match=r"d.ini: cannot (read|write) the file"):
        list(file_edits.apply_edits([there, impossible]))
    assert there.path.read_bytes() == before
    assert not there.backup_path.exists()


def test_a_failing_disk(there, missing, monkeypatch):
    before = there.path.read_bytes()
    replace = os.replace

    def refuse(source, target):
        if str(target).endswith("b.ini"):
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(DataError, match=r"b.ini: cannot write the file: No space left on device; nothing was changed"):
        list(file_edits.apply_edits([there, missing]))
    assert there.path.read_bytes() == before
    assert not there.backup_path.exists()
    assert not missing.path.exists()


def test_modes_are_kept(there):
    there.path.chmod(0o640)
    list(file_edits.apply_edits([there]))
    assert stat.S_IMODE(there.path.stat().st_mode) & 0o700 == 0o600
