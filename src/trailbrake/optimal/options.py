"""The options of `trailbrake line`; `--help` imports this module."""

from dataclasses import dataclass
from pathlib import Path

from trailbrake.planning.path_margins import KERB_MARGIN

STEP = 4.0  # m between stages, unless another is given


@dataclass(frozen=True)
class LineOptions:
    """A minimum-time line.

    Attributes:
        track: a track's name or file, or gen:SEED.
        car: a car's name or file.
        step: m between stages, 1 to 15.
        margin: m from the car's side to the road's edge or a kerb's end.
        kerbs: let the outer wheels use the kerbs.
        starts: first guesses, 1 to 3; the quickest is refined.
        fresh: solve again instead of taking the kept line.
        out: the line file, with its report beside it. Drives use the line without it.
        report: write the report.
    """

    track: str = "hartmoor"
    car: str = "gt3"
    step: float = STEP
    margin: float = KERB_MARGIN
    kerbs: bool = True
    starts: int = 1
    fresh: bool = False
    out: Path | None = None
    report: bool = True
