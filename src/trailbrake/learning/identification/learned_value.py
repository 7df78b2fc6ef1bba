"""`LearnedValue`: a number with its uncertainty, and where it comes from."""

import math
from dataclasses import dataclass
from typing import Literal

from trailbrake.units import NORMAL_95

Source = Literal["identified", "prior"]
PRIOR_SHARE = 0.7  # of the prior's sigma: what is left above it has taught nothing
LEARNED = "learned from recordings"  # source of a section of a car file


@dataclass(frozen=True)
class LearnedValue:
    """A number of a car.

    Attributes:
        value: in the unit of the car file.
        sigma: standard deviation of the same unit; systematic errors of the method are included as far as known.
        source: whether the drives have applied it, or it is that of the class of cars.
        note: from what, in a few words.
    """

    value: float
    sigma: float
    source: Source
    note: str = ""

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval."""
        return self.value - NORMAL_95 * self.sigma, self.value + NORMAL_95 * self.sigma


def identified(
    value: float, sigma: float, note: str, *, floor: float = 0.0, prior_sigma: float = math.inf
) -> LearnedValue:
    """Return a value of a fit.

    Args:
        value: of the fit.
        sigma: of the fit.
        note: from what.
        floor: relative systematic error of the method, added to sigma (as root of squares).
        prior_sigma: of the fit's prior; where the fit has hardly narrowed it, the value counts as the prior's.
    """
    source: Source = "identified" if sigma < PRIOR_SHARE * prior_sigma else "prior"
    return LearnedValue(float(value), float(math.hypot(sigma, floor * value)), source, note)


def prior(value: float, share: float, note: str = "of the class of cars") -> LearnedValue:
    """Return a value of the class of cars, with its spread there as a share of it."""
    return LearnedValue(float(value), abs(share * value), "prior", note)


def weigh_with_class(found: LearnedValue, usual: float, share: float) -> LearnedValue:
    """Return a value and that of the class of cars, weighted by their variances.

    Args:
        found: of a fit.
        usual: of the class.
        share: spread in the class, of the value there.
    """
    spread = abs(share * usual)
    weight = spread**2 / (spread**2 + found.sigma**2)
    value = weight * found.value + (1.0 - weight) * usual
    source: Source = found.source if found.sigma < spread else "prior"
    return LearnedValue(value, math.sqrt(weight) * found.sigma, source, found.note)
