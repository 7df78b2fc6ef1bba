"""Several workers: together they learn the same, wherever they run, and a lost one costs its iteration alone."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")
from trailbrake.errors import SimulatorError
from trailbrake.tasks.worker_team import LocalTeam, WorkerLostError
from trailbrake.train.rl.options import RlOptions
from trailbrake.train.rl.training import build_learner, train_policy
from trailbrake.train.rl.worker_crew import MOST_LOSSES, WorkerCrew

pytestmark = [pytest.mark.train, pytest.mark.filterwarnings("ignore::DeprecationWarning")]


@pytest.fixture
def options(tmp_path):
    return RlOptions(
        out=tmp_path / "run", cars=8, horizon=0.6, hidden=8, iterations=3, evaluate_every=3,
        observe="motion,lane,bends", workers=2,
    )  # fmt: skip


@pytest.fixture
def team(tmp_path):
    team = LocalTeam(2, 300.0, lambda number: tmp_path / f"worker-{number}.log")
    yield team
    team.close()


def train(options, team):
    learner, said = build_learner(options), []
    crew = WorkerCrew(options, team, said.append)
    steps = sum(crew.run_iteration(learner, iteration).steps for iteration in range(1, 4))
    return learner.export_state(), steps, said


def equal(one, other):
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


def test_a_killed_worker_costs_its_iteration_and_changes_nothing(options, team, monkeypatch):
    whole, steps, said = train(options, team)
    assert (steps, said) == (3 * 8 * 12, [])
    call_each, iterations = LocalTeam.call_each, []

    def kill_once(self, function, arguments):
        if function.endswith("iterate"):
            iterations.append(function)
            if len(iterations) == 2:
                self._workers[1]._process.kill()
        return call_each(self, function, arguments)

    monkeypatch.setattr(LocalTeam, "call_each", kill_once)
    again, _, said = train(options, team)
    assert len(iterations) == 4
    assert len(said) == 1
    assert said[0].startswith("iteration 2: worker 2 of 2 was lost")
    assert equal(whole, again)


def test_workers_that_are_lost_again_and_again_end_it_in_one_line(options, team, monkeypatch):
    def lose(self, function, arguments):
        raise WorkerLostError("worker 1 of 2 was lost")

    monkeypatch.setattr(LocalTeam, "call_each", lose)
    with pytest.raises(SimulatorError, match=f"workers were lost {MOST_LOSSES + 1} times"):
        train(options, team)


def test_a_training_by_workers_is_resumed_to_the_bit(options, tmp_path):
    train_policy(options)
    parts = replace(options, out=tmp_path / "parts", iterations=1)
    train_policy(parts)
    train_policy(replace(parts, iterations=3, resume=True))
    states = []
    for folder in (options.out, parts.out):
        with np.load(folder / "checkpoint.npz") as arrays:
            states.append({name: arrays[name] for name in arrays.files if name != "header"})
    assert equal(*states)
