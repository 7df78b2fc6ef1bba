"""`RolloutSampler`: drives cars with given weights and a seed, and returns what they saw, did and got."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol

import numpy as np

from trailbrake.arrays import Array, Floats
from trailbrake.drivers.loading.race_policy import normalise
from trailbrake.env.batch import RaceBatch
from trailbrake.observe.actions import OUTPUTS
from trailbrake.observe.features import Feature
from trailbrake.system import steady_clock
from trailbrake.train.rl.networks import Weights
from trailbrake.train.rl.options import RlOptions, race_options


class RolloutActor(Protocol):
    """The part of a learner that drives: a distribution over outputs for each observation."""

    def load_weights(self, weights: Weights) -> None:
        """Take over the weights that a learner exported."""

    def sample_outputs(self, observations: Any, noise: Any) -> tuple[Any, Any]:
        """Return outputs (n, 2) and their log probabilities (n,), of the kind of the arguments: arrays or tensors.

        Args:
            observations: (n, width), normalised.
            noise: (n, 2) standard normal numbers.
        """


@dataclass(frozen=True)
class Rollout:
    """T steps of n cars, NumPy arrays or tensors on a card. Episodes that end begin again in the same step.

    Attributes:
        observations: (T + 1, n, width) float32, not normalised; the first of a new episode where one ended.
        outputs: (T, n, 2) float32 of the actor.
        log_probs: (T, n) float32 of the outputs.
        rewards: (T, n) float32.
        ended: (T, n) bool: the episode ended with the step; nothing is gained behind it.
        speeds: (T, n) float32, m/s along the road.
    """

    observations: Any
    outputs: Any
    log_probs: Any
    rewards: Any
    ended: Any
    speeds: Any

    @property
    def count(self) -> int:
        """Number of steps of all cars."""
        return math.prod(self.rewards.shape)


def join_rollouts(rollouts: Sequence[Rollout]) -> Rollout:
    """Return rollouts of the same length as one, their cars side by side."""
    names = [field.name for field in fields(Rollout)]
    return Rollout(**{name: np.concatenate([getattr(each, name) for each in rollouts], axis=1) for name in names})


class RolloutSampler:
    """Cars that drive for a learner. A rollout depends on weights and seed alone: episodes begin with it.

    Args:
        options: of the training.
        actor: of the learner.

    Attributes:
        world_time: s of processor time in the world so far.
        network_time: s of processor time in the actor so far.

    Raises:
        UsageError: options out of range.
    """

    def __init__(self, options: RlOptions, actor: RolloutActor) -> None:
        self.options, self.actor = options, actor
        self._groups = len(options.road_groups)
        self._batches: dict[int, RaceBatch] = {}
        self._take_batch(0)  # a wrong option is found before anything is driven
        self.world_time = self.network_time = 0.0

    def _take_batch(self, group: int) -> RaceBatch:
        # The cars on the roads of a group, which are planned when they are driven for the first time.
        if group not in self._batches:
            options = race_options(self.options, group)
            self._batches[group] = RaceBatch(options, self.options.cars, threads=self.options.threads)
        return self._batches[group]

    def sample(self, weights: Weights, seed: Sequence[int]) -> Rollout:
        """Return a rollout.

        Args:
            weights: of the actor, with "mean" and "scale" of the observations.
            seed: of roads, starts, variation and noise.
        """
        batch = self._take_batch(int(np.random.default_rng([*seed, 2]).integers(self._groups)))
        steps, n = self.options.steps, batch.n
        actor, limits = self.actor, self.options.command_limits
        actor.load_weights(weights)
        mean, scale = weights["mean"], weights["scale"]
        rng = np.random.default_rng([*seed, 1])
        observations: Floats = np.empty((steps + 1, n, batch.task.width), np.float32)
        outputs: Floats = np.empty((steps, n, OUTPUTS), np.float32)
        log_probs, rewards, speeds = (np.empty((steps, n), np.float32) for _ in range(3))
        ended = np.zeros((steps, n), np.bool_)
        commands: Array = np.zeros((n, OUTPUTS))
        reward, ends = np.empty(n), np.empty(n, np.int64)
        clock = steady_clock.processor_time
        began = clock()
        observations[0] = batch.reset([*seed, 0])
        self.world_time += clock() - began
        for t in range(steps):
            began = clock()
            noise = rng.standard_normal((n, OUTPUTS), np.float32)
            outputs[t], log_probs[t] = actor.sample_outputs(normalise(observations[t], mean, scale), noise)
            acted = clock()
            commands = limits.next_commands(outputs[t], commands)
            batch.write_step(commands, observations[t + 1], reward, ends)
            rewards[t], ended[t] = reward, ends != 0
            speeds[t] = batch.feature_values(Feature.SPEED_ALONG)
            over = np.flatnonzero(ends)
            if len(over):
                commands[over] = 0.0
                batch.restart(over, observations[t + 1])
            self.network_time += acted - began
            self.world_time += clock() - acted
        return Rollout(observations, outputs, log_probs, rewards, ended, speeds)

    def close(self) -> None:
        """End the threads of the worlds."""
        for batch in self._batches.values():
            batch.close()
