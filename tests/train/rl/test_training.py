import json
import os
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")
from trailbrake.drivers.loading.race_policy import read_race_policy
from trailbrake.errors import DataError, UsageError
from trailbrake.train.rl.curves import read_curves
from trailbrake.train.rl.options import RlOptions
from trailbrake.train.rl.rollout import RolloutSampler
from trailbrake.train.rl.training import train_policy

pytestmark = [pytest.mark.train, pytest.mark.filterwarnings("ignore::DeprecationWarning")]


@pytest.fixture
def options(tmp_path):
    return RlOptions(
        out=tmp_path / "run", cars=8, horizon=0.6, hidden=8, iterations=4, evaluate_every=4, observe="motion,lane,bends"
    )


def arrays_of(folder):
    with np.load(folder / "checkpoint.npz") as arrays:
        return {name: arrays[name] for name in arrays.files if name != "header"}


def test_stopped_and_resumed_is_the_same_to_the_bit(options, tmp_path):
    whole = train_policy(options)
    parts = replace(options, out=tmp_path / "parts", iterations=2)
    train_policy(parts)
    resumed = train_policy(replace(parts, iterations=4, resume=True))
    one, other = arrays_of(options.out), arrays_of(parts.out)
    assert one.keys() == other.keys()
    assert len(one) > 10
    assert all(np.array_equal(one[name], other[name]) for name in one)
    assert (whole["iteration"], whole["steps"]) == (resumed["iteration"], resumed["steps"]) == (4, 4 * 8 * 12)
    rows = [read_curves(folder / "progress.jsonl") for folder in (options.out, parts.out)]
    speeds = [[row["speed"] for row in each if "speed" in row] for each in rows]
    assert speeds[0] == speeds[1]
    assert len(speeds[0]) == 4
    judged = [[row["iteration"] for row in each if "score" in row] for each in rows]
    assert judged == [[4], [2, 4]], "what a part ends with is judged, and in its curves"


def test_the_run_leaves_a_policy_and_curves(options):
    said = []
    result = train_policy(options, said.append)
    policy = read_race_policy(options.out / "policy.npz")
    assert policy.observe == ("motion", "lane", "bends")
    assert policy.about["iteration"] == result["best_iteration"] == 4
    rows = read_curves(options.out / "progress.jsonl")
    shares = [rows[-1][f"{name}_share"] for name in ("world", "actor", "learning")]
    assert all(share >= 0.0 for share in shares)
    assert sum(shares) < 1.2
    assert any("iteration 4" in line for line in said)
    assert "run: how it learned to drive" in (options.out / "curves.html").read_text("utf-8")
    with pytest.raises(UsageError, match="a training is there already"):
        train_policy(options)


def test_numbers_that_diverge_end_it_in_one_line_and_nothing_is_lost(options, monkeypatch):
    train_policy(replace(options, iterations=2, evaluate_every=2))
    before = {name: (options.out / name).read_bytes() for name in ("policy.npz", "checkpoint.npz")}
    sample = RolloutSampler.sample

    def sample_nonsense(self, weights, seed):
        return replace(sample(self, weights, seed), rewards=np.full((12, 8), np.nan, np.float32))

    monkeypatch.setattr(RolloutSampler, "sample", sample_nonsense)
    with pytest.raises(DataError, match="learning diverged") as caught:
        train_policy(replace(options, resume=True))
    assert "\n" not in str(caught.value)
    assert {name: (options.out / name).read_bytes() for name in before} == before


def test_a_full_disk_leaves_the_last_good_checkpoint_and_is_said_at_the_end(options, monkeypatch):
    train_policy(replace(options, iterations=2))
    good = (options.out / "checkpoint.npz").read_bytes()

    def fill_disk(number):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fill_disk)
    said = []
    with pytest.raises(UsageError, match=r"No space left on device.*--resume"):
        train_policy(replace(options, resume=True, evaluate_every=100), said.append)
    assert any("the last good one stays" in line for line in said)
    assert (options.out / "checkpoint.npz").read_bytes() == good
    monkeypatch.undo()
    assert train_policy(replace(options, resume=True))["iteration"] == 4


def test_a_checkpoint_whose_arrays_do_not_fit_is_refused(options):
    train_policy(replace(options, iterations=1))
    path = options.out / "checkpoint.npz"
    with np.load(path) as arrays:
        values = {name: arrays[name] for name in arrays.files}
    header = json.loads(str(values["header"]))
    assert header["progress"]["iteration"] == 1
    values["state.actor.0.weight"] = np.zeros((3, 3), np.float32)
    np.savez(path, **values)
    with pytest.raises(DataError, match="does not fit the learner"):
        train_policy(replace(options, resume=True))
