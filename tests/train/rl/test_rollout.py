from dataclasses import replace

import numpy as np
import pytest

from trailbrake.train.rl.options import RlOptions
from trailbrake.train.rl.rollout import RolloutSampler, join_rollouts

OPTIONS = RlOptions(cars=8, horizon=1.2, observe="motion,lane", start_speed=30.0)


class RandomActor:
    """Outputs are the noise times a weight: an actor without a network."""

    def load_weights(self, weights):
        self.gain = weights["gain"]

    def sample_outputs(self, observations, noise):
        assert np.abs(observations).max() <= 10.0
        return (self.gain * noise).astype(np.float32), noise.sum(axis=1)


@pytest.fixture(scope="module")
def sampler():
    made = RolloutSampler(OPTIONS, RandomActor())
    yield made
    made.close()


def weights(gain=1.0, width=10):
    return {"gain": gain, "mean": np.zeros(width, np.float32), "scale": np.ones(width, np.float32)}


def same(a, b):
    return all(np.array_equal(left, right) for left, right in zip(vars(a).values(), vars(b).values(), strict=True))


def test_a_rollout_depends_on_weights_and_seed_alone(sampler):
    first = sampler.sample(weights(), [3, 1])
    other = sampler.sample(weights(), [3, 2])
    assert same(first, sampler.sample(weights(), [3, 1]))
    assert not np.array_equal(first.outputs, other.outputs)
    assert not np.array_equal(first.observations[0], other.observations[0])


def test_a_rollout_has_the_steps_of_the_horizon_and_the_observation_behind_the_last(sampler):
    rollout = sampler.sample(weights(), [0])
    assert rollout.observations.shape == (26, 8, 10)
    assert rollout.outputs.shape == (25, 8, 2)
    assert rollout.count == 200
    assert np.isfinite(rollout.rewards).all()
    assert np.isfinite(rollout.observations).all()


def test_cars_that_leave_the_road_are_ended_once_and_begin_again(sampler):
    """Full lock to one side for 15 s: all cars crash, and drive on from elsewhere."""
    long = RolloutSampler(RlOptions(cars=4, horizon=8.0, observe="motion,lane", start_speed=30.0), RandomActor())
    try:
        rollout = long.sample(weights(gain=50.0), [1])
    finally:
        long.close()
    assert rollout.ended.any()
    assert rollout.rewards[rollout.ended].max() < -0.5
    assert rollout.rewards[~rollout.ended].min() > -0.5


def test_joined_rollouts_lie_side_by_side(sampler):
    parts = [sampler.sample(weights(), [k]) for k in range(2)]
    both = join_rollouts(parts)
    assert both.observations.shape == (26, 16, 10)
    assert np.array_equal(both.rewards[:, 8:], parts[1].rewards)


def test_the_seed_chooses_the_roads_of_a_rollout():
    options = replace(OPTIONS, track="lakeside,kartwerk,pinegrove", roads=1, horizon=0.1)
    many = RolloutSampler(options, RandomActor())
    singles = [RolloutSampler(replace(options, track=name), RandomActor()) for name in options.tracks]
    try:
        found = set()
        for k in range(6):
            rollout = many.sample(weights(), [k])
            alone = [single.sample(weights(), [k]) for single in singles]
            found |= {i for i, other in enumerate(alone) if same(rollout, other)}
        assert found == {0, 1, 2}
        assert same(many.sample(weights(), [4]), many.sample(weights(), [4]))
    finally:
        for sampler in (many, *singles):
            sampler.close()
