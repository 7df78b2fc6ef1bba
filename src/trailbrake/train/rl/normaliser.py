"""Running mean and variance of observations, by which a network's inputs are normalised."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Array = NDArray[np.float64]

LEAST_SCALE = 1e-3  # of a number that hardly varies


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

    def add(self, observations: Floats) -> None:
        """Add observations (n, width)."""
        values = observations.astype(np.float64)
        self.merge(len(observations), values.mean(axis=0), values.var(axis=0))

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
