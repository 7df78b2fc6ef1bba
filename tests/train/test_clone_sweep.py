import json
from collections import Counter
from dataclasses import replace

import msgspec
import pytest
from helpers.picture_drives import record

from trailbrake.cli.main import run_command_line
from trailbrake.errors import UsageError
from trailbrake.tasks.task_pool import LocalPool
from trailbrake.tasks.task_worker import TaskAnswer
from trailbrake.train.clone_sweep import CloneAnswer, CloneJob, expand_sweep, sweep_clones
from trailbrake.train.options import CloneOptions, CloneSweepOptions


def test_every_combination_is_learned():
    assert expand_sweep(["seed=0-1", "held-out=0.1,0.2"]) == [
        {"seed": 0, "held_out": 0.1}, {"seed": 0, "held_out": 0.2}, {"seed": 1, "held_out": 0.1},
        {"seed": 1, "held_out": 0.2},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("texts", "line"),
    [
        (["sed=1"], "no setting of a sweep, expected KEY=VALUE,VALUE with KEY of seed"), (["seed"], "no seed"),
        (["seed=1", "seed=2"], "a setting twice"), (["smoothing=a"], "no numbers"), (["smoothing="], "no numbers"),
        (["smoothing=nan"], "no numbers"), (["seed=0-100", "epochs=1-100"], "too many trainings"),
    ],
)  # fmt: skip
def test_what_is_no_sweep_is_one_line(texts, line):
    with pytest.raises(UsageError, match=line):
        expand_sweep(texts)


@pytest.fixture
def learned(monkeypatch):
    """Replace training: the error is the seed's, seed 3 fails. Return how often each seed was learned."""
    counts = Counter()

    def run_tasks(self, function, arguments, stopped=lambda: False):
        for index, argument in enumerate(arguments):
            job = msgspec.msgpack.decode(argument, type=CloneJob)
            seed = job.options["seed"]
            counts[seed] += 1
            answer = CloneAnswer(policy=b"policy %d" % seed, report=b"report", pictures=9, loss=1.0,
                                 error=None if seed == 0 else 0.1 / seed, cpu_s=2.0)  # fmt: skip
            value = msgspec.msgpack.encode(answer)
            yield index, TaskAnswer(error="it broke") if seed == 3 else TaskAnswer(value)

    monkeypatch.setattr(LocalPool, "run_tasks", run_tasks)
    return counts


def test_a_sweep_goes_on_and_the_best_policy_is_the_result(tmp_path, learned):
    laps = tmp_path / "laps.mcap"
    laps.write_bytes(b"123")
    options = CloneOptions(out=tmp_path / "mine.npz")
    sweep_clones([laps], options, CloneSweepOptions(sweep=("seed=0,1",)))
    result = sweep_clones([laps], options, CloneSweepOptions(sweep=("seed=0-3",), jobs=3))
    assert [row["values"]["seed"] for row in result["clones"]] == [2, 1, 0]
    assert (result["learned"], result["kept"]) == (1, 2)
    assert result["failed"] == [{"values": {"seed": 3}, "error": "it broke"}]
    assert options.out.read_bytes() == b"policy 2"
    assert options.out.with_suffix(".html").is_file()
    assert learned == {0: 1, 1: 1, 2: 1, 3: 1}
    sweep_clones([laps], replace(options, threads=2), CloneSweepOptions(sweep=("seed=0-3",)))
    assert learned == {0: 1, 1: 1, 2: 1, 3: 2}  # what failed is tried again
    laps.write_bytes(b"1234")
    sweep_clones([laps], options, CloneSweepOptions(sweep=("seed=0,1",)))
    assert learned[0] == learned[1] == 2  # other recordings
    (tmp_path / "mine_sweep" / "seed-0.npz").unlink()
    sweep_clones([laps], options, CloneSweepOptions(sweep=("seed=0,1",)))
    assert (learned[0], learned[1]) == (3, 2)


def test_wrong_options_are_refused_before_anything_is_learned(tmp_path, learned, capsys):
    laps = tmp_path / "laps.mcap"
    laps.write_bytes(b"123")
    with pytest.raises(UsageError, match="--epochs"):
        sweep_clones([laps], CloneOptions(), CloneSweepOptions(sweep=("epochs=3,0",)))
    with pytest.raises(UsageError, match="--jobs"):
        sweep_clones([laps], CloneOptions(), CloneSweepOptions(sweep=("seed=1",), jobs=-1))
    with pytest.raises(UsageError, match="no training has ended well, got it broke"):
        sweep_clones([laps], CloneOptions(out=tmp_path / "x.npz"), CloneSweepOptions(sweep=("seed=3",)))
    assert run_command_line(["train", "clone", str(laps), "--jobs", "2"]) == 2
    assert "one policy needs no processes" in capsys.readouterr().err


@pytest.mark.train
def test_two_seeds_are_learned_in_processes(tmp_path, capsys):
    for seed in range(2):
        record(tmp_path / "laps" / f"{seed}.mcap", 220, seed)
    out = tmp_path / "mine.npz"
    command = ["train", "clone", str(tmp_path / "laps"), "--out", str(out), "--epochs", "1", "--sweep", "seed=0-1"]
    assert run_command_line([*command, "--jobs", "2", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert len(result["clones"]) == 2
    assert all(row["pictures"] > 300 for row in result["clones"])
    assert out.read_bytes() == (tmp_path / "mine_sweep" / f"seed-{result['best']['seed']}.npz").read_bytes()
