from pathlib import Path

import pytest

from trailbrake.errors import UsageError
from trailbrake.tasks.sent_files import (
    collect_files,
    list_name_parts,
    place_files,
    read_named_file,
    rename_files,
    rename_files_in_pair,
)  # fmt: skip

WORDS = ["{}", "policy:{}", "{}:Best", "random:3:{}", "{}@wet"]


@pytest.mark.parametrize("name", ["/a/mine.py", "C:\\a\\mine.py"])
@pytest.mark.parametrize("word", WORDS)
def test_a_file_is_found_and_renamed_in_a_text(word, name):
    assert name in list_name_parts(word.format(name))
    assert rename_files(word.format(name), {name: "/b/mine.py"}) == word.format("/b/mine.py")


def test_a_text_without_a_file_stays():
    assert rename_files("gen:3", {"/a/mine.py": "/b/mine.py"}) == "gen:3"
    assert rename_files_in_pair("look=A", {"/a": "/b"}) == "look=A"
    assert rename_files_in_pair("file=/a", {"/a": "/b"}) == "file=/b"
    assert list_name_parts("") == []


def test_files_are_collected_once_and_folders_are_none(tmp_path):
    file = tmp_path / "mine.py"
    file.write_bytes(b"x = 1")
    assert collect_files([f"{file}:Best", str(file), "gt3", "", str(tmp_path), "\0"]) == {str(file): b"x = 1"}
    assert read_named_file(str(tmp_path / "none")) == b""


def test_files_that_are_here_stay_and_others_are_placed(tmp_path):
    here = tmp_path / "mine.py"
    here.write_bytes(b"x = 1")
    assert place_files({str(here): b"x = 1"}, tmp_path / "placed") == {}
    for data in (b"x = 2", b"x = 3"):
        (placed,) = place_files({str(here): data}, tmp_path / "placed").values()
        assert Path(placed).name == "mine.py"
        assert Path(placed).read_bytes() == data


def test_a_file_that_cannot_be_placed_is_one_line(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(UsageError, match="cannot write a file of the task"):
        place_files({"/elsewhere/x.py": b"1"}, tmp_path / "taken")
