"""What an FMU may unpack to; its archive says so before anything is read."""

import zipfile

import pytest

from trailbrake.drivers import fmu_archive
from trailbrake.drivers.fmu_archive import DESCRIPTION, check_archive
from trailbrake.errors import DataError, UsageError


@pytest.fixture
def archive(tmp_path):
    path = tmp_path / "a.fmu"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(DESCRIPTION, b"<x/>" + b" " * 96)
        packed.writestr("binaries/linux64/a.so", bytes(900))
    return path


@pytest.mark.parametrize(
    ("limit", "value", "line"),
    [
        ("MAX_UNPACKED", 999, "expected 999 bytes unpacked at most, got 1000"),
        ("MAX_DESCRIPTION", 99, "expected 99 bytes of modelDescription.xml at most, got 100"),
        ("MAX_MEMBERS", 1, "expected 1 files at most, got 2"),
    ],
)
def test_an_archive_beyond_a_limit_is_refused_in_one_line(archive, monkeypatch, limit, value, line):
    monkeypatch.setattr(fmu_archive, limit, value + 1)
    check_archive(archive)
    monkeypatch.setattr(fmu_archive, limit, value)
    with pytest.raises(DataError, match="too large for an FMU") as caught:
        check_archive(archive)
    assert line in str(caught.value)
    assert str(archive) in str(caught.value)


def test_a_small_file_that_unpacks_to_gigabytes_is_refused(tmp_path):
    path = tmp_path / "bomb.fmu"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("a", bytes(1_000_000))
        packed.filelist *= 2  # the directory lets two names share their bytes: both count
        packed.filelist[0].file_size = 1_500_000_000
    assert path.stat().st_size < 10_000
    with pytest.raises(DataError, match=r"too large for an FMU.*got 3000000000"):
        check_archive(path)


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x05\x06" + bytes(17)])
def test_what_is_no_archive_is_said_to_be_none(tmp_path, content):
    path = tmp_path / "a.fmu"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"cannot be read as an FMU.*expected a zip archive"):
        check_archive(path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match="cannot read the FMU"):
        check_archive(tmp_path / "none.fmu")
