"""`DriveSpec`: a drive as plain data. TOML or JSON in, JSON out; it stands in every recording and summary.

    {"version": 1, "site": {"kind": "embedded", "sim": "assetto", "track": "hartmoor", "car": "gt3"},
     "cars": [{"driver": "line_track"}], "goal": {"kind": "laps", "count": 2}}

What is not there has the value of the defaults below. Names of tracks, cars and drivers are those of the command line.
"""

from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import msgspec

from trailbrake.driving.goals import AnyGoal, Laps
from trailbrake.errors import DataError, UsageError, suggest_names
from trailbrake.json_types import JsonObject
from trailbrake.simulator import Speed, WorldKind
from trailbrake.user_files import convert_values, parse_json, parse_toml, read_user_text

VERSION = 1
MAX_CARS = 64  # in one world
MOST_BYTES = 4_000_000  # of a file
Pace = Literal["simulator", "driver"]  # who sets the pace of real time
UNKNOWN_CAR = "unknown"  # as a driver's car: it gets no car file

# Track and car of a world of each kind where the user names none.
WORLD_DEFAULTS: dict[WorldKind, tuple[str, str]] = {
    "car": ("hartmoor", "gt3"),
    "road": ("lakeside", "hatchback"),
    "miniature": ("clover", "miniature"),
}


class EmbeddedSite(msgspec.Struct, frozen=True, kw_only=True, tag="embedded", tag_field="kind",
                   forbid_unknown_fields=True, omit_defaults=True):  # fmt: skip
    """A simulator's wire with the embedded world behind it.

    Attributes:
        sim: whose wire.
        track: of the world; "": the simulator's usual one.
        car: of the world; "": the simulator's usual one.
        seed: of the world.
        speed: `max` steps it in lockstep in this process, `real` runs it in a process of its own in real time.
        options: of the wire's client end that differ from the simulator's defaults.
        host: of the wire's host end, KEY=VALUE.
        conditions: what changes during the drive, KEY=VALUE.
        camera: pictures for a wire that has none.
        pace: who sets the pace of real time.
    """

    sim: str = "assetto"
    track: str = ""
    car: str = ""
    seed: int = 0
    speed: Speed = "max"
    options: JsonObject = {}
    host: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    camera: str = ""
    pace: Pace = "simulator"


class LiveSite(msgspec.Struct, frozen=True, kw_only=True, tag="live", tag_field="kind", forbid_unknown_fields=True,
               omit_defaults=True):  # fmt: skip
    """A game, or a served world, at its public addresses.

    Attributes:
        sim: whose wire.
        options: of `--live` that differ from the simulator's defaults.
        camera: pictures for a wire that has none.
        pace: who sets the pace of real time.
    """

    sim: str = "assetto"
    options: JsonObject = {}
    camera: str = ""
    pace: Pace = "simulator"


class CarSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A car and who drives it.

    Attributes:
        driver: a driver's name or file; "": the one that suits the simulator and the course.
        config: a file with gains.
        gain: constants of the driver, KEY=VALUE, over those of the file.
        track: the road that the driver gets; "": that of the world, live none.
        car: the car's file that the driver gets; "": that of the world, live none; "unknown": none.
        line: a file of a line to follow; "": the one that the driver declares.
        cached_line: whether a driver that declares the minimum-time line gets the kept one.
        memory: a file of what drivers have learned, or "auto"; "": none.
        stability: whether throttle and steering are limited in a slide, under any driver.
    """

    driver: str = ""
    config: str = ""
    gain: tuple[str, ...] = ()
    track: str = ""
    car: str = ""
    line: str = ""
    cached_line: bool = True
    memory: str = ""
    stability: bool = False


class KeepSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is kept of a drive.

    Attributes:
        out: folder of the recording and the report; "": the usual one.
        report: whether a report is written.
        pictures: whether the recording has those of a camera.
        part_minutes: minutes of simulator time in one file of the recording; 0 = all in one.
        part_megabytes: the same by size, MB.
        keep_parts: how many files to keep; 0 = all.
        log: a folder for a driving log; "": none.
        signals: names or patterns of further signals.
    """

    out: str = ""
    report: bool = True
    pictures: bool = True
    part_minutes: float = 60.0
    part_megabytes: float = 512.0
    keep_parts: int = 0
    log: str = ""
    signals: tuple[str, ...] = ()


AnySite: TypeAlias = EmbeddedSite | LiveSite


class DriveSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A drive: where, by whom, until when, and what is kept of it.

    Attributes:
        version: of this format.
        site: the simulator, and the world or the game behind its wire.
        cars: each with its driver; the first is the one that is scored.
        goal: what ends the drive.
        keep: what is kept.
    """

    version: Annotated[int, msgspec.Meta(ge=VERSION, le=VERSION)] = VERSION
    site: AnySite
    cars: Annotated[tuple[CarSpec, ...], msgspec.Meta(min_length=1)] = (CarSpec(),)
    goal: AnyGoal = Laps(2)
    keep: KeepSpec = KeepSpec()

    def __post_init__(self) -> None:
        """Raise UsageError where there is no car."""
        if not self.cars:
            raise UsageError("a drive needs a car", where="--cars", expected="1 or more", got="0")

    @property
    def first(self) -> CarSpec:
        """The car that is scored."""
        return self.cars[0]

    @property
    def is_live(self) -> bool:
        """Whether a game is driven."""
        return isinstance(self.site, LiveSite)

    @property
    def is_real_time(self) -> bool:
        """Whether time does not wait for the drivers."""
        return isinstance(self.site, LiveSite) or self.site.speed == "real"

    @property
    def track(self) -> str:
        """The road that the drivers get; "": none is known."""
        return self.first.track or (self.site.track if isinstance(self.site, EmbeddedSite) else "")

    @property
    def car(self) -> str:
        """The car's file that the drivers get; "": none is known."""
        return self.first.car or (self.site.car if isinstance(self.site, EmbeddedSite) else "")

    def with_site_defaults(self, world: WorldKind) -> "DriveSpec":
        """Return the drive with a track and a car: those of an embedded world of this kind where none are named."""
        site = self.site
        if isinstance(site, LiveSite):
            return self
        track, car = WORLD_DEFAULTS[world]
        named = msgspec.structs.replace(site, track=site.track or track, car=site.car or car)
        return msgspec.structs.replace(self, site=named)

    def in_real_time(self) -> "DriveSpec":
        """Return the drive at the pace of real time."""
        if isinstance(self.site, LiveSite):
            return self
        return msgspec.structs.replace(self, site=msgspec.structs.replace(self.site, speed="real"))

    def with_cars(self, **changes: object) -> "DriveSpec":
        """Return the drive with other values of `CarSpec` for all cars."""
        cars = tuple(msgspec.structs.replace(car, **changes) for car in self.cars)
        return msgspec.structs.replace(self, cars=cars)


def make_spec(**names: object) -> DriveSpec:
    """Return the drive of flat names, those of the flags of `trailbrake drive`.

    Args:
        names: `track`, `car`, `laps`, `seconds`, `driver`, `sim`, `live`, `world`, and the fields of `EmbeddedSite`,
            `CarSpec` and `KeepSpec`. Texts of a list may be one text, and KEY=VALUE a dict. `world`: properties of the
            embedded world, KEY=VALUE; `car` and `track` in it are what it has where the drivers get others. `cars`: how
            many. `grid`: where they begin, a property of the world. `laps`: 0 = no limit; `seconds` beside it is when
            time is up, and alone the end.

    Raises:
        UsageError: no such name, or one that contradicts another.
        DataError: a value of another type.
    """
    values = {name: _make_plain(name, value) for name, value in names.items() if value is not None}
    for name in values:
        if name not in _FLAT_NAMES:
            raise UsageError("no such property of a drive", where=name, hint=suggest_names(name, sorted(_FLAT_NAMES)))
    track, car, world = values.pop("track", ""), values.pop("car", ""), values.pop("world", ())
    needs_laps = bool(values.get("laps"))
    cars, laps, seconds = values.pop("cars", 1), values.pop("laps", 2), values.pop("seconds", 0.0)
    live = values.pop("live", False)
    if grid := values.pop("grid", ""):
        world = [*world, f"grid={grid}", *([f"race_laps={laps}"] if laps else [])]
    if not isinstance(cars, int) or not 1 <= cars <= MAX_CARS:
        raise UsageError("a drive needs a car" if cars == 0 else "no number of cars", where="--cars",
                         expected=f"1 to {MAX_CARS}", got=str(cars)[:40])  # fmt: skip
    first = {name: values.pop(name) for name in CarSpec.__struct_fields__ if name in values}
    keep = {name: values.pop(name) for name in KeepSpec.__struct_fields__ if name in values}
    if live:
        if world:
            raise UsageError("a live simulator has a world of its own", where=f"--world {world[0]}",
                             hint="leave --world or --live out")  # fmt: skip
        site = {"kind": "live", **{name: values[name] for name in LiveSite.__struct_fields__ if name in values}}
        first |= {"track": track, "car": car}
    else:
        pairs = [pair.partition("=") for pair in world]
        places = {name: value for name, equals, value in pairs if equals and name in ("track", "car") and value}
        conditions = [pair for pair in world if not pair.startswith(("track=", "car="))]
        site = {"kind": "embedded", "track": track, "car": car, "conditions": conditions, **values, **places}
        first["track"] = track if "track" in places else ""
        first["car"] = car if "car" in places or car == UNKNOWN_CAR else ""
    goal: JsonObject = {"kind": "laps", "count": laps}
    if seconds:
        end = {"kind": "time_up", "laps": laps} if needs_laps else {"kind": "seconds"}
        goal["or_when"] = [{**end, "seconds": seconds}]
    return parse_spec({"site": site, "cars": [first] * cars, "goal": goal, "keep": keep}, "drive")


_FLAT_NAMES = frozenset({
    "track", "car", "world", "cars", "grid", "laps", "seconds", "live", *EmbeddedSite.__struct_fields__,
    *CarSpec.__struct_fields__, *KeepSpec.__struct_fields__,
}) - {"conditions"}  # fmt: skip
_LISTS = ("gain", "host", "world", "signals")


def _make_plain(name: str, value: object) -> Any:
    if isinstance(value, Path):
        return str(value)
    if name not in _LISTS:
        return value
    if isinstance(value, Mapping):
        return [f"{key}={each}" for key, each in value.items()]
    return [value] if isinstance(value, str) else value


def list_changes(options: object) -> JsonObject:
    """Return the values of a dataclass of options that differ from its defaults, as plain values."""
    assert is_dataclass(options)
    assert not isinstance(options, type)
    defaults = asdict(type(options)())
    return {
        name: str(value) if isinstance(value, Path) else value
        for name, value in asdict(options).items()
        if value != defaults[name]
    }


def write_spec(spec: DriveSpec) -> JsonObject:
    """Return a drive as plain values."""
    values: JsonObject = msgspec.json.decode(msgspec.json.encode(spec))
    return values


def parse_spec(values: object, where: str) -> DriveSpec:
    """Return the drive of plain values, as `write_spec` makes them.

    Args:
        values: read from TOML or JSON.
        where: file or recording, for errors.

    Raises:
        DataError: an unknown key, a value of another type, or another version.
    """
    version = values.get("version", VERSION) if isinstance(values, Mapping) else VERSION
    if version != VERSION:
        raise DataError(
            "a drive of another version", where=f"{where}, version", expected=str(VERSION), got=str(version),
            hint="use the trailbrake that wrote it, or name the drive by flags",
        )  # fmt: skip
    return convert_values(values, DriveSpec, "no drive", where, hint="see docs/drive-spec.md")


def read_spec(path: Path) -> DriveSpec:
    """Return the drive in a TOML or JSON file.

    Raises:
        UsageError: the file cannot be read.
        DataError: it is no drive.
    """
    text = read_user_text(path, "drive", MOST_BYTES)
    values = parse_json(text, str(path)) if path.suffix == ".json" else parse_toml(text, str(path))
    return parse_spec(values, str(path))
