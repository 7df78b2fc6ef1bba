"""Small dense networks in PyTorch, and their weights as NumPy arrays.

Running mean and variance of observations, by which a network's inputs are normalised.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array, Floats
from trailbrake.control.network import NetworkLayer
from trailbrake.drivers.loading.race_policy import MAX_NORMALISED
from trailbrake.train.pytorch import import_torch

Weights = dict[str, NDArray[Any]]

LEAST_SCALE = 1e-3  # of a number that hardly varies


def build_network(sizes: Sequence[int], generator: Any, output_gain: float = 1.0) -> Any:
    """Return dense layers with a ReLU after each but the last, with orthogonal first weights.

    Args:
        sizes: of inputs, hidden layers and outputs.
        generator: `torch.Generator` of the weights.
        output_gain: gain of the last layer's first weights; a small one begins with outputs near 0.
    """
    torch = import_torch()
    nn = torch.nn
    modules: list[Any] = []
    for i, (inputs, outputs) in enumerate(itertools.pairwise(sizes)):
        is_last = i == len(sizes) - 2
        layer = nn.Linear(inputs, outputs)
        nn.init.orthogonal_(layer.weight, output_gain if is_last else 2.0**0.5, generator=generator)
        nn.init.zeros_(layer.bias)
        modules += [layer] if is_last else [layer, nn.ReLU()]
    return nn.Sequential(*modules)


def export_arrays(state: Mapping[str, Any], prefix: str) -> Weights:
    """Return the tensors of a module's `state_dict` as arrays of their own, their names behind `prefix`."""
    return {f"{prefix}{name}": tensor.detach().cpu().numpy().copy() for name, tensor in state.items()}


def import_arrays(module: Any, weights: Weights, prefix: str) -> None:
    """Load what `export_arrays` returned."""
    torch = import_torch()
    module.load_state_dict({name: torch.from_numpy(weights[f"{prefix}{name}"]) for name in module.state_dict()})


def export_adam(optimiser: Any, prefix: str) -> Weights:
    """Return the state of an Adam optimiser as arrays."""
    state = optimiser.state_dict()["state"]
    return {
        f"{prefix}{place}.{name}": np.array(value.cpu().numpy())
        for place, values in state.items()
        for name, value in values.items()
    }


def import_adam(optimiser: Any, arrays: Weights, prefix: str) -> None:
    """Load what `export_adam` returned."""
    torch = import_torch()
    state: dict[int, dict[str, Any]] = {}
    for key, values in arrays.items():
        if key.startswith(prefix):
            place, name = key.removeprefix(prefix).split(".")
            state.setdefault(int(place), {})[name] = torch.from_numpy(np.array(values))
    optimiser.load_state_dict({"state": state, "param_groups": optimiser.state_dict()["param_groups"]})


def export_layers(network: Any) -> list[NetworkLayer]:
    """Return the dense layers of a network for NumPy."""
    nn = import_torch().nn
    return [
        NetworkLayer(*(part.detach().cpu().numpy().copy() for part in (module.weight, module.bias)))
        for module in network
        if isinstance(module, nn.Linear)
    ]


def normalise_tensor(observations: Any, mean: Any, scale: Any) -> Any:
    """Return observations (..., width) as `race_policy_file.normalise` does; all are tensors."""
    return ((observations - mean) / scale).clamp(-MAX_NORMALISED, MAX_NORMALISED)


def measure_power(values: Any) -> tuple[float, float]:
    """Return the mean of a tensor's numbers, and that of their squares; waits for the card."""
    if values.is_cuda:
        both = import_torch().stack([values.double().mean(), (values.double() ** 2).mean()])
        return tuple(both.tolist())
    array = values.numpy()
    return array.mean(dtype="f8"), (array.astype("f8") ** 2).mean()


def measure_moments(values: Any) -> tuple[Any, Any]:
    """Return mean and variance over the first axis of a tensor as NumPy numbers or arrays; waits for the card."""
    if values.is_cuda:
        variance, mean = import_torch().var_mean(values.double(), dim=0, correction=0)
        return mean.cpu().numpy(), variance.cpu().numpy()
    array = values.numpy().astype(np.float64)
    return array.mean(axis=0), array.var(axis=0)


@dataclass
class Normaliser:
    """Mean and variance over all observations so far.

    The moments of a batch are merged as in Chan, Golub and LeVeque, "Algorithms for computing the sample variance",
    The American Statistician 37:3 (1983).

    Attributes:
        width: numbers in an observation.
        mean: (width,).
        variance: (width,).
        count: observations so far.
    """

    width: int
    mean: Array = field(init=False)
    variance: Array = field(init=False)
    count: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        self.mean, self.variance = np.zeros(self.width), np.ones(self.width)

    def merge(self, n: float, mean: Array, variance: Array) -> None:
        """Add n observations with a mean and a variance (width,)."""
        total = self.count + n
        shift = mean - self.mean
        self.variance = (self.count * self.variance + n * variance + shift**2 * (self.count * n / total)) / total
        self.mean = self.mean + shift * (n / total)
        self.count = total

    @property
    def offset(self) -> Floats:
        """What is subtracted from observations, (width,)."""
        return self.mean.astype(np.float32)

    @property
    def scale(self) -> Floats:
        """What that is divided by, (width,)."""
        return np.maximum(np.sqrt(self.variance), LEAST_SCALE).astype(np.float32)
