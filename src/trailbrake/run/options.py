"""What can be asked of a drive and of a served world; the command line makes its flags from these."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

Speed = Literal["real", "max"]
DEFAULT_TRACK, DEFAULT_CAR = "hartmoor", "gt3"


@dataclass(frozen=True, kw_only=True)
class DriveOptions:
    """A drive.

    Attributes:
        sim: whose wire to drive through; `trailbrake sims` lists them.
        driver: a driver's name, or FILE.py, or FILE.py:Class.
        track: a track's name or file, or gen:SEED for a random circuit; with @wet behind it, in the wet. Not named:
            hartmoor; live, the game's own, where its files tell it.
        car: a car's name or file. Not named: gt3; live, the game's own, where its files tell it.
        cars: how many cars to drive at once, each with a driver of its own; the first is the one that is scored.
        laps: how many laps to drive; 0 = until stopped.
        seconds: stop after so many seconds of simulator time; 0 = no limit.
        seed: seed of the embedded world; nothing in it is random yet, so all seeds drive alike.
        live: drive the real game (or a served world) at its public doors instead of the embedded world.
        speed: pace of the embedded world: `max` steps it in lockstep as fast as the machine allows, `real` runs it
            in a process of its own in real time.
        out: folder for the recording and the report.
        report: whether to write the report when the drive ends.
    """

    sim: str = "assetto"
    driver: str = "line_follow"
    track: str = ""
    car: str = ""
    cars: int = 1
    laps: int = 2
    seconds: float = 0.0
    seed: int = 0
    live: bool = False
    speed: Speed = "max"
    out: Path | None = None
    report: bool = True

    def named(self) -> "DriveOptions":
        """Return the options with a track and a car: those of the embedded world where none are named."""
        return replace(self, track=self.track or DEFAULT_TRACK, car=self.car or DEFAULT_CAR)


@dataclass(frozen=True, kw_only=True)
class WorldOptions:
    """An embedded world to serve.

    Attributes:
        track: a track's name or file, or gen:SEED for a random circuit; with @wet behind it, in the wet.
        car: a car's name or file.
        seed: seed of the world; nothing in it is random yet.
        seconds: serve for so many seconds of wall time; 0 = until stopped.
        speed: `real` time, or as fast as the machine and the clients allow (`max`); left out: what suits the simulator.
    """

    track: str = DEFAULT_TRACK
    car: str = DEFAULT_CAR
    seed: int = 0
    seconds: float = 0.0
    speed: Speed | None = None
