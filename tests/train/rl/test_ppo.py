import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

pytest.importorskip("torch")
import torch
from helpers.bandits import drive_bandit

from trailbrake.train.rl import ppo
from trailbrake.train.rl.ppo import PpoLearner, estimate_advantages

pytestmark = pytest.mark.train


def test_advantages_are_the_discounted_errors_and_stop_at_an_end():
    rewards = torch.tensor([[1.0], [2.0], [3.0]])
    values = torch.tensor([[0.5], [0.25], [0.125], [4.0]])
    ended = torch.tensor([[False], [True], [False]])
    d, k = ppo.DISCOUNT, ppo.DISCOUNT * ppo.TRACE
    last = 3.0 + d * 4.0 - 0.125
    second = 2.0 - 0.25
    first = 1.0 + d * 0.25 - 0.5 + k * second
    assert estimate_advantages(rewards, ended, values)[:, 0].tolist() == pytest.approx([first, second, last], rel=1e-5)


def test_log_probabilities_are_those_of_a_normal_distribution():
    learner = PpoLearner(3, 8, 0)
    one = drive_bandit(learner, np.random.default_rng(0), lambda s, o: np.zeros(32))
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
        figures = learner.update(drive_bandit(learner, rng, miss), iteration)
    assert np.isfinite(list(figures.values())).all()
    learner.actor.load_weights(weights := learner.export_weights())
    seen = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]], np.float32)
    means, _ = learner.actor.sample_outputs((seen - weights["mean"]) / weights["scale"], np.zeros((2, 2), np.float32))
    assert means == pytest.approx(np.array([[0.5, -0.3], [-0.5, -0.3]]), abs=0.15)


def test_the_state_goes_on_to_the_bit():
    rng = np.random.default_rng(0)
    learner = PpoLearner(3, 8, 0)
    learner.update(drive_bandit(learner, rng, lambda s, o: o[:, 0]), 1)
    again = PpoLearner(3, 8, 5)
    again._seed = 0
    again.import_state(learner.export_state())
    more = drive_bandit(learner, rng, lambda s, o: o[:, 0])
    assert learner.update(more, 2) == again.update(more, 2)
    mine, other = learner.export_state(), again.export_state()
    assert mine.keys() == other.keys()
    assert all(np.array_equal(mine[name], other[name]) for name in mine)


def test_a_reward_that_is_no_number_ends_the_learning():
    learner = PpoLearner(3, 8, 0)
    with pytest.raises(FloatingPointError, match="loss nan"):
        learner.update(drive_bandit(learner, np.random.default_rng(0), lambda s, o: np.full(32, np.nan)), 1)


def test_learners_that_average_stay_the_same_and_learn_from_the_rollouts_of_all():
    """Two learners in two threads; the mean of both goes through a meeting point, as it would over a network."""
    meeting, values = threading.Barrier(2), [None, None]

    def average_as(place):
        def average(array):
            values[place] = array
            meeting.wait(30.0)
            mean = 0.5 * (values[0] + values[1])
            meeting.wait(30.0)
            array[:] = mean

        return average

    learners = [PpoLearner(3, 8, 0, average_as(place)) for place in range(2)]
    alone = PpoLearner(3, 8, 0)
    drives = [drive_bandit(alone, np.random.default_rng(k), lambda s, o: o[:, 0]) for k in range(2)]
    with ThreadPoolExecutor(2) as pool:
        figures = list(pool.map(lambda pair: pair[0].update(pair[1], 1), zip(learners, drives, strict=True)))
    mine, other = (learner.export_state() for learner in learners)
    assert all(np.array_equal(mine[name], other[name]) for name in mine)
    assert figures[0]["divergence"] == figures[1]["divergence"]
    alone.update(drives[0], 1)
    assert not np.array_equal(alone.export_state()["actor.0.weight"], mine["actor.0.weight"])


def test_an_average_over_equal_learners_changes_nothing_but_the_last_digits():
    drive = drive_bandit(PpoLearner(3, 8, 0), np.random.default_rng(0), lambda s, o: o[:, 0])
    plain, averaged = PpoLearner(3, 8, 0), PpoLearner(3, 8, 0, lambda array: None)
    for learner in (plain, averaged):
        learner.update(drive, 1)
    one, other = plain.export_state(), averaged.export_state()
    for name in one:
        assert other[name] == pytest.approx(one[name], rel=1e-4, abs=1e-6), name


def test_the_policy_to_drive_with_is_a_running_average_of_those_that_learn():
    learner, rng = PpoLearner(3, 8, 0), np.random.default_rng(0)
    average = learner.export_weights()["actor.0.weight"]
    for iteration in range(3):
        learner.update(drive_bandit(learner, rng, lambda s, o: o[:, 0]), iteration)
        newest = learner.export_weights()["actor.0.weight"]
        average = average + ppo.AVERAGING * (newest - average)
    layers, _, _ = learner.export_layers()
    assert layers[0].weight == pytest.approx(average, abs=1e-6)
    assert np.abs(newest - average).max() > 1e-4


@pytest.mark.parametrize(("target", "rate"), [(1e-7, ppo.RATE_RANGE[0]), (1.0, ppo.RATE_RANGE[1])])
def test_the_learning_rate_follows_the_divergence_that_is_wanted(target, rate):
    learner, rng = PpoLearner(3, 8, 0, target_divergence=target), np.random.default_rng(0)
    for iteration in range(3):
        figures = learner.update(drive_bandit(learner, rng, lambda s, o: o[:, 0]), iteration)
    assert figures["rate"] == rate
