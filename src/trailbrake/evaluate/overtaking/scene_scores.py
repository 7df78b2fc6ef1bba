"""Figures of scenes: how often a driver passed and touched, with 95 % intervals, and the times that were lost. Pure."""

import math
import statistics
from collections.abc import Sequence

from trailbrake.evaluate.overtaking.scene_drive import SceneResult
from trailbrake.json_types import JsonObject

Z = statistics.NormalDist().inv_cdf(0.975)  # standard deviations, within which are 95 %


def wilson_interval(hits: int, count: int) -> tuple[float, float]:
    """Return the 95 % interval of a share: Wilson, J. Am. Stat. Assoc. 22 (1927); (0, 1) of nothing.

    Args:
        hits: times that it happened.
        count: of how many.
    """
    if count == 0:
        return 0.0, 1.0
    share, spread = hits / count, Z * Z / count
    middle = (share + 0.5 * spread) / (1.0 + spread)
    reach = Z * math.sqrt(share * (1.0 - share) / count + 0.25 * spread / count) / (1.0 + spread)
    return max(middle - reach, 0.0), min(middle + reach, 1.0)


def score_scenes(results: Sequence[SceneResult]) -> JsonObject:
    """Return the figures of the scenes of one class and driver; those with an error count as not passed."""
    count, driven = len(results), [result for result in results if not result.error]

    def share(hits: int) -> JsonObject:
        low, high = wilson_interval(hits, count)
        return {"count": hits, "share": hits / count if count else math.nan, "low": low, "high": high}

    return {
        "scenes": count, "errors": count - len(driven),
        "passed": share(sum(result.passed for result in driven)),
        "contact": share(sum(result.contact for result in driven)),
        "off_road": share(sum(result.off_road_s > 0.0 for result in driven)),
        "after_s": _median([result.after_s for result in driven if result.passed]),
        "lost_s": _median([result.lost_s for result in driven]),
        "rival_lost_s": _median([result.rival_lost_s for result in driven]),
        "ratio": _median([result.ratio for result in driven]),
    }  # fmt: skip


def _median(values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else math.nan
