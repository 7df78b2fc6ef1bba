"""`LearnerBatch`: what all batches of learners have in common, and the restart of episodes in the same step."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trailbrake.errors import UsageError

Ints = NDArray[np.int64]


class LearnerBatch(Protocol):
    """Learners in step with each other, NumPy in and NumPy out: `RaceBatch`, `CameraBatch`, `LinkRace`.

    Attributes:
        n: number of learners.
    """

    n: int

    def reset(self, seed: int | Sequence[int] | None = None) -> NDArray[Any]:
        """Start all episodes; return the observations (n, ...)."""

    def step(self, actions: ArrayLike) -> tuple[NDArray[Any], NDArray[np.float64], Ints]:
        """Make one step; return new arrays of observations (n, ...), rewards (n,) and ends (n,).

        An end is 0 while the episode goes on, k > 0 for the k-th end of the environment, -1 at the time limit.
        """

    def restart(self, learners: Ints, out: NDArray[Any]) -> None:
        """Restart the episodes of some learners; write their rows of the observations `out`."""

    def end_name(self, code: int) -> str:
        """Return the name of an end by its code from `step`; "" for 0, "limit" for -1."""


def restart_ended(
    batch: LearnerBatch, out: NDArray[Any], ends: Ints, figures: Mapping[str, NDArray[np.float64]]
) -> dict[str, Any]:
    """Restart the episodes that a step ended, and return its info as Gymnasium's SAME_STEP mode wants it.

    Args:
        batch: the learners.
        out: (n, ...) observations of the step; those of restarted learners are replaced by their first.
        ends: (n,) of the step.
        figures: more figures of the episodes, (n,) each.

    Returns:
        "final_obs" (n,) of last observations or None; "final_info" with "why" (n,) names of ends, and `figures` with 0
        for episodes that go on; and the mask of each under its name with a leading underscore.
    """
    mask = ends != 0
    ended = np.flatnonzero(mask)
    final = np.full(len(ends), None, object)
    names = np.full(len(ends), "", object)
    for i, row, code in zip(ended.tolist(), out[ended], ends[ended].tolist(), strict=True):
        final[i] = row
        names[i] = batch.end_name(code)
    info: dict[str, Any] = {"why": names, "_why": mask}
    for name, values in figures.items():
        info |= {name: values * mask, f"_{name}": mask}
    batch.restart(ended, out)
    return {"final_obs": final, "_final_obs": mask, "final_info": info, "_final_info": mask}


def refuse_reset_options(options: object) -> None:
    """Raise UsageError for options of a `reset` that has none."""
    if options:
        raise UsageError("no such option of a reset", where="options", expected="none", got=str(options),
                         hint="options of an environment go to `make`")  # fmt: skip
