"""Proximal policy optimisation on PyTorch: Schulman et al., arXiv:1707.06347 (2017), in one file.

Advantages are those of Schulman et al., "High-dimensional continuous control using generalized advantage estimation"
(2016). The learning rate follows the divergence of an update, as in Rudin et al., "Learning to walk in minutes using
massively parallel deep reinforcement learning" (2022).
"""

import copy
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trailbrake.control.network import NetworkLayer
from trailbrake.observe.actions import OUTPUTS
from trailbrake.train.pytorch import import_torch
from trailbrake.train.rl.cuda_graph import RecordedCall
from trailbrake.train.rl.networks import (
    Normaliser,
    Weights,
    build_network,
    export_adam,
    export_arrays,
    export_layers,
    import_adam,
    import_arrays,
    measure_moments,
    measure_power,
    normalise_tensor,
)
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
        device: of PyTorch, that computes.
    """

    def __init__(self, width: int, hidden: int, device: str = "cpu") -> None:
        torch = self._torch = import_torch()
        self._network = build_network([width, hidden, hidden, OUTPUTS], torch.Generator().manual_seed(0)).to(device)
        self._log_std, self._deviation = (torch.zeros(OUTPUTS, device=device) for _ in range(2))

    def load_weights(self, weights: Weights) -> None:
        """Take over the weights that a learner exported."""
        import_arrays(self._network, weights, "actor.")
        self._log_std.copy_(self._torch.from_numpy(weights["log_std"]))
        self._deviation.copy_(self._torch.from_numpy(np.exp(weights["log_std"])))

    def sample_outputs(self, observations: Any, noise: Any) -> tuple[Any, Any]:
        """Return outputs (n, 2) and their log probabilities (n,); arguments as `rollout.RolloutActor`."""
        is_array = isinstance(observations, np.ndarray)
        with self._torch.no_grad():
            means = self._network(self._torch.from_numpy(observations) if is_array else observations)
        numbers = means, self._log_std, self._deviation
        means, log_std, deviation = (each.numpy() for each in numbers) if is_array else numbers
        return means + deviation * noise, (-0.5 * noise**2 - log_std - _LOG_ROOT_TWO_PI).sum(axis=1)


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
        device: of PyTorch, that computes: "cpu", or "cuda" for a graphics card.

    Attributes:
        actor: samples with exported weights; apart from the network that learns.
    """

    def __init__(
        self, width: int, hidden: int, seed: int, average: Callable[[Array], None] | None = None,
        target_divergence: float = TARGET_DIVERGENCE, *, device: str = "cpu",
    ) -> None:  # fmt: skip
        torch = self._torch = import_torch()
        self._average, self._target_divergence, self._device = average, target_divergence, torch.device(device)
        is_card = self._device.type == "cuda"
        if is_card:
            # TF32: an update in 0.63 of the time. Its rounding moves a policy by a divergence of 0.00003; that of
            # bfloat16 by 0.002, as much as an update does.
            torch.set_float32_matmul_precision("high")
        self.actor = GaussianActor(width, hidden, device)
        self._seed = seed
        generator = torch.Generator().manual_seed(seed)
        self._policy = build_network([width, hidden, hidden, OUTPUTS], generator, 0.01).to(device)
        self._smooth_policy = copy.deepcopy(self._policy).requires_grad_(False)
        self._critic = build_network([width, hidden, hidden, 1], generator).to(device)
        self._log_std = torch.full((OUTPUTS,), FIRST_LOG_STD, device=device, requires_grad=True)
        self._old_log_std = torch.zeros(OUTPUTS, device=device)
        # Tensors, so that a minibatch needs no answer of the card; its fused Adam takes a rate of single precision.
        self._rate = torch.tensor(FIRST_RATE, dtype=torch.float32 if is_card else torch.float64, device=device)
        self._parameters = [*self._policy.parameters(), self._log_std, *self._critic.parameters()]
        kind = {"fused": True, "capturable": True} if is_card else {}
        self._optimiser = torch.optim.Adam(self._parameters, lr=self._rate, eps=1e-5, **kind)
        self._normaliser = Normaliser(width)
        self._records = is_card and average is None  # an average waits for the other learners
        self._minibatches: dict[int, tuple[list[Any], RecordedCall]] = {}  # by size

    def export_weights(self) -> Weights:
        """Return what `RolloutSampler.sample` takes."""
        return {
            **export_arrays(self._policy.state_dict(), "actor."), **export_arrays({"log_std": self._log_std}, ""),
            "mean": self._normaliser.offset, "scale": self._normaliser.scale,
        }  # fmt: skip

    def update(self, rollout: Rollout, iteration: int) -> dict[str, float]:
        """Learn from a rollout that was sampled with the present weights; return figures for the curves.

        With `average`, all learners call this with rollouts of the same size. They average the moments of advantages
        and observations, and the gradient and the divergence of each minibatch: 2 + EPOCHS * MINIBATCHES calls.
        A card is waited for a few times in all, whatever the number of minibatches.

        Raises:
            FloatingPointError: a number that is not finite.
        """
        torch = self._torch
        observations, outputs, log_probs, rewards, ended = (
            torch.as_tensor(part, device=self._device)
            for part in (rollout.observations, rollout.outputs, rollout.log_probs, rollout.rewards, rollout.ended)
        )
        offset, scale = (torch.from_numpy(part).to(self._device) for part in (
            self._normaliser.offset, self._normaliser.scale))  # fmt: skip
        seen = normalise_tensor(observations, offset, scale)
        rows = seen[:-1].reshape(-1, seen.shape[-1])
        with torch.no_grad():
            values = self._critic(seen)[..., 0]
            means = self._policy(rows)
            self._old_log_std.copy_(self._log_std)
        advantages = estimate_advantages(rewards, ended, values)
        targets = advantages + values[:-1]
        moments = np.array(measure_power(advantages))
        self._average_over_learners(moments)
        deviation = math.sqrt(max(moments[1] - moments[0] ** 2, 0.0))
        scaled = ((advantages.double() - moments[0]) / (deviation + 1e-8)).float()
        data = [rows, outputs.reshape(-1, OUTPUTS), log_probs.reshape(-1), scaled.reshape(-1), targets.reshape(-1),
                means]  # fmt: skip
        figures = torch.stack([
            self._learn_rows(data, chosen) for order in self._draw_orders(rollout.count, iteration)
            for chosen in torch.chunk(order, MINIBATCHES)
        ]).tolist()  # fmt: skip
        for _, _, _, loss, norm in figures:
            if not (math.isfinite(loss) and math.isfinite(norm)):
                raise FloatingPointError(f"loss {loss}, gradient {norm}")
        with torch.no_grad():
            for smooth, newest in zip(self._smooth_policy.parameters(), self._policy.parameters(), strict=True):
                smooth.lerp_(newest, AVERAGING)
        self._add_to_normaliser(observations[:-1].reshape(rows.shape))
        spread = measure_moments(targets.reshape(-1))[1]
        missed = measure_moments((targets - values[:-1]).reshape(-1))[1]
        return {
            **dict(zip(("gain", "value_loss", "divergence"), np.mean(figures, axis=0).tolist(), strict=False)),
            "rate": float(self._rate), "deviation": float(self._log_std.detach().exp().mean()),
            "explained": 1.0 - float(missed / spread) if spread > 0.0 else math.nan,
        }  # fmt: skip

    def _draw_orders(self, count: int, iteration: int) -> Iterator[Any]:
        # Orders of `count` rows, one for each epoch.
        rng, torch = np.random.default_rng([self._seed, iteration, 2]), self._torch
        for _ in range(EPOCHS):
            if self._device.type == "cuda":  # the processor would need longer than the card for the whole epoch
                generator = torch.Generator(self._device).manual_seed(int(rng.integers(2**62)))
                yield torch.randperm(count, device=self._device, generator=generator)
            else:
                yield torch.from_numpy(rng.permutation(count))

    def _learn_rows(self, data: list[Any], chosen: Any) -> Any:
        # Learn from the chosen rows of the data; a recorded call reads and writes the same memory each time.
        size = len(chosen)
        if size not in self._minibatches:
            kept = [part.new_empty((size, *part.shape[1:])) for part in data]
            learn = RecordedCall(lambda: self._learn_minibatch(kept), records=self._records)
            self._minibatches[size] = kept, learn
        batch, learn = self._minibatches[size]
        for part, rows in zip(batch, data, strict=True):
            self._torch.index_select(rows, 0, chosen, out=part)
        return learn().clone()

    def _learn_minibatch(self, batch: list[Any]) -> Any:
        # Returns gain, loss of values, divergence, loss, norm of the gradient: (5,), without waiting for the card.
        torch = self._torch
        seen, outputs, old_log_probs, advantages, targets, old_means = batch
        means, log_std, old_log_std = self._policy(seen), self._log_std, self._old_log_std
        deviations = (outputs - means) / log_std.exp()
        log_probs = (-0.5 * deviations**2 - log_std - _LOG_ROOT_TWO_PI).sum(dim=1)
        with torch.no_grad():  # divergence of the old distribution from the new one, exactly
            variance = (2.0 * log_std).exp()
            apart = (2.0 * old_log_std).exp() + (old_means - means) ** 2
            divergence = (log_std - old_log_std + 0.5 * apart / variance - 0.5).sum(dim=1).mean()
        ratio = (log_probs - old_log_probs).exp()
        gain = torch.minimum(ratio * advantages, ratio.clamp(1.0 - CLIP, 1.0 + CLIP) * advantages).mean()
        value_loss = ((self._critic(seen)[:, 0] - targets) ** 2).mean()
        loss = -gain + 0.5 * value_loss - ENTROPY_WEIGHT * log_std.sum()
        self._optimiser.zero_grad(set_to_none=True)
        loss.backward()
        divergence = self._average_gradients(divergence.double())
        self._adapt_rate(divergence)
        norm = torch.nn.utils.clip_grad_norm_(self._parameters, MAX_GRADIENT)
        self._optimiser.step()
        with torch.no_grad():
            log_std.clamp_(*LOG_STD_RANGE)
            return torch.stack([gain, value_loss, divergence.float(), loss, norm])

    def _average_over_learners(self, values: Array) -> None:
        if self._average is not None:
            self._average(values)

    def _average_gradients(self, divergence: Any) -> Any:
        # Means over all learners of the gradients, in place, and of the divergence, which is returned.
        if self._average is None:
            return divergence
        torch, parameters = self._torch, self._parameters
        parts = [*(p.grad.reshape(-1) for p in parameters), divergence.reshape(1)]
        values = torch.cat([part.double() for part in parts]).cpu().numpy()
        self._average(values)
        mean = torch.from_numpy(values[:-1]).float().to(self._device)
        for parameter, part in zip(parameters, mean.split([p.numel() for p in parameters]), strict=True):
            parameter.grad.copy_(part.view_as(parameter))
        return torch.tensor(values[-1], device=self._device)

    def _add_to_normaliser(self, observations: Any) -> None:
        if self._average is None:
            self._normaliser.merge(len(observations), *measure_moments(observations))
            return
        mean, variance = measure_moments(observations)
        moments = np.array([mean, variance + mean**2])
        self._average(moments)
        self._normaliser.merge(len(observations), moments[0], np.maximum(moments[1] - moments[0] ** 2, 0.0))

    def _adapt_rate(self, divergence: Any) -> None:
        rate, target, where = self._rate, self._target_divergence, self._torch.where
        slower, faster = (rate / RATE_STEP).clamp(min=RATE_RANGE[0]), (rate * RATE_STEP).clamp(max=RATE_RANGE[1])
        adapted = where(divergence > 2.0 * target, slower, where(divergence < 0.5 * target, faster, rate))
        rate.copy_(adapted)  # in place: the optimiser has it

    def export_state(self) -> Weights:
        """Return everything that `import_state` needs to go on to the bit."""
        return {
            **self.export_weights(), **export_arrays(self._critic.state_dict(), "critic."),
            **export_arrays(self._smooth_policy.state_dict(), "smooth."),
            **export_adam(self._optimiser, "adam."), "rate": self._rate.cpu().double().numpy().copy(),
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
            self._rate.fill_(float(arrays["rate"]))
        import_adam(self._optimiser, arrays, "adam.")
        for group in self._optimiser.param_groups:
            group["lr"] = self._rate  # loading has put a copy there
        self._minibatches.clear()  # recorded with the optimiser's old memory
        self._normaliser.mean, self._normaliser.variance = arrays["moments"].copy()
        self._normaliser.count = float(arrays["count"])

    def export_layers(self) -> tuple[list[NetworkLayer], Floats, Floats]:
        """Return the layers of the deterministic policy, and mean and scale of its input.

        Its weights are a running average: those of single iterations swing about it, and crash more often.
        """
        return export_layers(self._smooth_policy), self._normaliser.offset, self._normaliser.scale


def estimate_advantages(rewards: Any, ended: Any, values: Any) -> Any:
    """Return the generalised advantage estimates (T, n), a tensor.

    Args:
        rewards: (T, n) of T steps of n cars.
        ended: (T, n) bool: the episode ended with the step.
        values: (T + 1, n) estimated returns of the observations.
    """
    going = (~ended).float()
    errors = rewards + DISCOUNT * going * values[1:] - values[:-1]
    advantages = errors.clone()
    for t in range(len(errors) - 2, -1, -1):
        advantages[t] += DISCOUNT * TRACE * going[t] * advantages[t + 1]
    return advantages
