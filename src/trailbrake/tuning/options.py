"""The flags of `tune`. Declarations: help imports it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from trailbrake.campaign.case_run import CampaignOptions


@dataclass(frozen=True, kw_only=True)
class TuneOptions(CampaignOptions):
    """A search for gains.

    Attributes:
        driver: a driver with Gains: name, FILE.py or FILE.py:Class.
        sim: whose wire to drive through.
        track: a track's name or file.
        cars: cars' names or files, with commas; the gains suit all.
        keep_to: what costs: coming near the edge (middle: for drivers in lane), or leaving the road (road: for racing
            lines).
        trials: sets of gains to try.
        seed: equal seeds try the same gains.
        only: gains to search, with commas; default: all but the speed.
        config: a file with the gains to begin with.
        out: the file to write; default DRIVER.toml in this folder.
        host: options of the embedded simulator, KEY=VALUE as of `serve`.
        batch: trials that are suggested at a time and drive side by side, which changes the result.
    """

    driver: str = "lane_keep"
    sim: str = "forza"
    track: str = "serpent_pass"
    cars: str = "hatchback"
    keep_to: Literal["middle", "road"] = "middle"
    trials: int = 50
    seed: int = 0
    only: str = ""
    config: Path | None = None
    out: Path | None = None
    host: tuple[str, ...] = ()
    batch: int = 1
