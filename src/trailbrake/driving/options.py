"""Options of drives and of served worlds; the command line makes its flags of these."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from trailbrake.simulator import Speed, WorldKind

Pace = Literal["simulator", "driver"]  # who sets the pace of real time
UNKNOWN_CAR = "unknown"  # as --car: the driver gets no car file
ViewKind = Literal["none", "page", "window"]

# Track and car of a world of each kind where the user names none.
WORLD_DEFAULTS: dict[WorldKind, tuple[str, str]] = {
    "car": ("hartmoor", "gt3"),
    "road": ("lakeside", "hatchback"),
    "miniature": ("clover", "miniature"),
}


@dataclass(frozen=True, kw_only=True)
class DriveOptions:
    """A drive.

    Attributes:
        sim: whose wire to drive through; `trailbrake sims` lists them; or FILE.py, or FILE.py:NAME.
        driver: a driver's name, or FILE.py, or FILE.py:Class, or FILE.fmu, or policy:FILE.npz. Not named: line_track,
            or line_follow where the car's file is an estimate that no laps have verified; in Formula Trend lane_sign;
            each simulator names its own. Live, on a road that is not known, a driver that needs a road is refused.
        track: a track's name or file, or gen:SEED for a random circuit; with @wet behind it, in the wet. Not named:
            hartmoor, on public roads lakeside, in the miniature world clover; live, the game's own, where its files
            say so, or else none: the road is unmapped, nothing is planned and no line is scored.
        car: a car's name or file, or random:SEED. Not named: gt3 or hatchback; live, the game's own, where its files
            tell it, or else none. unknown: the driver gets no car file, as in a game; with --world car=CAR.
        line: a file of `trailbrake line` for this track and car: drivers follow it instead of planning a line.
        cached_line: whether drivers follow the line that `trailbrake line` has kept for this track and car, if any.
        cars: how many cars to drive at once, each with a driver of its own; the first is the one that is scored.
        laps: how many laps to drive; 0 = until stopped.
        seconds: stop after so many seconds of simulator time; 0 = no limit.
        seed: seed of the embedded world: where parked cars stand in the miniature world; nothing else is random yet.
        live: drive the real game (or a served world) at its public doors instead of the embedded world.
        speed: pace of the embedded world: `max` steps it in lockstep as fast as the machine allows, `real` runs it
            in a process of its own in real time.
        out: folder for the recording and the report.
        report: whether to write the report when the drive ends.
        pictures: whether the recording keeps what a camera shows: some 8 MB a minute.
        part_minutes: minutes of simulator time in one file of the recording; a longer drive goes on in another file at
            the next end of a lap; 0 = without a limit.
        part_megabytes: the same by the size of the file, MB.
        keep_parts: how many files of the recording to keep: the first and the newest ones, the others are deleted
            while it drives; 0 = all.
        log: a folder for the drive as `driving_log.csv` and `IMG/` as well, as camera simulators record; one that is
            there is added to.
        camera: pictures for a wire that has none: window:TITLE captures the game's window, world draws the embedded
            world; then ,crop=X,Y,W,H ,size=WxH ,rate=HZ as wanted.
        config: a TOML file with gains for the driver, as `trailbrake tune` writes it.
        gain: constants of the driver, KEY=VALUE, over those of the file: --gain speed=15; repeatable. Without Gains of
            its own, the numbers that its constructor takes; of an FMU its parameters.
        memory: a file that keeps what the driver learns of the car's grip and from lap to lap, for each driver,
            simulator, car and track: taken up at the start, written at the end. Learning must be on: --gain learn=1,
            or a car file whose grip is an estimate. `auto`: driver_memory.json in the user's data folder. Not named:
            what is learned is lost with the drive.
        host: options of the embedded simulator, KEY=VALUE as `serve` takes them: --host steering=pad.
        world: properties of the embedded world that no driver is informed of, KEY=VALUE; repeatable. car and track:
            what the world has, where it is not what --car and --track say to the driver. grip, grip_lap, rain_after,
            rain_seconds, fuel_rate: what changes during the drive, see docs/evaluate.md.
        signals: values of the simulator's own to record and show besides those that the driver needs: names of
            docs/signals.md, or patterns as `beamng.wheel_*`, with commas between; `all` for every one.
        pace: who sets the pace of real time: the `simulator`, or the `driver`: then the simulator waits until each of
            its samples has been answered.
    """

    sim: str = "assetto"
    driver: str = ""
    track: str = ""
    car: str = ""
    line: Path | None = None
    cached_line: bool = True
    cars: int = 1
    laps: int = 2
    seconds: float = 0.0
    seed: int = 0
    live: bool = False
    speed: Speed = "max"
    out: Path | None = None
    report: bool = True
    pictures: bool = True
    part_minutes: float = 60.0
    part_megabytes: float = 512.0
    keep_parts: int = 0
    log: Path | None = None
    camera: str = ""
    config: Path | None = None
    gain: tuple[str, ...] = ()
    memory: str = ""
    host: tuple[str, ...] = ()
    world: tuple[str, ...] = ()
    signals: tuple[str, ...] = ()
    pace: Pace = "simulator"

    def with_defaults(self, world: WorldKind) -> "DriveOptions":
        """Return the options with a track and a car: those of an embedded world of this kind where none are named."""
        track, car = WORLD_DEFAULTS[world]
        return replace(self, track=self.track or track, car=self.car or car)


@dataclass(frozen=True, kw_only=True)
class WorldOptions:
    """An embedded world to serve.

    Attributes:
        track: a track's name or file, or gen:SEED for a random circuit; with @wet behind it, in the wet. Not named:
            hartmoor, on public roads lakeside, in the miniature world clover.
        car: a car's name or file, or random:SEED. Not named: gt3, on public roads hatchback. The miniature world has
            one.
        seed: seed of the world: where parked cars stand in the miniature world; nothing else is random yet.
        seconds: serve for so many seconds of wall time; 0 = until stopped.
        speed: `real` time, or as fast as the machine and the clients allow (`max`); left out: what suits the simulator.
        view: the view from the first car: page publishes it for `drive --live --camera world`, window also shows it
            in a window, which `--camera window:TITLE` can capture.
        world: changes during the drive, KEY=VALUE; repeatable: grip, grip_lap, rain_after, rain_seconds, fuel_rate, see
            docs/evaluate.md. car and track take the place of --car and --track.
    """

    track: str = ""
    car: str = ""
    seed: int = 0
    seconds: float = 0.0
    speed: Speed | None = None
    view: ViewKind = "none"
    world: tuple[str, ...] = ()

    def with_defaults(self, world: WorldKind) -> "WorldOptions":
        """Return the options with a track and a car: those of a world of this kind where none are named."""
        track, car = WORLD_DEFAULTS[world]
        return replace(self, track=self.track or track, car=self.car or car)
