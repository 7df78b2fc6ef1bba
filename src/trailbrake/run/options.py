"""What can be asked of a drive and of a served world; the command line makes its flags from these."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from trailbrake.sims import registry

Speed = Literal["real", "max"]
# What a world of each kind is made of where nothing is named: track and car. A simulator's `spec.WORLD` says its kind.
DEFAULTS = {
    "car": ("hartmoor", "gt3"),
    "road": ("lakeside", "hatchback"),
    "miniature": ("clover", "miniature"),
}
DRIVER = "line_follow"  # drives where nobody is named, if a simulator's `spec.DRIVER` names no other


def world_kind(sim: str) -> str:
    """Return the kind of world behind the wire of `sim`, a key of DEFAULTS."""
    return str(getattr(registry.part(sim, "spec"), "WORLD", "car"))


def default_driver(sim: str) -> str:
    """Return who drives `sim` where nobody is named."""
    return str(getattr(registry.part(sim, "spec"), "DRIVER", DRIVER))


@dataclass(frozen=True, kw_only=True)
class DriveOptions:
    """A drive.

    Attributes:
        sim: whose wire to drive through; `trailbrake sims` lists them.
        driver: a driver's name, or FILE.py, or FILE.py:Class, or FILE.fmu, or policy:FILE.npz. Not named: line_follow;
            where all there is is a camera, lane_sign.
        track: a track's name or file, or gen:SEED for a random circuit; with @wet behind it, in the wet. Not named:
            hartmoor, on public roads lakeside, in the miniature world clover; live, the game's own, where its files
            tell it.
        car: a car's name or file. Not named: gt3 or hatchback; live, the game's own, where its files tell it.
        cars: how many cars to drive at once, each with a driver of its own; the first is the one that is scored.
        laps: how many laps to drive; 0 = until stopped.
        seconds: stop after so many seconds of simulator time; 0 = no limit.
        seed: seed of the embedded world; nothing in it is random yet, so all seeds drive alike.
        live: drive the real game (or a served world) at its public doors instead of the embedded world.
        speed: pace of the embedded world: `max` steps it in lockstep as fast as the machine allows, `real` runs it
            in a process of its own in real time.
        out: folder for the recording and the report.
        report: whether to write the report when the drive ends.
        pictures: whether the recording keeps what a camera shows: some 8 MB a minute.
        log: a folder for the drive as `driving_log.csv` and `IMG/` as well, as camera simulators record; one that is
            there is added to.
        config: a TOML file with gains for the driver, as `trailbrake tune` writes it.
        host: options of the embedded simulator, KEY=VALUE as `serve` takes them: --host steering=pad.
    """

    sim: str = "assetto"
    driver: str = ""
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
    pictures: bool = True
    log: Path | None = None
    config: Path | None = None
    host: tuple[str, ...] = ()

    def named(self) -> "DriveOptions":
        """Return the options with a track and a car: those of the embedded world where none are named."""
        track, car = DEFAULTS[world_kind(self.sim)]
        return replace(self, track=self.track or track, car=self.car or car)


@dataclass(frozen=True, kw_only=True)
class WorldOptions:
    """An embedded world to serve.

    Attributes:
        track: a track's name or file, or gen:SEED for a random circuit; with @wet behind it, in the wet. Not named:
            hartmoor, on public roads lakeside, in the miniature world clover.
        car: a car's name or file. Not named: gt3, on public roads hatchback. The miniature world has one.
        seed: seed of the world: where parked cars stand in the miniature world; nothing else is random yet.
        seconds: serve for so many seconds of wall time; 0 = until stopped.
        speed: `real` time, or as fast as the machine and the clients allow (`max`); left out: what suits the simulator.
    """

    track: str = ""
    car: str = ""
    seed: int = 0
    seconds: float = 0.0
    speed: Speed | None = None

    def named(self, sim: str) -> "WorldOptions":
        """Return the options with a track and a car: those of the world of `sim` where none are named."""
        track, car = DEFAULTS[world_kind(sim)]
        return replace(self, track=self.track or track, car=self.car or car)


@dataclass(frozen=True, kw_only=True)
class LearnOptions:
    """A road to map.

    Attributes:
        source: a recording to map instead of driving: the road must have been driven slowly by `survey`.
        sim: whose wire to drive through.
        track: the embedded world's track, which the map does not look at; a real game has its own.
        car: the embedded world's car.
        driver: who drives.
        width: m, the road's width from edge to edge where the simulator does not tell the place across it.
        metres: stop after so many metres; 0 = back at the start, at the end of an embedded road, or when stopped.
        live: drive the real game instead of the embedded world.
        config: a TOML file with gains for the driver.
        host: options of the embedded simulator, KEY=VALUE as `serve` takes them.
        out: the track file to write; default TRACK_map.csv, or that of the recording's name.
    """

    source: Path | None = None
    sim: str = "forza"
    track: str = "serpent_pass"
    car: str = "hatchback"
    driver: str = "survey"
    width: float = 8.0
    metres: float = 0.0
    live: bool = False
    config: Path | None = None
    host: tuple[str, ...] = ()
    out: Path | None = None


@dataclass(frozen=True, kw_only=True)
class TuneOptions:
    """A search for gains.

    Attributes:
        driver: a driver's name, or FILE.py, or FILE.py:Class; its class has Gains.
        sim: whose wire to drive through.
        track: a track's name or file.
        cars: cars' names or files, with commas between; the gains are to be good for all of them.
        trials: how many sets of gains to try.
        seed: of the search: equal seeds try the same gains.
        only: gains to search, with commas between; all of them but the speed where left out.
        config: a file with the gains to begin with.
        out: the file to write; default DRIVER.toml in this folder.
        host: options of the embedded simulator, KEY=VALUE as `serve` takes them.
    """

    driver: str = "lane_keep"
    sim: str = "forza"
    track: str = "serpent_pass"
    cars: str = "hatchback"
    trials: int = 50
    seed: int = 0
    only: str = ""
    config: Path | None = None
    out: Path | None = None
    host: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """A check of the way to a simulator.

    Attributes:
        sim: whose wire.
        track: the embedded world's track.
        car: the embedded world's car.
        live: check the real game (or a served world) instead of the embedded world.
        pad: with --live, how the controls go out, as `drive --live` takes it.
        listen: with --live, where telemetry comes in; left out: the simulator's usual place.
    """

    sim: str = "forza"
    track: str = "proving_ground"
    car: str = "hatchback"
    live: bool = False
    pad: str = "auto"
    listen: str = ""
