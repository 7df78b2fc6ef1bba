"""Soft actor-critic on PyTorch: Haarnoja et al., arXiv:1812.05905 (2018), in one file.

Returns run over several steps before the critic's estimate, as in Wurman et al., "Outracing champion Gran Turismo
drivers with deep reinforcement learning", Nature 602 (2022).
"""

import copy
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trailbrake.control.network import NetworkLayer
from trailbrake.drivers.race_policy_file import normalise
from trailbrake.observe.command_limits import OUTPUTS
from trailbrake.train.pytorch import import_torch
from trailbrake.train.rl.networks import (
    Weights,
    build_network,
    export_adam,
    export_arrays,
    export_layers,
    import_adam,
    import_arrays,
)
from trailbrake.train.rl.normaliser import Normaliser
from trailbrake.train.rl.replay import ReplayMemory, Transitions, collect_transitions
from trailbrake.train.rl.rollout import Rollout

Floats = NDArray[np.float32]

DISCOUNT, STEPS = 0.99, 5  # of a step; steps of a return before the critic's estimate
CAPACITY = 1_000_000  # transitions in memory
MINIBATCH = 2048
REPLAY_RATIO = 1.0  # transitions learned from for each step driven
RATE = 7e-4
TRACKING = 0.01  # share of the critics that their slow copies take over in an update
TARGET_ENTROPY = -2.0 * OUTPUTS
FIRST_TEMPERATURE = 0.02  # rewards are some hundredths a step
LOG_STD_RANGE = (-5.0, 1.0)
MAX_GRADIENT = 5.0  # norm
_LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)


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
        self._critics = torch.nn.ModuleList(
            build_network([width + OUTPUTS, hidden, hidden, 1], generator) for _ in range(2)
        )
        self._slow_critics = copy.deepcopy(self._critics).requires_grad_(False)
        self._log_temperature = torch.tensor(math.log(FIRST_TEMPERATURE), requires_grad=True)
        adam = torch.optim.Adam
        self._optimisers = {
            "adam_actor.": adam(self._policy.parameters(), lr=RATE),
            "adam_critics.": adam(self._critics.parameters(), lr=RATE),
            "adam_temperature.": adam([self._log_temperature], lr=RATE),
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
        """Add a rollout to the memory and learn from as many transitions as it has; return figures for the curves.

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
        sums: dict[str, float] = {}
        for _ in range(updates):
            for name, value in self._learn_minibatch(self._memory.draw(rng, MINIBATCH), generator).items():
                sums[name] = sums.get(name, 0.0) + value / updates
        return {**sums, "memory": float(self._memory.size)}

    def _learn_minibatch(self, batch: Transitions, generator: Any) -> dict[str, float]:
        torch, optimisers = self._torch, self._optimisers
        offset, scale = self._normaliser.offset, self._normaliser.scale
        seen, following = (torch.from_numpy(normalise(o, offset, scale)) for o in (batch.observations, batch.following))
        outputs, rewards, discounts = (
            torch.from_numpy(values) for values in (batch.outputs, batch.rewards, batch.discounts)
        )
        noise = torch.randn((2, len(rewards), OUTPUTS), generator=generator)
        temperature = self._log_temperature.detach().exp()
        with torch.no_grad():
            next_outputs, next_log_probs = squash_outputs(self._policy(following), noise[0])
            values = self._estimate_values(self._slow_critics, following, next_outputs).min(dim=1).values
            targets = rewards + discounts * (values - temperature * next_log_probs)
        value_loss = ((self._estimate_values(self._critics, seen, outputs) - targets[:, None]) ** 2).mean()
        self._take_step(optimisers["adam_critics."], value_loss, self._critics.parameters())
        chosen, log_probs = squash_outputs(self._policy(seen), noise[1])
        self._critics.requires_grad_(False)  # the actor's gradient passes through them and leaves them as they are
        gain = self._estimate_values(self._critics, seen, chosen).min(dim=1).values
        self._take_step(optimisers["adam_actor."], (temperature * log_probs - gain).mean(), self._policy.parameters())
        self._critics.requires_grad_(True)
        surplus = float(log_probs.detach().mean()) + TARGET_ENTROPY
        self._take_step(optimisers["adam_temperature."], -self._log_temperature * surplus, [self._log_temperature])
        with torch.no_grad():
            for slow, quick in zip(self._slow_critics.parameters(), self._critics.parameters(), strict=True):
                slow.lerp_(quick, TRACKING)
        return {
            "value_loss": float(value_loss.detach()), "gain": float(gain.detach().mean()),
            "entropy": -float(log_probs.detach().mean()), "temperature": float(temperature),
        }  # fmt: skip

    def _estimate_values(self, critics: Any, observations: Any, outputs: Any) -> Any:
        # (n, 2): the estimate of each critic.
        together = self._torch.cat([observations, outputs], dim=1)
        return self._torch.cat([critic(together) for critic in critics], dim=1)

    def _take_step(self, optimiser: Any, loss: Any, parameters: Any) -> None:
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        norm = float(self._torch.nn.utils.clip_grad_norm_(parameters, MAX_GRADIENT))
        size = float(loss.detach())
        if not (math.isfinite(size) and math.isfinite(norm)):
            raise FloatingPointError(f"loss {size}, gradient {norm}")
        optimiser.step()

    def export_state(self) -> Weights:
        """Return everything that `import_state` needs to go on, but for the memory of transitions."""
        state = {
            **self.export_weights(), **export_arrays(self._critics.state_dict(), "critics."),
            **export_arrays(self._slow_critics.state_dict(), "slow_critics."),
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
        with self._torch.no_grad():
            self._log_temperature.copy_(self._torch.from_numpy(arrays["log_temperature"]))
        for prefix, optimiser in self._optimisers.items():
            import_adam(optimiser, arrays, prefix)
        self._normaliser.mean, self._normaliser.variance = arrays["moments"].copy()
        self._normaliser.count = float(arrays["count"])

    def export_layers(self) -> tuple[list[NetworkLayer], Floats, Floats]:
        """Return the layers of the deterministic policy, and mean and scale of its input."""
        *hidden, last = export_layers(self._policy)
        means = NetworkLayer(last.weight[:OUTPUTS].copy(), last.bias[:OUTPUTS].copy())
        return [*hidden, means], self._normaliser.offset, self._normaliser.scale
