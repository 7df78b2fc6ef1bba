"""The options of `trailbrake reference`; `--help` imports this module."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class ReferenceOptions:
    """A reference lap.

    Attributes:
        track: a track's name or file, or gen:SEED; a circuit.
        car: a car's name or file.
        line: a line file for this track and car to begin with; default: the line of least curvature.
        generations: of the search.
        count: cars that drive at once; even, 8 or more.
        seed: of the search.
        out: the line file; default reference-TRACK-CAR.csv.
    """

    track: str = "hartmoor"
    car: str = "gt3"
    line: Path | None = None
    generations: int = 48
    count: int = 32
    seed: int = 0
    out: Path | None = None
