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
        step: m between the stages of the optimal control problem; 1 to 15.
        margin: m that the car's side keeps off the road's edge or, with kerbs, off the end of a kerb.
        kerbs: whether the outer wheels may use the kerbs. The inner ones stay on the road, so that a lap counts.
        starts: first guesses to try on a coarse mesh, 1 to 3; the quickest is refined.
        check: whether to replay the controls in a plant at steps below 1 ms, and to time the minimum-curvature line
            under the same model.
        fresh: whether to solve again what is kept from an earlier call with the same settings.
        out: the line file; its report is beside it. Drives on this track with this car use the line without being given
            the file.
        report: whether to write the report.
    """

    track: str = "hartmoor"
    car: str = "gt3"
    step: float = STEP
    margin: float = KERB_MARGIN
    kerbs: bool = True
    starts: int = 1
    check: bool = False
    fresh: bool = False
    out: Path | None = None
    report: bool = True
