"""One iteration of a training: cars drive, the learner learns from it, and figures say how it went."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from trailbrake.system import steady_clock
from trailbrake.train.rl.options import RlOptions
from trailbrake.train.rl.ppo import PpoLearner
from trailbrake.train.rl.rollout import Rollout, RolloutSampler

if TYPE_CHECKING:
    from trailbrake.train.rl.cuda_rollout import CudaRolloutSampler


class IterationOutcome(msgspec.Struct, frozen=True):
    """What an iteration did.

    Attributes:
        steps: of all cars.
        cpu_time: s of processor time.
        times: s of it by what they were spent on: world, actor, learning.
        figures: for the curves.
    """

    steps: int
    cpu_time: float
    times: dict[str, float]
    figures: dict[str, float]


def build_sampler(options: RlOptions, actor: Any, device: str) -> "RolloutSampler | CudaRolloutSampler":
    """Return a sampler of rollouts by `options.cars` on a device, for an actor that is there too."""
    if device == "cpu":
        return RolloutSampler(options, actor)
    from trailbrake.train.rl.cuda_rollout import CudaRolloutSampler  # loads numba's compiler for cards

    return CudaRolloutSampler(options, actor)


def run_iteration(learner: PpoLearner, sampler: Any, seed: Sequence[int], iteration: int) -> IterationOutcome:
    """Sample with the learner's present weights and learn from it.

    Args:
        learner: that learns.
        sampler: of cars, `RolloutSampler` or `CudaRolloutSampler`.
        seed: of the rollout.
        iteration: 1 for the first.

    Raises:
        FloatingPointError: learning diverged; the learner is of no further use.
    """
    cpu, world, network = steady_clock.processor_time(), sampler.world_time, sampler.network_time
    rollout = sampler.sample(learner.export_weights(), seed)
    began = steady_clock.processor_time()
    figures = learner.update(rollout, iteration)
    ended = steady_clock.processor_time()
    times = {
        "world": sampler.world_time - world, "actor": sampler.network_time - network, "learning": ended - began
    }  # fmt: skip
    figures = {**describe_rollout(rollout, sampler.options.period), **figures}
    return IterationOutcome(rollout.count, ended - cpu, times, figures)


def join_outcomes(outcomes: Sequence[IterationOutcome]) -> IterationOutcome:
    """Return the outcomes of workers of one iteration as one: sums, and means of the figures."""
    first, count = outcomes[0], len(outcomes)
    return IterationOutcome(
        sum(each.steps for each in outcomes), sum(each.cpu_time for each in outcomes),
        {name: sum(each.times[name] for each in outcomes) for name in first.times},
        {name: sum(each.figures[name] for each in outcomes) / count for name in first.figures},
    )  # fmt: skip


def describe_rollout(rollout: Rollout, period: float) -> dict[str, float]:
    """Return figures of a rollout for the curves: mean reward of a step, m/s, crashes for each km."""
    distance = float(rollout.speeds.mean()) * rollout.count * period
    return {
        "reward": float(rollout.rewards.mean()), "speed": float(rollout.speeds.mean()),
        "crashes_per_km": 1000.0 * float(rollout.ended.sum()) / max(distance, 1.0),
    }  # fmt: skip
