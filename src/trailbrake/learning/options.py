"""The flags of `learn track` and `learn car`. Declarations: help imports it."""

from dataclasses import dataclass, replace
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class LearnOptions:
    """A road to map.

    Attributes:
        source: map this instead of driving: a recording, or a GPX or KML file; repeatable: one road of all.
        sim: whose wire to drive through.
        track: the embedded world's track; default serpent_pass. Live, only the name of the files.
        car: the embedded world's car; default hatchback.
        driver: who drives.
        left_edge: a recording of a slow drive with the left wheels on the road's left edge; with `right_edge`.
        right_edge: the same along the right edge, in the same direction.
        width: m, the road's width where the simulator supplies no place across it.
        metres: m to drive; 0 = a lap, an embedded road, or until stopped.
        live: drive the real game instead of the embedded world.
        config: a TOML file with gains for the driver.
        gain: constants of the driver, KEY=VALUE, over those of the file; repeatable.
        host: options of the embedded simulator, KEY=VALUE as of `serve`.
        out: the track file; default TRACK_map.csv, live SIM_map.csv, or by the recording's name.
        verify: drive laps with the car file, and lower its grip until the car stays on the road.
        again: drive again what an earlier learning has driven.
    """

    source: tuple[Path, ...] = ()
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

    @property
    def is_drawn(self) -> bool:
        """Whether the map is made from recordings."""
        return bool(self.source) or self.left_edge is not None

    @property
    def names_drive(self) -> bool:
        """Whether there is something to drive besides recordings: a game, or a track of the embedded world."""
        return self.live or bool(self.track)

    def with_defaults(self) -> "LearnOptions":
        """Return the options with a track and a car: those of the embedded world where none are named, live none."""
        if self.live or (self.is_drawn and not self.track):
            return self
        return replace(self, track=self.track or "serpent_pass", car=self.car or "hatchback")


@dataclass(frozen=True, kw_only=True)
class LearnCarOptions:
    """A car to learn.

    Attributes:
        source: recordings of one car, by any driver, to learn from instead of driving; repeatable.
        sim: whose wire to drive through.
        track: the embedded world's track; default pinegrove. Live, the game's own.
        map: the road as drivers know it, a track file of `learn track`; default: the track itself.
        car: the embedded world's car; default hatchback.
        seconds: s of driving at most.
        programme: s of these for the test programme.
        laps: stages of laps with what was learned, 0 to 3.
        verify: drive laps with the car file, and lower its grip until the car stays on the road.
        live: drive the real game instead of the embedded world.
        host: options of the embedded simulator, KEY=VALUE as of `serve`.
        world: properties of the embedded world, KEY=VALUE as of `drive`.
        out: the car file, its report beside it. Default TRACK_learned.toml, else learned.toml.
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
