"""Options of drives, served worlds and the other verbs; the command line makes its flags of these."""

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


@dataclass(frozen=True, kw_only=True)
class LearnOptions:
    """A road to map.

    Attributes:
        source: a recording to map instead of driving: the road must have been driven slowly by `survey`.
        sim: whose wire to drive through.
        track: the embedded world's track, which the map does not look at; not named: serpent_pass. A real game has its
            own; then this is only the name of the files.
        car: the embedded world's car; not named: hatchback.
        driver: who drives.
        left_edge: a recording of a slow drive along the left edge of the road, the left wheels on its line; with
            `right_edge` in place of `source`, for wires that do not supply where the road is.
        right_edge: the same along the right edge, in the same direction.
        width: m, the road's width from edge to edge where the simulator does not tell the place across it.
        metres: stop after so many metres; 0 = back at the start, at the end of an embedded road, or when stopped.
        live: drive the real game instead of the embedded world.
        config: a TOML file with gains for the driver.
        gain: constants of the driver, KEY=VALUE, over those of the file; repeatable.
        host: options of the embedded simulator, KEY=VALUE as `serve` takes them.
        out: the track file to write; default TRACK_map.csv, live SIM_map.csv, or that of the recording's name.
        verify: drive laps with the car file before it is written, and lower its grip until the car stays on the road.
        again: begin anew, where an earlier learning has left a journal of what it has driven.
    """

    source: Path | None = None
    sim: str = "forza"
    track: str = ""
    car: str = ""
    driver: str = "survey"
    left_edge: Path | None = None
    right_edge: Path | None = None
    width: float = 8.0
    metres: float = 0.0
    live: bool = False
    config: Path | None = None
    gain: tuple[str, ...] = ()
    host: tuple[str, ...] = ()
    out: Path | None = None
    verify: bool = True
    again: bool = False

    def with_defaults(self) -> "LearnOptions":
        """Return the options with a track and a car: those of the embedded world where none are named, live none."""
        if self.live or self.source is not None or self.left_edge is not None:
            return self
        return replace(self, track=self.track or "serpent_pass", car=self.car or "hatchback")


@dataclass(frozen=True, kw_only=True)
class LearnCarOptions:
    """A car to learn.

    Attributes:
        source: recordings to learn from instead of driving: by anybody, of one car; repeatable.
        sim: whose wire to drive through.
        track: the embedded world's track; not named: pinegrove. Live, the game's own.
        map: the road as the drivers know it, a track file as `learn track` makes one; left out: the track itself.
        car: the embedded world's car, which nothing of this reads; not named: hatchback.
        seconds: of driving, at most.
        programme: s of it for the test programme, before the laps.
        laps: stages of laps with what was learned so far, 0 to 3.
        verify: drive laps with the file at last, and lower its grip until the car stays on the road in them.
        live: drive the real game instead of the embedded world.
        host: options of the embedded simulator, KEY=VALUE as `serve` takes them.
        world: properties of the embedded world, KEY=VALUE as `drive` takes them.
        out: the car file to write; the report is beside it, as .html. Default TRACK_learned.toml, else learned.toml.
        again: begin anew, where an earlier learning has left a journal of what it has driven.
    """

    source: tuple[Path, ...] = ()
    sim: str = "forza"
    track: str = ""
    map: Path | None = None
    car: str = ""
    seconds: float = 600.0
    programme: float = 270.0
    laps: int = 3
    verify: bool = True
    live: bool = False
    host: tuple[str, ...] = ()
    world: tuple[str, ...] = ()
    out: Path | None = None
    again: bool = False

    def with_defaults(self) -> "LearnCarOptions":
        """Return the options with a track and a car: those of the embedded world where none are named, live none."""
        if self.live or self.source:
            return self
        return replace(self, track=self.track or "pinegrove", car=self.car or "hatchback")


@dataclass(frozen=True, kw_only=True)
class TuneOptions:
    """A search for gains.

    Attributes:
        driver: a driver's name, or FILE.py, or FILE.py:Class; its class has Gains.
        sim: whose wire to drive through.
        track: a track's name or file.
        cars: cars' names or files, with commas between; the gains are to be good for all of them.
        keep_to: middle: coming near the edge has a price, for a driver that keeps in lane; road: leaving the road
            has, for a driver on a racing line.
        trials: how many sets of gains to try.
        seed: of the search: equal seeds try the same gains.
        only: gains to search, with commas between; all of them but the speed where left out.
        config: a file with the gains to begin with.
        out: the file to write; default DRIVER.toml in this folder.
        host: options of the embedded simulator, KEY=VALUE as `serve` takes them.
        batch: trials that are suggested at a time and drive side by side. What is found depends on it, and not on the
            number of processes.
        jobs: with --batch above 1, trials to drive at a time, each in a process; 0 = one per two cores.
        on: with --batch above 1, where trials are driven: left out, on this machine; ray = on the Ray cluster of this
            machine or a new one; ray://HOST:PORT = on another; see docs/scale.md.
        patience: with --batch above 1, wall time after which a trial that does not end is given up, s.
        mirror: folder or URL (s3://BUCKET/FOLDER) that gets a copy of the file and of the trials; see docs/scale.md.
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
    jobs: int = 0
    on: str = ""
    patience: float = 3600.0
    mirror: str = ""


@dataclass(frozen=True, kw_only=True)
class PadCheckOptions:
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
