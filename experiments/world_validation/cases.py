"""All cases of the validation page, in its order."""

from collections.abc import Callable
from pathlib import Path

from world_validation import comparison, lossless, stepping, straight_line, turning
from world_validation import reference_lap as lap
from world_validation.case import Case


def closed_forms() -> tuple[Callable[[], Case], ...]:
    """Return the cases that need nothing from outside."""
    return (
        straight_line.braking, straight_line.top_speed, straight_line.in_gear,
        turning.steady_circle, turning.step_steer, turning.load_transfer,
        lossless.energy, stepping.convergence, stepping.repeats,
    )  # fmt: skip


def reference_lap(shared: Path) -> Case:
    """Return the published lap, in the folder `shared`."""
    return lap.lap(shared)


def independent_model(has_remarks: bool) -> Case:
    """Return the comparison with commonroad-vehicle-models, of the extra "test"."""
    return comparison.independent(has_remarks)
