"""`CudaRolloutSampler`: rollouts on a graphics card. Nothing of them comes to the processor, and no step waits."""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from trailbrake.env.cuda import CudaRaceBatch
from trailbrake.observe.actions import OUTPUTS, CommandLimits
from trailbrake.observe.features import Feature
from trailbrake.system import steady_clock
from trailbrake.train.pytorch import import_torch
from trailbrake.train.rl.cuda_graph import RecordedCall
from trailbrake.train.rl.networks import Weights, normalise_tensor
from trailbrake.train.rl.options import RlOptions, race_options
from trailbrake.train.rl.rollout import Rollout


class CudaRolloutSampler:
    """Cars on a card that drive for a learner. Unlike those of `RolloutSampler`, episodes go on in the next rollout.

    So a rollout may be short, which is what a card is quick with: the more cars, the fewer steps of each. Between
    rollouts some cars start again elsewhere, each after `options.episode`: a learner that only sees its own laps
    forgets everything else. What is sampled depends on all rollouts before.

    Args:
        options: of the training.
        actor: of the method, on the card.
        device: of PyTorch.

    Attributes:
        world_time: s of processor time so far, of world and actor together.
        network_time: 0.

    Raises:
        UsageError: options out of range; no card, or one with too little memory.
    """

    def __init__(self, options: RlOptions, actor: Any, device: str = "cuda") -> None:
        self.options, self.actor = options, actor
        self._device = import_torch().device(device)
        self._groups = len(options.road_groups)
        self._cars: dict[int, _CardCars] = {}
        self._take_cars(0)
        self.world_time = self.network_time = 0.0

    def _take_cars(self, group: int) -> "_CardCars":
        # The cars on the roads of a group, which are planned when they are driven for the first time.
        if group not in self._cars:
            self._cars[group] = _CardCars(self.options, group, self.actor, self._device)
        return self._cars[group]

    def sample(self, weights: Weights, seed: Sequence[int]) -> Rollout:
        """Return a rollout: tensors that the next one overwrites.

        Args:
            weights: of the actor, with "mean" and "scale" of the observations.
            seed: of roads and noise; the first one also of starts and variation.
        """
        began = steady_clock.processor_time()
        cars = self._take_cars(int(np.random.default_rng([*seed, 2]).integers(self._groups)))
        self.actor.load_weights(weights)
        rollout = cars.sample(weights, seed)
        if self._device.type == "cuda":
            import_torch().cuda.synchronize()  # for the clock: once in an iteration
        self.world_time += steady_clock.processor_time() - began
        return rollout

    def close(self) -> None:
        """Give the memory back."""
        self._cars.clear()


class _CardCars:
    # The cars of one group of roads, and the memory of their rollouts.

    def __init__(self, options: RlOptions, group: int, actor: Any, device: Any) -> None:
        torch = self._torch = import_torch()
        self._actor, self._device, self._limits = actor, device, options.command_limits
        race = race_options(options, group)
        self._batch = CudaRaceBatch(race, options.cars)
        steps, n, width = options.steps, options.cars, self._batch.task.width
        zeros = functools.partial(torch.zeros, device=device)
        self._rollout = Rollout(
            observations=zeros((steps + 1, n, width)), outputs=zeros((steps, n, OUTPUTS)), log_probs=zeros((steps, n)),
            rewards=zeros((steps, n)), ended=zeros((steps, n), dtype=torch.bool), speeds=zeros((steps, n)),
        )  # fmt: skip
        self._noise, self._commands = zeros((steps, n, OUTPUTS)), zeros((n, OUTPUTS))
        self._mean, self._scale = zeros(width), zeros(width)
        self._turns = max(round(options.episode / options.horizon), 1)  # rollouts in an episode
        self._turn_of_car = torch.arange(n, device=device) % self._turns
        self._rollouts = 0
        self._ends: Any = None  # of the batch
        # A recording has the parameters of the cars that the card's constant memory holds, see `CardKernels.advance`.
        is_safe = len(options.road_groups) == 1 or race.vary.varies_cars
        self._drive = RecordedCall(self._drive_steps, records=device.type == "cuda" and is_safe)

    def sample(self, weights: Weights, seed: Sequence[int]) -> Rollout:
        # Drive on; the first time from new starts.
        torch = self._torch
        self._begin(seed)
        self._mean.copy_(torch.from_numpy(weights["mean"]))
        self._scale.copy_(torch.from_numpy(weights["scale"]))
        generator = torch.Generator(self._device)
        generator.manual_seed(int(np.random.default_rng([*seed, 1]).integers(2**62)))
        self._noise.normal_(generator=generator)
        self._drive()
        return self._rollout

    def _begin(self, seed: Sequence[int]) -> None:
        # Start all cars the first time, and later those whose turn it is.
        if self._rollouts == 0:
            observations = self._batch.reset([*seed, 0])
        else:
            over = self._turn_of_car == self._rollouts % self._turns
            self._ends.copy_(over)
            self._commands.masked_fill_(over[:, None], 0.0)
            observations = self._batch.restart_ended()
        self._rollout.observations[0] = self._view(observations)
        self._rollouts += 1

    def _view(self, array: Any) -> Any:
        return self._torch.as_tensor(array, device=self._device)

    def _drive_steps(self) -> None:
        batch, commands = self._batch, self._commands
        observations, outputs, log_probs, rewards, ended, speeds = vars(self._rollout).values()
        for t in range(len(rewards)):
            seen = normalise_tensor(observations[t], self._mean, self._scale)
            outputs[t], log_probs[t] = self._actor.sample_outputs(seen, self._noise[t])
            change_commands(self._limits, outputs[t], commands)
            step = batch.step(commands)
            observations[t + 1] = self._view(step.observations)
            rewards[t] = self._view(step.rewards)
            self._ends = self._view(step.ends)
            ended[t] = self._ends != 0
            speeds[t] = self._view(batch.view_feature(Feature.SPEED_ALONG))
            commands.masked_fill_(ended[t][:, None], 0.0)


def change_commands(limits: CommandLimits, outputs: Any, commands: Any) -> None:
    """Replace commands (n, 2) by those that follow outputs (n, 2), as `CommandLimits.next_commands`; tensors."""
    wanted, most = outputs.clamp(-1.0, 1.0), limits.pedal_rate * limits.period
    commands[:, 0] += wanted[:, 0] * (limits.steer_rate * limits.period)
    commands[:, 1] += (wanted[:, 1] - commands[:, 1]).clamp(-most, most)
    commands.clamp_(-1.0, 1.0)
