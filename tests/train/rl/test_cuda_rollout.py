import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("numba.cuda")
import torch
from helpers.host_card import HostCardBatch

from trailbrake.observe.actions import CommandLimits
from trailbrake.train.rl import cuda_graph, cuda_rollout, training
from trailbrake.train.rl.cuda_rollout import CudaRolloutSampler, change_commands
from trailbrake.train.rl.curves import read_curves
from trailbrake.train.rl.options import RlOptions
from trailbrake.train.rl.training import build_learner, train_policy

pytestmark = [pytest.mark.train, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
OPTIONS = RlOptions(cars=8, horizon=0.6, episode=60.0, hidden=8, observe="motion,lane,bends", start_speed=30.0)


@pytest.fixture
def sampler(monkeypatch):
    monkeypatch.setattr(cuda_rollout, "CudaRaceBatch", HostCardBatch)
    learner = build_learner(OPTIONS)
    made = CudaRolloutSampler(OPTIONS, learner.actor, "cpu")
    yield made, learner
    made.close()


def test_commands_follow_outputs_as_on_the_processor():
    limits, rng = CommandLimits(), np.random.default_rng(0)
    ours, theirs = torch.zeros((50, 2)), np.zeros((50, 2))
    for _ in range(30):
        outputs = rng.normal(0.0, 1.0, (50, 2)).astype(np.float32)
        change_commands(limits, torch.from_numpy(outputs), ours)
        theirs = limits.next_commands(outputs, theirs)
        assert ours.numpy() == pytest.approx(theirs, abs=1e-6)
    assert np.abs(theirs).max() == 1.0


def test_episodes_go_on_in_the_next_rollout(sampler):
    sampler, learner = sampler
    weights = learner.export_weights()
    first = sampler.sample(weights, [0, 1])
    last, commands = first.observations[-1].clone(), sampler._cars[0]._commands.clone()
    speeds = first.speeds.mean()
    second = sampler.sample(weights, [0, 2])
    going = torch.arange(8) != 1  # the second car's turn to start again: one of hundred rollouts
    assert torch.equal(second.observations[0][going], last[going])
    assert not torch.equal(sampler._cars[0]._commands, commands)
    assert second.speeds.data_ptr() == first.speeds.data_ptr()
    assert speeds != second.speeds.mean()
    assert second.count == 8 * 12


def test_a_car_starts_again_when_its_time_is_over(sampler):
    """Episodes of 1.2 s, rollouts of 0.6 s: after the first one every second car starts again, then the others."""
    _, learner = sampler
    options = RlOptions(**vars(OPTIONS) | {"episode": 1.2})
    sampler = CudaRolloutSampler(options, learner.actor, "cpu")
    weights = learner.export_weights()
    last = None
    for k in range(4):
        rollout = sampler.sample(weights, [k])
        if last is not None:
            going = (rollout.observations[0] == last).all(dim=1)
            assert going.tolist() == [(i - k) % 2 != 0 for i in range(8)]
        last = rollout.observations[-1].clone()


def test_what_was_sampled_has_the_probability_that_the_learner_gives_it(sampler):
    sampler, learner = sampler
    rollout = sampler.sample(learner.export_weights(), [3])
    figures = learner.update(rollout, 1)
    assert np.isfinite(list(figures.values())).all()
    assert figures["divergence"] < 0.1  # the ratio of probabilities began with 1


def test_commands_of_a_new_episode_begin_with_zero(sampler):
    sampler, learner = sampler
    weights = learner.export_weights() | {"log_std": np.full(2, 3.0, np.float32)}
    for k in range(20):
        rollout = sampler.sample(weights, [k])
        over = rollout.ended[-1]
        if over.any():
            break
    assert not sampler._cars[0]._commands[over].any()
    assert sampler._cars[0]._commands[~over].any()
    assert rollout.rewards[rollout.ended].max() < -0.5


def test_a_training_on_a_card_leaves_what_one_on_the_processor_leaves(tmp_path, monkeypatch):
    monkeypatch.setattr(cuda_rollout, "CudaRaceBatch", HostCardBatch)
    monkeypatch.setattr(training, "build_sampler", lambda made, actor, device: CudaRolloutSampler(made, actor, "cpu"))
    options = RlOptions(**vars(OPTIONS) | {"out": tmp_path / "run", "iterations": 4, "evaluate_every": 4})
    result = train_policy(options)
    assert result["steps"] == 4 * 8 * 12
    assert len(read_curves(options.out / "progress.jsonl")) == 4
    assert {"policy.npz", "checkpoint.npz", "curves.html"} <= {path.name for path in options.out.iterdir()}
    train_policy(RlOptions(**vars(options) | {"iterations": 5, "resume": True}))


@pytest.mark.filterwarnings("ignore")  # of small batches, and of optimisers whose calls are not recorded
def test_recorded_rollouts_and_minibatches_do_what_single_calls_do_on_a_real_card(monkeypatch):
    if not (torch.cuda.is_available() and pytest.importorskip("numba.cuda").is_available()):
        pytest.skip("no graphics card here")
    options = RlOptions(**vars(OPTIONS) | {"cars": 512, "device": "cuda"})
    speeds = []
    for records in (False, True):
        monkeypatch.setattr(cuda_graph, "RECORDS", records)
        learner = build_learner(options)
        sampler = CudaRolloutSampler(options, learner.actor)
        for k in range(1, 6):
            rollout = sampler.sample(learner.export_weights(), [0, k])
            assert np.isfinite(list(learner.update(rollout, k).values())).all()
        assert int(sampler._cars[0]._batch._clock.copy_to_host()[0]) == 5 * options.steps
        speeds.append(float(rollout.speeds.mean()))
    assert speeds[1] == pytest.approx(speeds[0], rel=0.02)
