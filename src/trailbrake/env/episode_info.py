"""What an info says of episodes that have ended: the end's name, the lap time and other figures."""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Ints
from trailbrake.env.batch import LearnerBatch
from trailbrake.env.options import RaceOptions
from trailbrake.observe.features import Feature


class MeasuredBatch(LearnerBatch, Protocol):
    """Learners whose features can be read: `RaceBatch`, `LinkRace`.

    Attributes:
        options: of the environment.
    """

    options: RaceOptions

    def feature_values(self, feature: Feature) -> NDArray[np.float64]:
        """Return a feature of all learners, (n,)."""


def measure_episodes(batch: MeasuredBatch) -> dict[str, NDArray[Any]]:
    """Return figures of all episodes after a step, (n,) each, of which an info shows those of episodes that ended.

    Returns:
        "time" (s) and "distance" (m along the road) since the start; "progress", in lengths of the road; "is_success",
        whether that is 1 or more; and "lap_time" (s, interpolated), where this step has brought it to 1, else NaN.
    """
    time, distance, laps, gained = map(
        batch.feature_values, (Feature.TIME, Feature.DISTANCE, Feature.LAPS, Feature.PROGRESS)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (laps - 1.0) * distance / (laps * gained)  # of this step, after the end of the lap
    crossed = (laps >= 1.0) & (share < 1.0)
    lap_time = np.where(crossed, time - share * batch.options.period, np.nan)
    return {"time": time, "distance": distance, "progress": laps, "is_success": laps >= 1.0, "lap_time": lap_time}


def describe_end(
    batch: LearnerBatch, code: int, figures: Mapping[str, NDArray[Any]], learner: int = 0
) -> dict[str, Any]:
    """Return the info of a learner whose episode ended: the end's name as "why", and its `figures` as numbers."""
    return {"why": batch.end_name(code), **{name: values[learner].item() for name, values in figures.items()}}


def describe_ends(batch: LearnerBatch, ends: Ints, figures: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Return the info of a step as vector environments return it.

    Args:
        batch: the learners.
        ends: (n,) of the step.
        figures: of the episodes, (n,) each.

    Returns:
        "why" (n,) names of ends, and the figures, 0 or False for episodes that go on; and the mask of each under its
        name with a leading underscore. Empty where no episode has ended.
    """
    mask = ends != 0
    if not mask.any():
        return {}
    names = np.array([batch.end_name(code) for code in ends.tolist()], object)
    return {
        key: part for name, values in {"why": names, **figures}.items()
        for key, part in ((name, values if values is names else np.where(mask, values, values.dtype.type(0))),
                          (f"_{name}", mask))
    }  # fmt: skip
