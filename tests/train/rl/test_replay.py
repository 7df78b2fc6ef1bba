import numpy as np
import pytest

pytest.importorskip("torch")
from trailbrake.train.rl.rollout import Rollout
from trailbrake.train.rl.sac import ReplayMemory, Transitions, collect_transitions

pytestmark = pytest.mark.train


def rollout(rewards, ended):
    """One car a column; the observation of step t of car k is (t, k), its outputs (t, -k)."""
    rewards, ended = np.array(rewards, np.float32), np.array(ended, bool)
    steps, n = rewards.shape
    t, k = np.meshgrid(np.arange(steps + 1), np.arange(n), indexing="ij")
    seen = np.stack([t, k], axis=-1).astype(np.float32)
    outputs = np.stack([t, -k], axis=-1)[:-1].astype(np.float32)
    return Rollout(seen, outputs, rewards, rewards, ended, rewards)


def test_a_transition_sums_rewards_up_to_its_length_the_end_of_the_episode_or_of_the_rollout():
    drive = rollout([[1.0], [2.0], [4.0], [8.0], [16.0]], [[False], [False], [True], [False], [False]])
    found = collect_transitions(drive, 2, 0.5)
    assert found.rewards.tolist() == [1.0 + 1.0, 2.0 + 2.0, 4.0, 8.0 + 8.0, 16.0]
    assert found.discounts.tolist() == [0.25, 0.0, 0.0, 0.25, 0.5]
    assert found.following[[0, 3, 4], 0].tolist() == [2.0, 5.0, 5.0]
    assert found.observations[:, 0].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_transitions_of_random_drives_are_those_of_a_loop_over_steps():
    rng = np.random.default_rng(0)
    drive = rollout(rng.normal(size=(12, 5)), rng.random((12, 5)) < 0.2)
    found, steps, discount = collect_transitions(drive, 4, 0.9), 4, 0.9
    for t in range(12):
        for car in range(5):
            total, factor, now = 0.0, 1.0, t
            for _ in range(steps):
                total += factor * drive.rewards[now, car]
                factor *= 0.0 if drive.ended[now, car] else discount
                now += 1
                if factor == 0.0 or now == 12:
                    break
            row = t * 5 + car
            assert found.rewards[row] == pytest.approx(total, abs=1e-5)
            assert found.discounts[row] == pytest.approx(factor)
            assert found.following[row].tolist() == [now, car]
            assert found.outputs[row].tolist() == [t, -car]


def test_the_oldest_transitions_are_overwritten():
    memory = ReplayMemory(5, 1)

    def numbered(first, last):
        values = np.arange(first, last, dtype=np.float32)
        return Transitions(values[:, None], np.stack([values, values], axis=1), values, values, values[:, None])

    memory.add(numbered(0, 3))
    assert memory.size == 3
    memory.add(numbered(3, 7))
    drawn = memory.draw(np.random.default_rng(0), 200)
    assert set(drawn.rewards.tolist()) == {2.0, 3.0, 4.0, 5.0, 6.0}
    assert np.array_equal(drawn.rewards, drawn.outputs[:, 1])
    memory.add(numbered(10, 30))
    assert set(memory.draw(np.random.default_rng(0), 200).rewards.tolist()) == {25.0, 26.0, 27.0, 28.0, 29.0}
