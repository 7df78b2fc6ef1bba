"""The options of `trailbrake coach`; `--help` imports this module."""

from dataclasses import dataclass
from pathlib import Path

ROAD_WIDTH = 3.0  # m, of a road that is known from laps alone: a wider one has lines that were not driven


@dataclass(frozen=True)
class CoachOptions:
    """What `trailbrake coach` is to do.

    Attributes:
        track: a track's name or file; default: as recorded, else the road of the laps.
        car: a car's name or file; default: learned from the laps.
        width: m, width of a road made from the laps.
        limit: plan the limit lap by optimal control (extra `limit`) and drive it: minutes, once. Off: the limit of the
            default line.
        out: the page; default NAME_coach.html beside the first recording.
        page: write the page.
    """

    track: str = ""
    car: str = ""
    width: float = ROAD_WIDTH
    limit: bool = True
    out: Path | None = None
    page: bool = True
