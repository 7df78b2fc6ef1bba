import pytest

pytest.importorskip("tensorboard")
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from trailbrake.train.rl.event_file import EventFile

pytestmark = [pytest.mark.train, pytest.mark.filterwarnings("ignore::DeprecationWarning")]


def read_scalars(folder):
    events = EventAccumulator(str(folder))
    events.Reload()
    return {name: [(one.step, one.value) for one in events.Scalars(name)] for name in events.Tags()["scalars"]}


def test_tensorboard_reads_what_was_written_and_a_later_file_replaces_its_steps(tmp_path):
    first = EventFile(tmp_path / "events", 1)
    for step in range(1, 5):
        first.add(step, {"speed": float(step), "laps/a": 0.5})
    first.close()
    second = EventFile(tmp_path / "events", 3)
    second.add(3, {"speed": 30.0})
    second.close()
    found = read_scalars(tmp_path / "events")
    assert found["speed"] == [(1, 1.0), (2, 2.0), (3, 30.0)]
    assert found["laps/a"] == [(1, 0.5), (2, 0.5)]


def test_a_folder_that_cannot_be_made_is_an_error_at_once(tmp_path):
    (tmp_path / "events").write_text("a file")
    with pytest.raises(OSError, match="exists"):
        EventFile(tmp_path / "events", 1)
