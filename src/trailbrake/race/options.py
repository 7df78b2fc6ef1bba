"""The flags of `race`: how to run a day, and a day in a few words. Declarations: help imports it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from trailbrake.campaign.case_run import CampaignOptions

ScoringRule = Literal["best_lap", "finish"]
SEASON, SIM, LAPS = "season", "trend", 3  # where nothing else is said


@dataclass(frozen=True, kw_only=True)
class DayRunOptions(CampaignOptions):
    """How to run a race day.

    Attributes:
        db: file of the results; default races.sqlite in the folder of recordings.
        out: folder of recordings, reports and logs; default SEASON/DAY beside the results.
        check: run finished heats again and compare: exit code 1 where a result differs.
        report: write a report of each recording.
    """

    db: Path | None = None
    out: Path | None = None
    check: bool = False
    report: bool = True
    patience: float = 24.0 * 3600.0


@dataclass(frozen=True, kw_only=True)
class RaceDayOptions:
    """A race day in a few words.

    Attributes:
        entry: who races; repeatable. A driver's name, FILE.py, FILE.py:Class, policy:FILE, or a command line with
            {port} in it.
        track: where; repeatable. A track's name or file, or gen:SEED.
        sim: whose wire.
        car: a car's name or file.
        cars: entries that share a track at a time, where the wire allows it.
        laps: of each race.
        races: on each track.
        seed: of the first race; each further one has one more.
        host: options of the embedded simulator, KEY=VALUE as of `serve`.
        season: the same for the days of one leaderboard.
        day: its name; default: today's date.
        score: what gets points: the best lap of the day on each track, or the place in each race.
    """

    entry: tuple[str, ...] = ()
    track: tuple[str, ...] = ()
    sim: str = SIM
    car: str = ""
    cars: int = 1
    laps: int = LAPS
    races: int = 1
    seed: int = 0
    host: tuple[str, ...] = ()
    season: str = SEASON
    day: str = ""
    score: ScoringRule = "best_lap"
