"""Soft actor-critic on PyTorch: Haarnoja et al., arXiv:1812.05905 (2018), in one file.

Returns run over several steps before the critic's estimate, as in Wurman et al., "Outracing champion Gran Turismo
drivers with deep reinforcement learning", Nature 602 (2022). Critics estimate returns without the actor's entropy, as
in Ball et al., "Efficient online reinforcement learning with offline data", arXiv:2302.02948 (2023).

`ReplayMemory`: the newest transitions of all cars, each over a few steps, for methods that learn off policy.
"""

import copy
import functools
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trailbrake.control.network import NetworkLayer
from trailbrake.drivers.loading.race_policy import normalise
from trailbrake.observe.actions import OUTPUTS
from trailbrake.train.pytorch import import_torch
from trailbrake.train.rl.networks import (
    Normaliser,
    Weights,
    build_network,
    export_adam,
    export_arrays,
    export_layers,
    import_adam,
    import_arrays,
)
from trailbrake.train.rl.rollout import Rollout

DISCOUNT, STEPS = 0.99, 8  # of a step; steps of a return before the critic's estimate
CAPACITY = 1_000_000  # transitions in memory
MINIBATCH = 1024
POLICY_DELAY = 2  # updates of the critics for each of the actor
REPLAY_RATIO = 4.0  # transitions learned from for each step driven
CRITIC_RATE, ACTOR_RATE, TEMPERATURE_RATE = 1e-3, 3e-4, 1e-3
CRITIC_GAIN = 0.1  # of the critics' last layer at first: values that hardly depend on the outputs
TRACKING = 0.01  # share of the critics that their slow copies take over in an update
AVERAGING = 0.1  # share of the policy that its running average takes over in an iteration
TARGET_ENTROPY = -1.5 * OUTPUTS
# Full throttle for one step is worth an estimated 0.03 of the return: a much higher temperature prefers noise to speed.
FIRST_TEMPERATURE, LEAST_TEMPERATURE = 0.005, 1e-4
LOG_STD_RANGE = (-5.0, 1.0)
MAX_GRADIENT = 5.0  # norm
_LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)
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


class SquashedActor:
    """Hyperbolic tangents of normal numbers: a network gives mean and logarithm of the deviation of each.

    Args:
        width: numbers in an observation.
        hidden: units of each hidden layer.
    """

    def __init__(self, width: int, hidden: int) -> None:
        torch = self._torch = import_torch()
        self._network = build_network([width, hidden, hidden, 2 * OUTPUTS], torch.Generator().manual_seed(0))

    def load_weights(self, weights: Weights) -> None:
        """Take over the weights that a learner exported."""
        import_arrays(self._network, weights, "actor.")

    def sample_outputs(self, observations: Floats, noise: Floats) -> tuple[Floats, Floats]:
        """Return outputs (n, 2) and their log probabilities (n,); arguments as `rollout.RolloutActor`."""
        torch = self._torch
        with torch.no_grad():
            outputs, log_probs = squash_outputs(self._network(torch.from_numpy(observations)), torch.from_numpy(noise))
        return outputs.numpy(), log_probs.numpy()


def squash_outputs(numbers: Any, noise: Any) -> tuple[Any, Any]:
    """Return outputs (n, 2) and their log probabilities (n,), as tensors.

    Args:
        numbers: (n, 4) of the actor's network.
        noise: (n, 2) standard normal numbers.
    """
    means, log_std = numbers[:, :OUTPUTS], numbers[:, OUTPUTS:].clamp(*LOG_STD_RANGE)
    before = means + log_std.exp() * noise
    functional = import_torch().nn.functional
    # log(1 - tanh^2), in a form that does not vanish for large numbers.
    shrinkage = 2.0 * (math.log(2.0) - before - functional.softplus(-2.0 * before))
    log_probs = (-0.5 * noise**2 - log_std - _LOG_ROOT_TWO_PI - shrinkage).sum(dim=1)
    return before.tanh(), log_probs


class SacLearner:
    """Learns by SAC. Its memory of transitions is not part of its state: a learner that goes on fills it again.

    Args:
        width: numbers in an observation.
        hidden: units of each hidden layer.
        seed: of the first weights and of the order of samples.

    Attributes:
        actor: samples with exported weights; apart from the network that learns.
        squashes_outputs: the policy's outputs are hyperbolic tangents of its last layer.
    """

    squashes_outputs = True

    def __init__(self, width: int, hidden: int, seed: int) -> None:
        torch = self._torch = import_torch()
        self.actor = SquashedActor(width, hidden)
        self._seed = seed
        generator = torch.Generator().manual_seed(seed)
        self._policy = build_network([width, hidden, hidden, 2 * OUTPUTS], generator, 0.01)
        with torch.no_grad():
            self._policy[-1].bias[OUTPUTS:] = -0.5
        self._smooth_policy = copy.deepcopy(self._policy).requires_grad_(False)
        self._critics = torch.nn.ModuleList(
            build_network([width + OUTPUTS, hidden, hidden, 1], generator, CRITIC_GAIN) for _ in range(2)
        )
        self._slow_critics = copy.deepcopy(self._critics).requires_grad_(False)
        self._log_temperature = torch.tensor(math.log(FIRST_TEMPERATURE), requires_grad=True)
        adam = functools.partial(torch.optim.Adam, fused=True)  # one call for all parameters
        self._optimisers = {
            "adam_actor.": adam(self._policy.parameters(), lr=ACTOR_RATE),
            "adam_critics.": adam(self._critics.parameters(), lr=CRITIC_RATE),
            "adam_temperature.": adam([self._log_temperature], lr=TEMPERATURE_RATE),
        }
        self._normaliser = Normaliser(width)
        self._memory = ReplayMemory(CAPACITY, width)

    def export_weights(self) -> Weights:
        """Return what `RolloutSampler.sample` takes."""
        return {
            **export_arrays(self._policy.state_dict(), "actor."), "mean": self._normaliser.offset,
            "scale": self._normaliser.scale,
        }  # fmt: skip

    def update(self, rollout: Rollout, iteration: int) -> dict[str, float]:
        """Add a rollout to the memory and learn from transitions in it; return figures for the curves.

        Raises:
            FloatingPointError: a number that is not finite.
        """
        if not np.isfinite(rollout.rewards).all():  # it would stay in the memory
            raise FloatingPointError("rewards that are no numbers")
        self._normaliser.add(rollout.observations[:-1].reshape(-1, rollout.observations.shape[-1]))
        self._memory.add(collect_transitions(rollout, STEPS, DISCOUNT))
        rng = np.random.default_rng([self._seed, iteration, 2])
        generator = self._torch.Generator().manual_seed(int(rng.integers(2**62)))
        updates = max(round(REPLAY_RATIO * rollout.count / MINIBATCH), 1)
        sums: dict[str, list[float]] = {}
        for k in range(updates):
            batch = self._memory.draw(rng, MINIBATCH)
            figures = self._update_critics(batch, generator)
            if k % POLICY_DELAY == 0:
                figures |= self._update_policy(batch, generator)
            for name, value in figures.items():
                sums.setdefault(name, []).append(value)
        with self._torch.no_grad():
            for smooth, newest in zip(self._smooth_policy.parameters(), self._policy.parameters(), strict=True):
                smooth.lerp_(newest, AVERAGING)
        return {
            **{name: sum(values) / len(values) for name, values in sums.items()},
            "memory": float(self._memory.size),
        }

    def _normalise(self, observations: Floats) -> Any:
        return self._torch.from_numpy(normalise(observations, self._normaliser.offset, self._normaliser.scale))

    def _update_critics(self, batch: Transitions, generator: Any) -> dict[str, float]:
        # Values are those of rewards alone: the actor's entropy is no part of them, as in the steps of a return.
        torch = self._torch
        seen, following = self._normalise(batch.observations), self._normalise(batch.following)
        outputs, rewards, discounts = (
            torch.from_numpy(values) for values in (batch.outputs, batch.rewards, batch.discounts)
        )
        with torch.no_grad():
            noise = torch.randn(outputs.shape, generator=generator)
            next_outputs, _ = squash_outputs(self._policy(following), noise)
            values = self._estimate_values(self._slow_critics, following, next_outputs).min(dim=1).values
            targets = rewards + discounts * values
        loss = ((self._estimate_values(self._critics, seen, outputs) - targets[:, None]) ** 2).mean()
        self._take_step(self._optimisers["adam_critics."], loss)
        with torch.no_grad():
            for slow, quick in zip(self._slow_critics.parameters(), self._critics.parameters(), strict=True):
                slow.lerp_(quick, TRACKING)
        return {"value_loss": float(loss.detach())}

    def _update_policy(self, batch: Transitions, generator: Any) -> dict[str, float]:
        # The actor climbs the slow critics: the gradient of the quick ones has the noise of their last minibatches.
        torch, seen = self._torch, self._normalise(batch.observations)
        temperature = self._log_temperature.detach().exp()
        noise = torch.randn((len(seen), OUTPUTS), generator=generator)
        outputs, log_probs = squash_outputs(self._policy(seen), noise)
        gain = self._estimate_values(self._slow_critics, seen, outputs).min(dim=1).values
        self._take_step(self._optimisers["adam_actor."], (temperature * log_probs - gain).mean())
        entropy = -float(log_probs.detach().mean())
        self._take_step(self._optimisers["adam_temperature."], self._log_temperature * (entropy - TARGET_ENTROPY))
        with torch.no_grad():
            self._log_temperature.clamp_(min=math.log(LEAST_TEMPERATURE))
        return {"gain": float(gain.detach().mean()), "entropy": entropy, "temperature": float(temperature)}

    def _estimate_values(self, critics: Any, observations: Any, outputs: Any) -> Any:
        # (n, 2): the estimate of each critic.
        together = self._torch.cat([observations, outputs], dim=1)
        return self._torch.cat([critic(together) for critic in critics], dim=1)

    def _take_step(self, optimiser: Any, loss: Any) -> None:
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        norm = float(self._torch.nn.utils.clip_grad_norm_(optimiser.param_groups[0]["params"], MAX_GRADIENT))
        size = float(loss.detach())
        if not (math.isfinite(size) and math.isfinite(norm)):
            raise FloatingPointError(f"loss {size}, gradient {norm}")
        optimiser.step()

    def export_state(self) -> Weights:
        """Return everything that `import_state` needs to go on, but for the memory of transitions."""
        state = {
            **self.export_weights(), **export_arrays(self._critics.state_dict(), "critics."),
            **export_arrays(self._slow_critics.state_dict(), "slow_critics."),
            **export_arrays(self._smooth_policy.state_dict(), "smooth."),
            "log_temperature": self._log_temperature.detach().numpy().copy(),
            "moments": np.array([self._normaliser.mean, self._normaliser.variance]),
            "count": np.array(self._normaliser.count),
        }  # fmt: skip
        for prefix, optimiser in self._optimisers.items():
            state |= export_adam(optimiser, prefix)
        return state

    def import_state(self, arrays: Weights) -> None:
        """Take over what `export_state` returned."""
        import_arrays(self._policy, arrays, "actor.")
        import_arrays(self._critics, arrays, "critics.")
        import_arrays(self._slow_critics, arrays, "slow_critics.")
        import_arrays(self._smooth_policy, arrays, "smooth.")
        with self._torch.no_grad():
            self._log_temperature.copy_(self._torch.from_numpy(arrays["log_temperature"]))
        for prefix, optimiser in self._optimisers.items():
            import_adam(optimiser, arrays, prefix)
        self._normaliser.mean, self._normaliser.variance = arrays["moments"].copy()
        self._normaliser.count = float(arrays["count"])

    def export_layers(self) -> tuple[list[NetworkLayer], Floats, Floats]:
        """Return the layers of the deterministic policy, and mean and scale of its input."""
        *hidden, last = export_layers(self._smooth_policy)
        means = NetworkLayer(last.weight[:OUTPUTS].copy(), last.bias[:OUTPUTS].copy())
        return [*hidden, means], self._normaliser.offset, self._normaliser.scale
