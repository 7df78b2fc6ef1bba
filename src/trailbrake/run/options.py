"""Options of the verbs that drive many times or learn; the command line makes its flags of these."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from trailbrake.campaign.options import CampaignOptions


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
        again: drive again what an earlier learning has driven.
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
        again: drive again what an earlier learning has driven.
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
class TuneOptions(CampaignOptions):
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
            number of processes; --jobs, --on and --patience are of batches.
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
