"""The journal of a learning: what was driven is found again, and nothing else is."""

from trailbrake.learning.learning_journal import LearningJournal, LearningStep, journal_folder


def open_journal(folder, basis="a", again=False, said=None):
    return LearningJournal(journal_folder(folder / "mine.toml"), basis, again=again,
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


def test_another_basis_or_a_lost_recording_starts_over_and_loses_nothing(tmp_path):
    step = write_step(tmp_path)
    open_journal(tmp_path).add_step(step)
    assert open_journal(tmp_path, basis="b").steps == []
    assert open_journal(tmp_path, again=True).steps == []
    open_journal(tmp_path, basis="b").add_step(write_step(tmp_path, "survey"))  # as learning a map and a car at once
    assert open_journal(tmp_path).steps == [step]
    (tmp_path / "car_test.mcap").unlink()
    assert open_journal(tmp_path).steps == []
