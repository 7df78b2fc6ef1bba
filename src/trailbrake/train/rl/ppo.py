"""Proximal policy optimisation on PyTorch: Schulman et al., arXiv:1707.06347 (2017), in one file.

Advantages are those of Schulman et al., "High-dimensional continuous control using generalized advantage estimation"
(2016). The learning rate follows the divergence of an update, as in Rudin et al., "Learning to walk in minutes using
massively parallel deep reinforcement learning" (2022).
"""

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trailbrake.control.network import NetworkLayer
from trailbrake.drivers.loading.race_policy_file import normalise
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
from trailbrake.train.rl.options import TARGET_DIVERGENCE
from trailbrake.train.rl.rollout import Rollout

Floats = NDArray[np.float32]
Array = NDArray[np.float64]

DISCOUNT, TRACE = 0.99, 0.95  # gamma and lambda
CLIP = 0.2  # of the ratio of probabilities
EPOCHS, MINIBATCHES = 3, 8
FIRST_RATE, RATE_RANGE, RATE_STEP = 1e-3, (1e-5, 4e-3), 1.2
AVERAGING = 0.05  # share of the policy that its running average takes over in an iteration
ENTROPY_WEIGHT = 1e-3
MAX_GRADIENT = 1.0  # norm
FIRST_LOG_STD, LOG_STD_RANGE = -0.7, (-3.0, 0.0)
_LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)


class GaussianActor:
    """A normal distribution over outputs: a network gives the means; the deviations are the same everywhere.

    Args:
        width: numbers in an observation.
        hidden: units of each hidden layer.
    """

    def __init__(self, width: int, hidden: int) -> None:
        torch = self._torch = import_torch()
        self._network = build_network([width, hidden, hidden, OUTPUTS], torch.Generator().manual_seed(0))
        self._log_std: Floats = np.zeros(OUTPUTS, np.float32)

    def load_weights(self, weights: Weights) -> None:
        """Take over the weights that a learner exported."""
        import_arrays(self._network, weights, "actor.")
        self._log_std = weights["log_std"]

    def sample_outputs(self, observations: Floats, noise: Floats) -> tuple[Floats, Floats]:
        """Return outputs (n, 2) and their log probabilities (n,); arguments as `rollout.RolloutActor`."""
        with self._torch.no_grad():
            means = self._network(self._torch.from_numpy(observations)).numpy()
        outputs: Floats = means + np.exp(self._log_std) * noise
        log_probs: Floats = (-0.5 * noise**2 - self._log_std - _LOG_ROOT_TWO_PI).sum(axis=1)
        return outputs, log_probs


class PpoLearner:
    """Learns by PPO.

    Learners in several processes, each with rollouts of its own cars, stay the same to the bit if they begin with the
    same weights and `average` replaces an array by its mean over all of them: see `update`.

    Args:
        width: numbers in an observation.
        hidden: units of each hidden layer.
        seed: of the first weights and of the order of samples.
        average: replaces a float64 array in place by its mean over all learners; None where there is one.
        target_divergence: of a minibatch; the learning rate keeps it within half and twice that.

    Attributes:
        actor: samples with exported weights; apart from the network that learns.
        squashes_outputs: False: outputs are those of the last layer.
    """

    squashes_outputs = False

    def __init__(
        self, width: int, hidden: int, seed: int, average: Callable[[Array], None] | None = None,
        target_divergence: float = TARGET_DIVERGENCE,
    ) -> None:  # fmt: skip
        torch = self._torch = import_torch()
        self._average, self._target_divergence = average, target_divergence
        self.actor = GaussianActor(width, hidden)
        self._seed = seed
        generator = torch.Generator().manual_seed(seed)
        self._policy = build_network([width, hidden, hidden, OUTPUTS], generator, 0.01)
        self._smooth_policy = copy.deepcopy(self._policy).requires_grad_(False)
        self._critic = build_network([width, hidden, hidden, 1], generator)
        self._log_std = torch.full((OUTPUTS,), FIRST_LOG_STD, requires_grad=True)
        self._rate = FIRST_RATE
        self._parameters = [*self._policy.parameters(), self._log_std, *self._critic.parameters()]
        self._optimiser = torch.optim.Adam(self._parameters, lr=FIRST_RATE, eps=1e-5)
        self._normaliser = Normaliser(width)

    def export_weights(self) -> Weights:
        """Return what `RolloutSampler.sample` takes."""
        return {
            **export_arrays(self._policy.state_dict(), "actor."), "log_std": self._log_std.detach().numpy().copy(),
            "mean": self._normaliser.offset, "scale": self._normaliser.scale,
        }  # fmt: skip

    def update(self, rollout: Rollout, iteration: int) -> dict[str, float]:
        """Learn from a rollout that was sampled with the present weights; return figures for the curves.

        With `average`, all learners call this with rollouts of the same size. They average the moments of advantages
        and observations, and the gradient and the divergence of each minibatch: 2 + EPOCHS * MINIBATCHES calls.

        Raises:
            FloatingPointError: a number that is not finite.
        """
        torch = self._torch
        seen = normalise(rollout.observations, self._normaliser.offset, self._normaliser.scale)
        with torch.no_grad():
            values = self._critic(torch.from_numpy(seen))[..., 0].numpy()
        advantages = estimate_advantages(rollout, values)
        targets = advantages + values[:-1]
        moments = np.array([advantages.mean(dtype="f8"), (advantages.astype("f8") ** 2).mean()])
        self._average_over_learners(moments)
        deviation = math.sqrt(max(moments[1] - moments[0] ** 2, 0.0))
        scaled = ((advantages - moments[0]) / (deviation + 1e-8)).astype(np.float32)
        with torch.no_grad():
            means = self._policy(torch.from_numpy(seen[:-1].reshape(-1, seen.shape[-1])))
        data = [torch.from_numpy(np.ascontiguousarray(part)) for part in (
            seen[:-1].reshape(-1, seen.shape[-1]), rollout.outputs.reshape(-1, OUTPUTS), rollout.log_probs.reshape(-1),
            scaled.reshape(-1), targets.reshape(-1),
        )]  # fmt: skip
        old = (means, self._log_std.detach().clone())
        rng = np.random.default_rng([self._seed, iteration, 2])
        sums: dict[str, float] = {}
        for _ in range(EPOCHS):
            order = torch.from_numpy(rng.permutation(rollout.count))
            for chosen in torch.chunk(order, MINIBATCHES):
                figures = self._learn_minibatch([part[chosen] for part in data], (old[0][chosen], old[1]))
                for name, value in figures.items():
                    sums[name] = sums.get(name, 0.0) + value / (EPOCHS * MINIBATCHES)
        with torch.no_grad():
            for smooth, newest in zip(self._smooth_policy.parameters(), self._policy.parameters(), strict=True):
                smooth.lerp_(newest, AVERAGING)
        self._add_to_normaliser(rollout.observations[:-1].reshape(-1, seen.shape[-1]))
        spread = float(np.var(targets))
        explained = 1.0 - float(np.var(targets - values[:-1])) / spread if spread > 0.0 else math.nan
        return {**sums, "rate": self._rate, "deviation": float(self._log_std.detach().exp().mean()),
                "explained": explained}  # fmt: skip

    def _learn_minibatch(self, data: list[Any], old: tuple[Any, Any]) -> dict[str, float]:
        torch = self._torch
        seen, outputs, old_log_probs, advantages, targets = data
        means, log_std = self._policy(seen), self._log_std
        deviations = (outputs - means) / log_std.exp()
        log_probs = (-0.5 * deviations**2 - log_std - _LOG_ROOT_TWO_PI).sum(dim=1)
        with torch.no_grad():  # divergence of the old distribution from the new one, exactly
            variance = (2.0 * log_std).exp()
            apart = (2.0 * old[1]).exp() + (old[0] - means) ** 2
            divergence = float((log_std - old[1] + 0.5 * apart / variance - 0.5).sum(dim=1).mean())
        ratio = (log_probs - old_log_probs).exp()
        gain = torch.minimum(ratio * advantages, ratio.clamp(1.0 - CLIP, 1.0 + CLIP) * advantages).mean()
        value_loss = ((self._critic(seen)[:, 0] - targets) ** 2).mean()
        loss = -gain + 0.5 * value_loss - ENTROPY_WEIGHT * log_std.sum()
        self._optimiser.zero_grad(set_to_none=True)
        loss.backward()
        divergence = self._average_gradients(divergence)
        self._adapt_rate(divergence)
        norm = float(torch.nn.utils.clip_grad_norm_(self._parameters, MAX_GRADIENT))
        size = float(loss.detach())
        if not (math.isfinite(size) and math.isfinite(norm)):
            raise FloatingPointError(f"loss {size}, gradient {norm}")
        self._optimiser.step()
        with torch.no_grad():
            log_std.clamp_(*LOG_STD_RANGE)
        return {"gain": float(gain.detach()), "value_loss": float(value_loss.detach()), "divergence": divergence}

    def _average_over_learners(self, values: Array) -> None:
        if self._average is not None:
            self._average(values)

    def _average_gradients(self, divergence: float) -> float:
        # Means over all learners of the gradients, in place, and of the divergence, which is returned.
        if self._average is None:
            return divergence
        torch, parameters = self._torch, self._parameters
        values = np.concatenate([*(p.grad.reshape(-1).numpy() for p in parameters), [divergence]]).astype(np.float64)
        self._average(values)
        mean = torch.from_numpy(values[:-1]).float()
        for parameter, part in zip(parameters, mean.split([p.numel() for p in parameters]), strict=True):
            parameter.grad.copy_(part.view_as(parameter))
        return float(values[-1])

    def _add_to_normaliser(self, observations: Floats) -> None:
        if self._average is None:
            self._normaliser.add(observations)
            return
        values = observations.astype(np.float64)
        moments = np.array([values.mean(axis=0), (values**2).mean(axis=0)])
        self._average(moments)
        self._normaliser.merge(len(observations), moments[0], np.maximum(moments[1] - moments[0] ** 2, 0.0))

    def _adapt_rate(self, divergence: float) -> None:
        if divergence > 2.0 * self._target_divergence:
            self._rate = max(self._rate / RATE_STEP, RATE_RANGE[0])
        elif divergence < 0.5 * self._target_divergence:
            self._rate = min(self._rate * RATE_STEP, RATE_RANGE[1])
        for group in self._optimiser.param_groups:
            group["lr"] = self._rate

    def export_state(self) -> Weights:
        """Return everything that `import_state` needs to go on to the bit."""
        return {
            **self.export_weights(), **export_arrays(self._critic.state_dict(), "critic."),
            **export_arrays(self._smooth_policy.state_dict(), "smooth."),
            **export_adam(self._optimiser, "adam."), "rate": np.array(self._rate),
            "moments": np.array([self._normaliser.mean, self._normaliser.variance]),
            "count": np.array(self._normaliser.count),
        }  # fmt: skip

    def import_state(self, arrays: Weights) -> None:
        """Take over what `export_state` returned."""
        import_arrays(self._policy, arrays, "actor.")
        import_arrays(self._critic, arrays, "critic.")
        import_arrays(self._smooth_policy, arrays, "smooth.")
        with self._torch.no_grad():
            self._log_std.copy_(self._torch.from_numpy(arrays["log_std"]))
        import_adam(self._optimiser, arrays, "adam.")
        self._rate = float(arrays["rate"])
        self._normaliser.mean, self._normaliser.variance = arrays["moments"].copy()
        self._normaliser.count = float(arrays["count"])

    def export_layers(self) -> tuple[list[NetworkLayer], Floats, Floats]:
        """Return the layers of the deterministic policy, and mean and scale of its input.

        Its weights are a running average: those of single iterations swing about it, and crash more often.
        """
        return export_layers(self._smooth_policy), self._normaliser.offset, self._normaliser.scale


def estimate_advantages(rollout: Rollout, values: Floats) -> Floats:
    """Return the generalised advantage estimates (T, n).

    Args:
        rollout: T steps of n cars.
        values: (T + 1, n) estimated returns of its observations.
    """
    going = (1.0 - rollout.ended).astype(np.float32)
    errors = rollout.rewards + DISCOUNT * going * values[1:] - values[:-1]
    advantages: Floats = np.empty_like(rollout.rewards)
    last: Floats = np.zeros(rollout.rewards.shape[1], np.float32)
    for t in range(len(errors) - 1, -1, -1):
        last = errors[t] + DISCOUNT * TRACE * going[t] * last
        advantages[t] = last
    return advantages
