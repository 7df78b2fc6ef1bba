import numpy as np
import pytest

pytest.importorskip("torch")
from trailbrake.train.rl import ppo
from trailbrake.train.rl.ppo import PpoLearner, estimate_advantages
from trailbrake.train.rl.rollout import Rollout

pytestmark = pytest.mark.train


def rollout(learner, rng, steps=20, n=32, reward=lambda seen, outputs: 0.0):
    """Observations are noise; the reward is a function of observation and outputs: a bandit."""
    weights = learner.export_weights()
    learner.actor.load_weights(weights)
    seen = rng.normal(size=(steps + 1, n, 3)).astype(np.float32)
    pairs = [
        learner.actor.sample_outputs(
            (row - weights["mean"]) / weights["scale"], rng.standard_normal((n, 2), np.float32)
        )
        for row in seen[:-1]
    ]
    outputs, log_probs = (np.array(part) for part in zip(*pairs, strict=True))
    rewards = np.array([reward(a, b) for a, b in zip(seen[:-1], outputs, strict=True)], np.float32)
    return Rollout(seen, outputs, log_probs, rewards, np.ones((steps, n), bool), np.zeros((steps, n), np.float32))


def test_advantages_are_the_discounted_errors_and_stop_at_an_end():
    rewards = np.array([[1.0], [2.0], [3.0]], np.float32)
    values = np.array([[0.5], [0.25], [0.125], [4.0]], np.float32)
    seen = np.zeros((4, 1, 1), np.float32)
    ended = np.array([[False], [True], [False]])
    steps = Rollout(seen, rewards, rewards, rewards, ended, rewards)
    d, k = ppo.DISCOUNT, ppo.DISCOUNT * ppo.TRACE
    last = 3.0 + d * 4.0 - 0.125
    second = 2.0 - 0.25
    first = 1.0 + d * 0.25 - 0.5 + k * second
    assert estimate_advantages(steps, values)[:, 0] == pytest.approx([first, second, last], rel=1e-5)


def test_log_probabilities_are_those_of_a_normal_distribution():
    learner = PpoLearner(3, 8, 0)
    one = rollout(learner, np.random.default_rng(0))
    learner.actor.load_weights(learner.export_weights())
    means, _ = learner.actor.sample_outputs(one.observations[0], np.zeros((32, 2), np.float32))
    std = np.exp(ppo.FIRST_LOG_STD)
    density = np.exp(-0.5 * ((one.outputs[0] - means) / std) ** 2) / (std * np.sqrt(2.0 * np.pi))
    assert one.log_probs[0] == pytest.approx(np.log(density).sum(axis=1), abs=1e-4)


def test_it_learns_what_is_rewarded():
    learner, rng = PpoLearner(3, 16, 0), np.random.default_rng(0)

    def miss(seen, outputs):
        return -((outputs[:, 0] - 0.5 * seen[:, 0]) ** 2) - (outputs[:, 1] + 0.3) ** 2

    for iteration in range(60):
        figures = learner.update(rollout(learner, rng, reward=miss), iteration)
    assert np.isfinite(list(figures.values())).all()
    learner.actor.load_weights(weights := learner.export_weights())
    seen = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]], np.float32)
    means, _ = learner.actor.sample_outputs((seen - weights["mean"]) / weights["scale"], np.zeros((2, 2), np.float32))
    assert means == pytest.approx(np.array([[0.5, -0.3], [-0.5, -0.3]]), abs=0.15)


def test_the_state_goes_on_to_the_bit():
    rng = np.random.default_rng(0)
    learner = PpoLearner(3, 8, 0)
    learner.update(rollout(learner, rng, reward=lambda s, o: o[:, 0]), 1)
    again = PpoLearner(3, 8, 5)
    again._seed = 0
    again.import_state(learner.export_state())
    more = rollout(learner, rng, reward=lambda s, o: o[:, 0])
    assert learner.update(more, 2) == again.update(more, 2)
    mine, other = learner.export_state(), again.export_state()
    assert mine.keys() == other.keys()
    assert all(np.array_equal(mine[name], other[name]) for name in mine)


def test_a_reward_that_is_no_number_ends_the_learning():
    learner = PpoLearner(3, 8, 0)
    with pytest.raises(FloatingPointError, match="loss nan"):
        learner.update(rollout(learner, np.random.default_rng(0), reward=lambda s, o: np.full(32, np.nan)), 1)
