"""The journal of a learning: what was driven is found again, and nothing else is."""

import pytest

from trailbrake.errors import DataError
from trailbrake.run.learning_journal import LearningJournal, LearningStep, hash_basis, journal_path


def open_journal(folder, basis="a", again=False, said=None):
    return LearningJournal(journal_path(folder / "mine.toml"), basis, again=again,
                           show_message=(said if said is not None else []).append)  # fmt: skip


def write_step(folder, name="car_test", seconds=30.0, finished=True):
    recording = folder / f"{name}.mcap"
    recording.write_bytes(b"")
    return LearningStep(name, str(recording), seconds, finished)


def test_what_was_driven_is_found_again(tmp_path):
    journal, said = open_journal(tmp_path), []
    journal.add_step(write_step(tmp_path, "car_test", finished=False))
    journal.add_step(write_step(tmp_path, "line_follow 1"))
    again = open_journal(tmp_path, said=said)
    assert again.steps == journal.steps
    assert not again.is_finished("car_test")
    assert again.is_finished("line_follow 1")
    assert [step.seconds for step in again.list_steps("car_test")] == [30.0]
    assert "after 2 drives, 60 s" in said[0]


def test_another_car_another_wish_or_a_lost_recording_begins_anew(tmp_path):
    step = write_step(tmp_path)
    open_journal(tmp_path).add_step(step)
    said = []
    assert open_journal(tmp_path, basis="b", said=said).steps == []
    assert "begun anew" in said[0]
    assert open_journal(tmp_path, again=True).steps == []
    (tmp_path / "car_test.mcap").unlink()
    assert open_journal(tmp_path).steps == []


def test_the_basis_knows_the_order_and_the_values():
    assert hash_basis((1, "a")) == hash_basis((1, "a"))
    assert hash_basis((1, "a")) != hash_basis(("a", 1))


@pytest.mark.parametrize("text", ["{}", "[1]", '{"format": "x", "version": 1, "basis": "a", "steps": []}'])
def test_another_file_is_named(tmp_path, text):
    path = journal_path(tmp_path / "mine.toml")
    path.write_text(text)
    with pytest.raises(DataError, match=r"mine\.learning\.json"):
        open_journal(tmp_path)
