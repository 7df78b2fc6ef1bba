"""`ReplayMemory`: the newest transitions of all cars, each over a few steps, for methods that learn off policy."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trailbrake.observe.command_limits import OUTPUTS
from trailbrake.train.rl.rollout import Rollout

Floats = NDArray[np.float32]


class Transitions(NamedTuple):
    """n transitions over up to `STEPS` steps each.

    Attributes:
        observations: (n, width), not normalised.
        outputs: (n, 2) of the actor, of the first step.
        rewards: (n,) discounted sum over the steps.
        discounts: (n,) factor on the value behind the last step; 0 where the episode ended.
        following: (n, width) observations behind the last step, not normalised.
    """

    observations: Floats
    outputs: Floats
    rewards: Floats
    discounts: Floats
    following: Floats


class ReplayMemory:
    """A ring of transitions.

    Args:
        capacity: number of transitions.
        width: numbers in an observation.

    Attributes:
        size: transitions that are there.
    """

    def __init__(self, capacity: int, width: int) -> None:
        self.size, self._next = 0, 0
        self._rows = Transitions(
            np.empty((capacity, width), np.float32), np.empty((capacity, OUTPUTS), np.float32),
            np.empty(capacity, np.float32), np.empty(capacity, np.float32), np.empty((capacity, width), np.float32),
        )  # fmt: skip

    def add(self, new: Transitions) -> None:
        """Add transitions; they overwrite the oldest."""
        capacity = len(self._rows.rewards)
        count = min(len(new.rewards), capacity)
        places = (self._next + np.arange(count)) % capacity
        for kept, values in zip(self._rows, new, strict=True):
            kept[places] = values[-count:]
        self._next = (self._next + count) % capacity
        self.size = min(self.size + count, capacity)

    def draw(self, rng: np.random.Generator, count: int) -> Transitions:
        """Return transitions drawn at random, with repetition."""
        places = rng.integers(0, self.size, count)
        return Transitions(*(values[places] for values in self._rows))


def collect_transitions(rollout: Rollout, steps: int, discount: float) -> Transitions:
    """Return the transitions of a rollout, one for each of its steps.

    A transition ends after `steps` steps, with its episode, or with the rollout, whichever comes first.

    Args:
        rollout: T steps of n cars.
        steps: longest transition.
        discount: of a step.
    """
    length, n = rollout.rewards.shape
    rewards: Floats = np.zeros((length, n), np.float32)
    discounts: Floats = np.ones((length, n), np.float32)
    last = np.tile(np.arange(length)[:, None], (1, n))  # step with which each transition ends
    begins = np.arange(length)
    for k in range(steps):
        rows = begins[: length - k]
        going = discounts[rows] > 0.0
        rewards[rows] += np.where(going, discounts[rows] * rollout.rewards[rows + k], 0.0)
        last[rows] = np.where(going, rows[:, None] + k, last[rows])
        discounts[rows] *= np.where(rollout.ended[rows + k], 0.0, discount).astype(np.float32)
    following = rollout.observations[last + 1, np.arange(n)[None, :]]
    width = rollout.observations.shape[-1]
    return Transitions(
        rollout.observations[:-1].reshape(-1, width), rollout.outputs.reshape(-1, OUTPUTS), rewards.reshape(-1),
        discounts.reshape(-1), following.reshape(-1, width),
    )  # fmt: skip
