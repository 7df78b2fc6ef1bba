"""`DriveFlags`: the flags of `trailbrake drive`, flat as a command line is; `make_spec` makes a `DriveSpec` of them."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter
from msgspec.structs import replace as replace_values

from trailbrake.cli.flag_names import complete_name, spell_out
from trailbrake.driving.goals import Laps, Seconds, TimeUp
from trailbrake.driving.spec import DriveSpec, EmbeddedSite, KeepSpec, Pace, list_changes, make_spec
from trailbrake.simulator import Speed

NAMED = Parameter(completer=complete_name)
WHAT, GOAL, WORLD, LEARN, KEEP = (
    Parameter(group=Group.create_ordered(title))
    for title in ("What to drive", "How long", "The world", "Gains and memory of the driver", "What is kept")
)


@dataclass(frozen=True, kw_only=True)
class DriveFlags:
    """A drive.

    Attributes:
        sim: whose wire: see `trailbrake sims`; or FILE.py, FILE.py:NAME.
        driver: a driver's name, FILE.py, FILE.py:Class, FILE.fmu, policy:FILE.npz, policy:any. Default: the
            simulator's: line_track, in Formula Trend lane_sign.
        track: a track's name or file, or gen:SEED for a random circuit; with @wet behind it, in the wet. Default:
            hartmoor, on public roads lakeside, in the miniature world clover; live, the game's own where its files say
            so, else none.
        car: a car's name or file, or random:SEED. Default: gt3 or hatchback; live, the game's own where its files say
            so. unknown: the driver gets no car file; with --world car=CAR.
        line: a line file for this track and car, which drivers follow.
        cached_line: follow the line that `trailbrake line` has kept for this track and car.
        cars: cars to drive at once, each with its own driver; the first is scored.
        grid: where they begin, KIND[:ORDER]: standing or rolling; reversed, random, or all cars from the front, 2,0,1.
            Default: in line behind the start line.
        laps: laps to drive; 0 = until stopped. Default: 2.
        seconds: s of simulator time to drive, with --laps at most; 0 = no limit.
        seed: of the embedded world: where parked cars stand in the miniature world.
        live: drive the real game, or a served world, instead of the embedded world.
        speed: of the embedded world: `max`: in lockstep, as fast as the machine can; `real`: real time.
        out: folder for the recording and the report.
        report: write the report at the end.
        pictures: keep what a camera shows: some 8 MB a minute.
        part_minutes: minutes of simulator time after which, at a lap's end, another file begins; 0 = no limit.
        part_megabytes: the same by the size of the file, MB.
        keep_parts: files of the recording to keep, the first and the newest; 0 = all.
        log: a folder that gets the drive as `driving_log.csv` and `IMG/` too.
        camera: pictures for a wire without: window:TITLE (the game's window) or world (the embedded world); then
            optionally ,crop=X,Y,W,H ,size=WxH ,rate=HZ.
        config: a TOML file with gains, as `trailbrake tune` writes it.
        gain: constants of the driver, KEY=VALUE, over those of the file; repeatable. Without Gains: arguments of its
            constructor, or parameters of an FMU.
        memory: a file that keeps what the driver learns; `auto`: driver_memory.json in the user's data folder.
        stability: limit throttle and steering in a slide of the rear axle, under any driver; needs the car's file.
        host: options of the embedded simulator, KEY=VALUE as of `serve`.
        world: properties of the embedded world that no driver receives, KEY=VALUE; repeatable. car, track: where they
            differ from --car and --track. Others: docs/evaluate.md, docs/racing.md.
        signals: the simulator's own values to record and show: names of docs/signals.md or patterns as
            `beamng.wheel_*`; or `all`.
        pace: who sets the pace of real time: with `driver` the simulator waits for each answer.
    """

    sim: Annotated[str, WHAT, NAMED] = "assetto"
    driver: Annotated[str, WHAT, NAMED] = ""
    track: Annotated[str, WHAT, NAMED] = ""
    car: Annotated[str, WHAT, NAMED] = ""
    line: Annotated[Path | None, WHAT] = None
    cached_line: Annotated[bool, WHAT] = True
    cars: Annotated[int, WHAT] = 1
    grid: Annotated[str, WORLD] = ""
    laps: Annotated[int | None, GOAL] = None
    seconds: Annotated[float, GOAL] = 0.0
    seed: Annotated[int, WORLD] = 0
    live: Annotated[bool, WORLD] = False
    speed: Annotated[Speed, WORLD] = "max"
    out: Annotated[Path | None, KEEP] = None
    report: Annotated[bool, KEEP] = True
    pictures: Annotated[bool, KEEP] = True
    part_minutes: Annotated[float, KEEP] = 60.0
    part_megabytes: Annotated[float, KEEP] = 512.0
    keep_parts: Annotated[int, KEEP] = 0
    log: Annotated[Path | None, KEEP] = None
    camera: Annotated[str, WORLD] = ""
    config: Annotated[Path | None, LEARN] = None
    gain: Annotated[tuple[str, ...], LEARN] = ()
    memory: Annotated[str, LEARN] = ""
    stability: Annotated[bool, WHAT] = False
    host: Annotated[tuple[str, ...], WORLD] = ()
    world: Annotated[tuple[str, ...], WORLD] = ()
    signals: Annotated[tuple[str, ...], KEEP] = ()
    pace: Annotated[Pace, WORLD] = "simulator"

    def make_spec(self, live: object = None) -> DriveSpec:
        """Return the drive as data.

        Args:
            live: options of the wire's client end; None for the simulator's defaults.

        Raises:
            UsageError: a live drive with properties of a world.
        """
        return make_spec(**vars(self), options=None if live is None else list_changes(live))


def find_given(tokens: Sequence[str]) -> frozenset[str]:
    """Return the names of the fields of DriveFlags that a command line names."""
    flags = {token.partition("=")[0].replace("--no-", "--").removeprefix("--").replace("-", "_")
             for token in map(spell_out, tokens) if token.startswith("--")}  # fmt: skip
    return frozenset(item.name for item in fields(DriveFlags) if item.name in flags)


def override_spec(spec: DriveSpec, flags: DriveFlags, given: frozenset[str], live: object) -> DriveSpec:
    """Return a drive with what the user has given.

    Args:
        spec: the drive.
        flags: of the user.
        given: names of those that count.
        live: the simulator's live options of the user; None: those of the drive.
    """
    wanted = flags.make_spec(live)
    site, first, keep = {}, {}, {}
    for name in given:
        if name in ("laps", "seconds"):
            continue
        if name in KeepSpec.__struct_fields__:
            keep[name] = getattr(wanted.keep, name)
        elif name in ("track", "car"):
            first[name] = getattr(wanted, name)
            if isinstance(spec.site, EmbeddedSite) and not getattr(spec.first, name):
                site[name] = getattr(wanted, name)
                first[name] = ""
        elif name == "world" and isinstance(wanted.site, EmbeddedSite):
            site["conditions"] = wanted.site.conditions
        elif hasattr(wanted.first, name):
            first[name] = getattr(wanted.first, name)
        elif hasattr(spec.site, name):
            site[name] = getattr(wanted.site, name)
    if live is not None:
        site["options"] = wanted.site.options
    goal = wanted.goal if given & {"laps", "seconds"} else spec.goal
    if isinstance(spec.goal, Laps) and not given >= {"laps", "seconds"}:  # the other stays as it was
        count = spec.goal.count if flags.laps is None or "laps" not in given else flags.laps
        ends = spec.goal.ends
        if "seconds" in given:
            ends = (*(end for end in ends if not isinstance(end, Seconds | TimeUp)), *wanted.goal.ends)
        ends = tuple(replace_values(end, laps=count) if isinstance(end, TimeUp) else end for end in ends)
        goal = replace_values(spec.goal, count=count, ends=ends)
    if "grid" in given and "world" not in given and isinstance(spec.site, EmbeddedSite):
        others = [pair for pair in spec.site.conditions if not pair.startswith(("grid=", "race_laps="))]
        laps = [f"race_laps={goal.count}"] if isinstance(goal, Laps) and goal.count else []
        site["conditions"] = (*others, f"grid={flags.grid}", *laps)
    spec = replace_values(
        spec, goal=goal, site=replace_values(spec.site, **site), keep=replace_values(spec.keep, **keep)
    )
    spec = spec.with_cars(**first) if first else spec
    return replace_values(spec, cars=(spec.first,) * flags.cars) if "cars" in given else spec
