"""Student's t, and outliers among a few values: how sure it is that one corner is unlike the others.

A lap has few corners, and the spread of so few values is hardly known by them alone: it is weighed with what is usual
(a moderated t; Smyth, Linear models and empirical Bayes methods, Stat. Appl. Genet. Mol. Biol. 3:1, 2004).
"""

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MOST_OUTLIERS = 3  # among the corners of a lap
CONFIDENCE = 0.95  # chance from which a finding is named
FAMILIES = 2  # of values that are searched for outliers: times, and their evenness
USUAL_WEIGHT = 6  # degrees of freedom that the expected spread counts for
_STEPS = 2000


def student_tail(t: float, freedom: float) -> float:
    """Return the probability that Student's t with `freedom` degrees of freedom is above `t`."""
    if not (freedom >= 1.0 and math.isfinite(t)):
        return math.nan
    angles = np.linspace(-0.5 * math.pi, 0.5 * math.pi, 2 * _STEPS + 1)
    density = np.cos(angles) ** (freedom - 1.0)
    above = angles >= math.atan(t / math.sqrt(freedom))
    return float(density[above].sum() / density.sum())


def find_outliers(values: Array, noise: Array, usual_spread: float) -> list[tuple[int, float]]:
    """Return the values that are too large to belong to the others, largest first, with the chance that this is true.

    Externally studentised residuals, from most outliers to fewest (Rosner, Percentage points for a generalized ESD
    many-outlier procedure, Technometrics 25:2, 1983), one-sided, corrected for the number of values and of searches.

    Args:
        values: (n,) of things that are alike, but for the outliers.
        noise: (n,) standard error of each value.
        usual_spread: standard deviation of such values that is expected without them.
    """
    order = np.argsort(-values, kind="stable")
    for count in range(min(MOST_OUTLIERS, len(values) - 4), 0, -1):
        tested = order[count - 1]
        chance = _chance_of(values, noise, int(tested), order[count:], usual_spread)
        if chance >= CONFIDENCE:
            return [(int(k), _chance_of(values, noise, int(k), order[count:], usual_spread)) for k in order[:count]]
    return []


def _chance_of(values: Array, noise: Array, tested: int, others: NDArray[np.int64], usual_spread: float) -> float:
    usual = values[others]
    freedom = USUAL_WEIGHT + len(usual) - 1
    variance = (USUAL_WEIGHT * usual_spread**2 + float(((usual - usual.mean()) ** 2).sum())) / freedom
    # The spread of the others has their noise in it.
    more_noise = max(float(noise[tested] ** 2 - np.mean(noise[others] ** 2)), 0.0)
    spread = math.sqrt(variance * (1.0 + 1.0 / len(usual)) + more_noise)
    excess = float(values[tested] - np.median(usual)) / max(spread, 1e-9)
    return max(1.0 - FAMILIES * len(values) * student_tail(excess, freedom), 0.0)
