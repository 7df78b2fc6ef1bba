import json
from dataclasses import replace

import numpy as np
import pytest

from trailbrake.errors import DataError, UsageError
from trailbrake.train.rl import checkpoint
from trailbrake.train.rl.checkpoint import TrainingProgress, read_checkpoint, write_checkpoint
from trailbrake.train.rl.options import RlOptions

OPTIONS = RlOptions()
PROGRESS = TrainingProgress(iteration=7, steps=700, wall_time=3.5, cpu_time=2.25, best_score=1.2, best_iteration=6)


@pytest.fixture
def file(tmp_path):
    write_checkpoint(tmp_path / "c.npz", OPTIONS, PROGRESS, {"actor.0.weight": np.arange(6, dtype=np.float32)})
    return tmp_path / "c.npz"


def test_a_checkpoint_comes_back_to_the_bit(file):
    progress, state = read_checkpoint(file, OPTIONS)
    assert progress == PROGRESS
    assert list(state) == ["actor.0.weight"]
    assert state["actor.0.weight"].dtype == np.float32


def test_more_time_and_other_tracks_may_follow_but_not_another_learner(file):
    read_checkpoint(file, replace(OPTIONS, minutes=5.0, track="hartmoor", seed=3))
    for change in ({"hidden": 32}, {"observe": "motion,lane"}, {"period": 0.03}, {"steer_rate": 1.0}):
        with pytest.raises(UsageError, match=f"another learner.*|{next(iter(change))}"):
            read_checkpoint(file, replace(OPTIONS, **change))


def test_a_score_on_other_tracks_is_forgotten(file):
    progress, _ = read_checkpoint(file, replace(OPTIONS, held_out="gen:1-2"))
    assert progress == replace(PROGRESS, best_score=TrainingProgress().best_score, best_iteration=0)


def test_another_version_a_cut_file_and_something_else_are_said_in_one_line(file, tmp_path):
    whole = file.read_bytes()
    for size in (0, 100, len(whole) // 2, len(whole) - 30):
        file.write_bytes(whole[:size])
        with pytest.raises(DataError, match="not a checkpoint") as caught:
            read_checkpoint(file, OPTIONS)
        assert "\n" not in str(caught.value)
    for header, said in (({"version": 99}, "another version.*expected 1, got 99"), ({"kind": "x"}, "another kind")):
        with _as_arrays(whole, tmp_path) as arrays:
            values = {name: arrays[name] for name in arrays.files}
        values["header"] = np.array(json.dumps(json.loads(str(values["header"])) | header))
        np.savez(file, **values)
        with pytest.raises(DataError, match=said):
            read_checkpoint(file, OPTIONS)
    with pytest.raises(UsageError, match="cannot read the checkpoint"):
        read_checkpoint(tmp_path / "nowhere.npz", OPTIONS)


def test_progress_and_arrays_of_another_type_are_refused(file, monkeypatch):
    with np.load(file) as arrays:
        whole = {name: arrays[name] for name in arrays.files}
    header = json.loads(str(whole["header"]))
    header["progress"]["iteration"] = "7"
    for changed in ({"header": np.array(json.dumps(header))}, {"state.actor.0.weight": np.array(["x"])}):
        np.savez(file, **{**whole, **changed})
        with pytest.raises(DataError, match="not a checkpoint"):
            read_checkpoint(file, OPTIONS)
    np.savez(file, **whole)
    read_checkpoint(file, OPTIONS)
    monkeypatch.setattr(checkpoint, "MAX_BYTES", 1000)
    with pytest.raises(DataError, match="too large for a checkpoint"):
        read_checkpoint(file, OPTIONS)


def _as_arrays(content, folder):
    (folder / "whole.npz").write_bytes(content)
    return np.load(folder / "whole.npz")
