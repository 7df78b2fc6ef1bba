"""Names of recordings: safe everywhere, and never an existing file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.errors import UsageError
from trailbrake.record import Recorder, Recording
from trailbrake.record.file_names import safe_name


def test_existing_files_are_never_overwritten(tmp_path):
    wanted = tmp_path / "runs" / "fahrt über ünïcode 走行.mcap"
    made = [Recorder(wanted) for _ in range(3)]
    for recorder in made:
        recorder.close()
    assert [r.path.name for r in made] == [
        "fahrt über ünïcode 走行.mcap", "fahrt über ünïcode 走行-2.mcap", "fahrt über ünïcode 走行-3.mcap"
    ]  # fmt: skip
    assert all(len(Recording.open(r.path)) == 0 for r in made)


def test_a_folder_that_cannot_be_made_is_one_clear_line(tmp_path):
    (tmp_path / "file").write_text("")
    for bad in (tmp_path / "file" / "a.mcap", tmp_path / ("n" * 300 + ".mcap"), tmp_path / "nul\0l.mcap"):
        with pytest.raises(UsageError, match="cannot create the recording") as caught:
            Recorder(bad)
        assert "\n" not in str(caught.value)


@given(st.text())
def test_safe_names_are_safe(text):
    name = safe_name(text)
    assert name
    assert not set(name) & set('/\\:*?"<>|\0\n ')
    assert len(name.encode()) <= 130
    assert not name.startswith((".", "-"))
    assert not name.endswith(".")


def test_safe_names_keep_letters_and_avoid_devices():
    assert safe_name("assetto/spa: my driver.py:Fast") == "assetto-spa-my-driver.py-Fast"
    assert safe_name("走行 å") == "走行-å"
    assert safe_name("CON.txt") == "_CON.txt"
    assert safe_name("../..") == "drive"
