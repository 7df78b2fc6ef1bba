"""The options of `trailbrake line`; `--help` imports this module."""

from dataclasses import dataclass
from pathlib import Path

STEP = 4.0  # m between stages, unless another is given


@dataclass(frozen=True)
class LineOptions:
    """A minimum-time line.

    Attributes:
        track: a track's name or file, or gen:SEED.
        car: a car's name or file.
        step: m between the stages of the optimal control problem; 1 to 15.
        margin: m between the car's side and the road's edge.
        starts: first guesses to try on a coarse mesh, 1 to 3; the quickest is refined.
        out: the line file; its report is beside it.
        report: whether to write the report.
    """

    track: str = "hartmoor"
    car: str = "gt3"
    step: float = STEP
    margin: float = 0.6
    starts: int = 1
    out: Path | None = None
    report: bool = True
