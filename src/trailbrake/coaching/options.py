"""The options of `trailbrake coach`; `--help` imports this module."""

from dataclasses import dataclass
from pathlib import Path

ROAD_WIDTH = 3.0  # m, of a road that is known from laps alone: a wider one has lines that were not driven


@dataclass(frozen=True)
class CoachOptions:
    """What `trailbrake coach` is to do.

    Attributes:
        track: the road: a track's name or file; left out: the one that the recordings name, else the road of the laps.
        car: the car: a car's name or file; left out: it is learned from the laps.
        width: m, of a road that is made from the laps, edge to edge, with their line in the middle.
        limit: plan the limit lap by optimal control and drive it: minutes, once for a car and a road; needs the extra
            `limit` for the line. Without, the limit is that of the default line, and is not driven.
        out: the page to write; default beside the first recording, as NAME_coach.html.
        page: write the page.
    """

    track: str = ""
    car: str = ""
    width: float = ROAD_WIDTH
    limit: bool = True
    out: Path | None = None
    page: bool = True
