"""Options of drives and of served worlds; the command line makes its flags of these."""

from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Literal

from trailbrake.driving.goals import make_drive_goal
from trailbrake.driving.spec import (
    UNKNOWN_CAR,
    WORLD_DEFAULTS,
    AnySite,
    CarSpec,
    DriveSpec,
    EmbeddedSite,
    KeepSpec,
    LiveSite,
    Pace,
)
from trailbrake.errors import UsageError
from trailbrake.simulator import Speed, WorldKind

ViewKind = Literal["none", "page", "window"]


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

    def make_spec(self, live: object = None) -> DriveSpec:
        """Return the drive as data.

        Args:
            live: options of the wire's client end; None for the simulator's defaults.

        Raises:
            UsageError: a live drive with properties of a world.
        """
        site: AnySite
        options = {} if live is None else list_changes(live)
        places = {"car": "", "track": ""}  # of the world, where it has not what the driver gets
        if self.live:
            if self.world:
                raise UsageError("a live simulator has a world of its own", where=f"--world {self.world[0]}",
                                 hint="leave --world or --live out")  # fmt: skip
            site = LiveSite(sim=self.sim, options=options, camera=self.camera, pace=self.pace)
        else:
            conditions = []
            for pair in self.world:
                name, equals, value = pair.partition("=")
                if equals and name in places:
                    places[name] = value
                else:
                    conditions.append(pair)
            site = EmbeddedSite(
                sim=self.sim, track=places["track"] or self.track, car=places["car"] or self.car, seed=self.seed,
                speed=self.speed, options=options, host=self.host, conditions=tuple(conditions), camera=self.camera,
                pace=self.pace,
            )  # fmt: skip
        car = CarSpec(
            driver=self.driver, config=_text(self.config), gain=self.gain, memory=self.memory, line=_text(self.line),
            cached_line=self.cached_line,
            track=self.track if self.live or places["track"] else "",
            car=self.car if self.live or places["car"] or self.car == UNKNOWN_CAR else "",
        )  # fmt: skip
        keep = KeepSpec(
            out=_text(self.out), report=self.report, pictures=self.pictures, part_minutes=self.part_minutes,
            part_megabytes=self.part_megabytes, keep_parts=self.keep_parts, log=_text(self.log), signals=self.signals,
        )  # fmt: skip
        goal = make_drive_goal(self.laps, self.seconds)
        return DriveSpec(site=site, cars=(car,) * self.cars, goal=goal, keep=keep)


def _text(path: Path | None) -> str:
    return "" if path is None else str(path)


def list_changes(options: object) -> dict[str, Any]:
    """Return the values of a dataclass of options that differ from its defaults, as plain values."""
    assert is_dataclass(options)
    assert not isinstance(options, type)
    changed = {item.name: getattr(options, item.name) for item in fields(options)}
    default = type(options)()
    return {
        name: str(value) if isinstance(value, Path) else value
        for name, value in changed.items()
        if value != getattr(default, name)
    }


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
