import numpy as np
import pytest

pytest.importorskip("torch")
import torch
from helpers.bandits import drive_bandit

from trailbrake.train.rl import sac
from trailbrake.train.rl.sac import SacLearner, squash_outputs

pytestmark = pytest.mark.train


def miss(seen, outputs):
    return -((outputs[:, 0] - 0.5 * seen[:, 0].clip(-1.5, 1.5)) ** 2) - (outputs[:, 1] + 0.3) ** 2


def test_log_probabilities_of_squashed_outputs_integrate_to_one():
    """The density of tanh(mean + deviation * noise), summed over a grid of outputs with the noise that makes them."""
    outputs = np.linspace(-0.9995, 0.9995, 4001)
    mean, log_std = 0.4, -0.5
    noise = (np.arctanh(outputs) - mean) / np.exp(log_std)
    numbers = torch.tensor([[mean, mean, log_std, log_std]]).repeat(len(outputs), 1)
    both = torch.tensor(np.stack([noise, noise], axis=1), dtype=torch.float32)
    made, log_probs = squash_outputs(numbers, both)
    assert made[:, 0].numpy() == pytest.approx(outputs, abs=1e-5)
    density = np.exp(0.5 * log_probs.numpy())  # of one of two equal outputs
    assert np.trapezoid(density, outputs) == pytest.approx(1.0, abs=2e-3)


@pytest.fixture
def quick(monkeypatch):
    """Small steps of the world, and large ones of the learner."""
    for name, value in (("MINIBATCH", 64), ("ACTOR_RATE", 3e-3), ("CRITIC_RATE", 3e-3), ("TRACKING", 0.05)):
        monkeypatch.setattr(sac, name, value)


def test_it_learns_what_is_rewarded(quick):
    learner, rng = SacLearner(3, 32, 0), np.random.default_rng(0)
    for iteration in range(60):
        figures = learner.update(drive_bandit(learner, rng, miss), iteration)
    assert np.isfinite(list(figures.values())).all()
    layers, mean, scale = learner.export_layers()
    values = (np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]], np.float32) - mean) / scale
    for layer in layers:
        values = values @ layer.weight.T + layer.bias
        values = values if layer is layers[-1] else np.maximum(values, 0.0)
    assert np.tanh(values) == pytest.approx(np.array([[0.5, -0.3], [-0.5, -0.3]]), abs=0.15)


def test_the_value_behind_an_end_is_nothing_and_otherwise_that_of_the_slow_critics(quick):
    """With a reward of 1 in every step the estimates of endless episodes rise above 1; where all end, they stay."""
    ends = {}
    for ended in (True, False):
        learner, rng = SacLearner(3, 16, 0), np.random.default_rng(0)
        for iteration in range(30):
            drive = drive_bandit(learner, rng, lambda seen, outputs: np.ones(len(seen)))
            drive.ended[:] = ended
            ends[ended] = learner.update(drive, iteration)["gain"]
    assert ends[True] < 1.3
    assert ends[False] > 2.0


def test_two_learners_with_the_same_state_learn_the_same():
    rng, learner = np.random.default_rng(0), SacLearner(3, 8, 0)
    learner.update(drive_bandit(learner, rng, miss), 1)
    state = learner.export_state()
    more = drive_bandit(learner, rng, miss)
    fresh = [SacLearner(3, 8, 0), SacLearner(3, 8, 0)]
    fresh[0].update(more, 1)  # whatever it was before
    results = []
    for one in fresh:
        one.import_state(state)
        one._memory.size = one._memory._next = 0
        results.append(one.update(more, 2))
    assert results[0] == results[1]
    mine, other = (one.export_state() for one in fresh)
    assert mine.keys() == other.keys()
    assert all(np.array_equal(mine[name], other[name]) for name in mine)


def test_a_reward_that_is_no_number_is_refused_before_it_is_remembered():
    learner = SacLearner(3, 8, 0)
    with pytest.raises(FloatingPointError, match="rewards"):
        learner.update(drive_bandit(learner, np.random.default_rng(0), lambda s, o: np.full(32, np.nan)), 1)
    assert learner._memory.size == 0


def test_the_exported_policy_follows_the_actor_slowly(quick):
    learner = SacLearner(3, 8, 0)
    before = learner.export_layers()[0]
    learner.update(drive_bandit(learner, np.random.default_rng(0), miss), 1)
    actor = learner.export_weights()["actor.2.weight"]
    average = learner.export_layers()[0][1].weight
    expected = before[1].weight + sac.AVERAGING * (actor - before[1].weight)
    assert np.abs(actor - before[1].weight).max() > 1e-3
    assert average == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("target", "rises"), [(-4.0, False), (2.0, True)])
def test_the_temperature_moves_the_entropy_towards_its_target_within_a_bound(quick, monkeypatch, target, rises):
    """A first policy has an entropy between the two targets, and nothing is rewarded."""
    for name, value in (("TARGET_ENTROPY", target), ("TEMPERATURE_RATE", 0.1), ("LEAST_TEMPERATURE", 0.004)):
        monkeypatch.setattr(sac, name, value)
    learner, rng = SacLearner(3, 8, 0), np.random.default_rng(0)
    for iteration in range(2):
        figures = learner.update(drive_bandit(learner, rng, lambda seen, outputs: np.zeros(len(seen))), iteration)
    assert -4.0 < figures["entropy"] < 2.0
    assert (figures["temperature"] > 0.01) if rises else (figures["temperature"] == pytest.approx(0.004))
