"""Student's t, Fisher's F, and outliers among a few values: how sure it is that one corner is unlike the others.

A lap has few corners, and the spread of so few values is hardly known by them alone: it is weighed with what is usual
(a moderated t; Smyth, Linear models and empirical Bayes methods, Stat. Appl. Genet. Mol. Biol. 3:1, 2004).
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

MOST_OUTLIERS = 3  # among the corners of a lap
CONFIDENCE = 0.95  # chance from which a finding is named
HARDLY = 0.05  # probability of a value by chance, above which no clue makes it an outlier
FAMILIES = 5  # of values that are searched for outliers: times, in the bend too, and evenness; patterns count for two
CLIPPED = 2.5  # robust standard deviations, at which a value counts no further in the spread of the others
NORMAL_MEDIAN = 1.4826  # standard deviation of a normal distribution, of its median absolute value
USUAL_WEIGHT = 6  # degrees of freedom that the expected spread counts for
TAIL_FREEDOM = 6  # at most: errors of planned times have the tails of a t of 4 to 6 (1300 corners of 117 drives)
LIKENESS = 6  # degrees of freedom of the F by which variances of like things differ beyond chance
LIKENESS_WEIGHT = 2  # variances that the expected one counts for
_STEPS = 2000


def fisher_tail(ratio: float, freedom: float, other: float) -> float:
    """Return the probability that Fisher's F with `freedom` and `other` degrees of freedom is above `ratio`, >= 0."""
    if not (freedom >= 1.0 and other >= 1.0 and ratio >= 0.0):
        return math.nan
    middle = (np.arange(_STEPS) + 0.5) * (0.5 * math.pi / _STEPS)
    density = np.sin(middle) ** (freedom - 1.0) * np.cos(middle) ** (other - 1.0)
    below = np.concatenate([[0.0], np.cumsum(density)]) / density.sum()
    edges = np.linspace(0.0, 0.5 * math.pi, _STEPS + 1)
    return 1.0 - float(np.interp(math.atan(math.sqrt(freedom * ratio / other)), edges, below))


def student_tail(t: float, freedom: float) -> float:
    """Return the probability that Student's t with `freedom` degrees of freedom is above `t`."""
    beyond = 0.5 * fisher_tail(t * t, 1.0, freedom)
    return beyond if t > 0.0 else 1.0 - beyond


def moderated_tail(value: float, others: Array, usual_spread: float, more_noise: float = 0.0) -> float:
    """Return the probability that one of things that are alike is so large by chance.

    Args:
        value: of the one.
        others: (n,) of the others.
        usual_spread: standard deviation of such values that is expected.
        more_noise: variance of the one's noise beyond that of the others, which is in their spread.
    """
    freedom = USUAL_WEIGHT + len(others) - 1
    gaps = clip_gaps(others, usual_spread)
    variance = (USUAL_WEIGHT * usual_spread**2 + float((gaps**2).sum())) / freedom
    spread = math.sqrt(variance * (1.0 + 1.0 / len(others)) + more_noise)
    return student_tail((value - float(np.median(others))) / max(spread, 1e-9), min(freedom, TAIL_FREEDOM))


def clip_gaps(values: Array, usual_spread: float) -> Array:
    """Return how far values (n,) are from their median, no further than a few robust standard deviations.

    Single things that are unlike the others in another way hide none (a winsorised variance).
    """
    gaps = values - float(np.median(values))
    most = CLIPPED * max(NORMAL_MEDIAN * float(np.median(np.abs(gaps))), usual_spread)
    clipped: Array = np.clip(gaps, -most, most)
    return clipped


def combine_chances(first: float, second: float) -> float:
    """Return the probability of two independent probabilities, or smaller ones, by chance (Fisher's method)."""
    both = max(first * second, 1e-300)
    return both * (1.0 - math.log(both))


def find_outliers(
    values: Array, noise: Array, usual_spread: float, clues: Array | None = None
) -> list[tuple[int, float]]:
    """Return the values that are too large to belong to the others, largest first, with the chance that this is true.

    Args:
        values: (n,) of things that are alike, but for the outliers.
        noise: (n,) standard error of each value.
        usual_spread: standard deviation of such values that is expected without them.
        clues: (n,) probability that what else is known of each is so unlike the others by chance.
    """

    def tail(tested: int, others: Indices) -> float:
        more_noise = max(float(noise[tested] ** 2 - np.mean(noise[others] ** 2)), 0.0)
        chance = moderated_tail(float(values[tested]), values[others], usual_spread, more_noise)
        if clues is None or chance > HARDLY:
            return chance
        return min(chance, combine_chances(chance, float(clues[tested])))

    return _search_outliers(values, tail)


def find_large_variances(variances: Array, freedom: int, usual: float) -> list[tuple[int, float]]:
    """Return the variances that are too large to belong to the others, as `find_outliers` does.

    Variances of things that are alike differ by chance and by themselves: they are distributed as F (Smyth).

    Args:
        variances: (n,), each of a sample with `freedom` degrees of freedom.
        freedom: of each.
        usual: the variance that is expected without outliers.
    """
    logs = np.log(np.maximum(variances, 1e-4 * usual))

    def tail(tested: int, others: Indices) -> float:
        middle = (float(logs[others].sum()) + LIKENESS_WEIGHT * math.log(usual)) / (len(others) + LIKENESS_WEIGHT)
        return fisher_tail(math.exp(logs[tested] - middle), freedom, LIKENESS)

    return _search_outliers(variances, tail)


def _search_outliers(values: Array, tail: Callable[[int, Indices], float]) -> list[tuple[int, float]]:
    """Return the outliers among values with their chances, from most outliers to fewest.

    Rosner, Percentage points for a generalized ESD many-outlier procedure, Technometrics 25:2, 1983; one-sided,
    corrected for the number of values and of searches.

    Args:
        values: (n,).
        tail: returns the probability that a value is so large among the others by chance.
    """
    order = np.argsort(-values, kind="stable")
    for count in range(min(MOST_OUTLIERS, len(values) - 4), 0, -1):
        chances = [
            (int(k), max(1.0 - FAMILIES * len(values) * tail(int(k), order[count:]), 0.0)) for k in order[:count]
        ]
        if chances[-1][1] >= CONFIDENCE:
            return [(k, chance) for k, chance in chances if chance >= CONFIDENCE]  # a clue may name the smallest alone
    return []
