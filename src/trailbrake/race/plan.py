"""What a race day is: its rules, its schedule and its entries, as a TOML file or the command line's flags say."""

import math
import re
from pathlib import Path

import msgspec

from trailbrake.driving.goals import STANDSTILL_LIMIT_S, ContactsOver, Goal, Laps, Standstill, TimeUp
from trailbrake.errors import DataError, UsageError
from trailbrake.race.options import LAPS, SEASON, SIM, RaceDayOptions, ScoringRule
from trailbrake.user_files import parse_toml, read_user_text

_PORT = "{port}"  # what tells a command from a driver among flags
OptionValue = str | int | float | bool


class RaceRules(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What holds in every race of the day.

    Attributes:
        laps: how many a race goes over.
        seconds: of simulator time that a race may take.
        standstill: s of simulator time without moving after which an entry is out; 0 = never.
        contacts: contacts with walls and cars that an entry may have in a race; left out, any number.
        clean: whether only laps without contact, on the road, count as best laps.
        patience: s of wall time that one answer may take. Who takes longer hangs, and is out of that race.
        start: s of wall time that an entry may take to get ready, its first answer included.
        wall: s of wall time that a race may take as a whole.
        score: what gets points: the best lap of the day on each track, or the place in each race.
        points: for the first, the second, and so on.
    """

    laps: int = LAPS
    seconds: float = 600.0
    standstill: float = STANDSTILL_LIMIT_S
    contacts: int | None = None
    clean: bool = True
    patience: float = 10.0
    start: float = 60.0
    wall: float = 1800.0
    score: ScoringRule = "best_lap"
    points: tuple[float, ...] = (10, 8, 6, 5, 4, 3, 2, 1)

    def make_goal(self, laps: int) -> Goal:
        """Return what ends a race of so many laps."""
        goal = Laps(laps)
        if self.contacts is not None:
            goal = goal.or_when(ContactsOver(self.contacts))
        if self.standstill:
            goal = goal.or_when(Standstill(self.standstill))
        return goal.or_when(TimeUp(self.seconds))


class EntryLimits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the program or driver of an entry may use; 0 = without a limit.

    Attributes:
        memory: MB, of each process and of all together.
        processes: how many an entry may run.
        open_files: of each process.
        file_size: MB of each file, of what a program prints too.
        cpu: s of processor time of each process.
        network: whether entries may use the network.
        read_only: whether entries may write to a folder of their own alone, which is deleted after the race.
        environment: names of the environment's variables that entries get beside those that programs need to run.
    """

    memory: int = 4096
    processes: int = 64
    open_files: int = 1024
    file_size: int = 1024
    cpu: int = 3600
    network: bool = False
    read_only: bool = True
    environment: tuple[str, ...] = ()


class TrackRound(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Races on one track.

    Attributes:
        track: a track's name or file, or gen:SEED.
        races: how many.
        laps: of each; 0 = as the rules say.
        host: options of the embedded simulator, as `serve` takes them: look = "A", obstacles = 2.
    """

    track: str
    races: int = 1
    laps: int = 0
    host: dict[str, OptionValue] = {}


class RaceEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who races: a driver of ours, or a program that waits for the simulator's call.

    Attributes:
        name: shown, and kept over the season.
        driver: a driver's name, FILE.py, FILE.py:Class, policy:FILE or FILE.fmu.
        config: a file with gains for the driver.
        command: the program's command line, as one text or word by word. {port} stands for the port on which it is to
            listen, {python} for this Python.
        port: where it listens, if it takes no {port}; 0 = any free port.
    """

    name: str = ""
    driver: str = ""
    config: str = ""
    command: str | tuple[str, ...] = ""
    port: int = 0

    @property
    def command_line(self) -> str:
        """The driver or the command, as one text."""
        return self.driver or (self.command if isinstance(self.command, str) else " ".join(self.command))


class RaceDayPlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A race day.

    Attributes:
        entries: who races.
        schedule: where, in order.
        season: the same for the days of one leaderboard.
        day: the day's name; "" = today's date.
        sim: whose wire.
        car: a car's name or file; "" = the simulator's usual one.
        cars: entries that share a track at a time, where the wire allows more than 1.
        seed: of the first race; each further one has one more.
        rules: what holds in every race.
        limits: what entries may use.
    """

    entries: tuple[RaceEntry, ...]
    schedule: tuple[TrackRound, ...]
    season: str = SEASON
    day: str = ""
    sim: str = SIM
    car: str = ""
    cars: int = 1
    seed: int = 0
    rules: RaceRules = RaceRules()
    limits: EntryLimits = EntryLimits()


def read_plan(path: Path) -> RaceDayPlan:
    """Return the race day that a TOML file describes; paths in it are relative to the file's folder.

    Raises:
        UsageError: the file cannot be read.
        DataError: it is too large or no TOML, lacks a key, has an unknown one, or one with a value that cannot be.
    """
    return parse_plan(read_user_text(path, "race file", hint="docs/race.md has an example"), str(path))


def parse_plan(text: str, where: str) -> RaceDayPlan:
    """Return the race day in `text`; errors name `where`."""
    values = parse_toml(text, where)
    try:
        # TOML writes dates; a day's name is a text.
        plan = msgspec.convert(msgspec.to_builtins(values), RaceDayPlan)
    except msgspec.ValidationError as error:
        raise DataError(
            _rephrase_error(str(error)), where=where, hint="docs/race.md says what may stand there"
        ) from error
    return validate_plan(plan, where)


def _rephrase_error(complaint: str) -> str:
    """Return msgspec's sentence in the words of TOML: `schedule[0].track` instead of `$.schedule[0]`."""
    what, _, place = complaint.partition(" - at `$")
    what = what.replace("Object missing required field", "missing key").replace("Object contains unknown field",
                                                                                "unknown key")  # fmt: skip
    place = place.strip("`.")
    return f"{what} in {place}" if place else what


def validate_plan(plan: RaceDayPlan, where: str) -> RaceDayPlan:
    """Return `plan` with a name for every entry; DataError where two things in it cannot both be."""
    if not plan.entries:
        raise DataError("no entries", where=where, expected="at least one [[entries]]")
    if not plan.schedule:
        raise DataError("no races", where=where, expected="at least one [[schedule]]")
    for number, entry in enumerate(plan.entries, 1):
        if bool(entry.driver) == bool(entry.command):
            raise DataError("an entry has a driver or a command", where=f"{where}, entry {entry.name or number}",
                            expected="one of them", got="both" if entry.driver else "neither")  # fmt: skip
        if not 0 <= entry.port <= 65535:
            raise DataError("no port", where=f"{where}, entry {entry.name or number}", expected="0..65535",
                            got=str(entry.port))  # fmt: skip
    named = tuple(msgspec.structs.replace(entry, name=entry.name or entry.command_line) for entry in plan.entries)
    twice = [entry.name for entry in named if [other.name for other in named].count(entry.name) > 1]
    if twice:
        raise DataError("two entries of one name", where=where, got=twice[0], hint='give each a name = "..."')
    rules = plan.rules
    for what, value, least in (
        ("rules.laps", rules.laps, 1), ("rules.seconds", rules.seconds, 1), ("rules.standstill", rules.standstill, 0),
        ("rules.contacts", rules.contacts or 0, 0), ("rules.patience", rules.patience, 0.1),
        ("limits.memory", plan.limits.memory, 0), ("limits.processes", plan.limits.processes, 0),
        ("limits.file_size", plan.limits.file_size, 0), ("limits.cpu", plan.limits.cpu, 0),
        ("limits.open_files", plan.limits.open_files or 64, 64),
        ("rules.start", rules.start, 1), ("rules.wall", rules.wall, 1), ("cars", plan.cars, 1), ("seed", plan.seed, 0),
        *((f"schedule[{k}].races", item.races, 1) for k, item in enumerate(plan.schedule)),
        *((f"schedule[{k}].laps", item.laps, 0) for k, item in enumerate(plan.schedule)),
    ):  # fmt: skip
        if not (value >= least and math.isfinite(value)):
            raise DataError("too small a number", where=f"{where}, {what}", expected=f"{least:g} or more",
                            got=f"{value:g}")  # fmt: skip
    return msgspec.structs.replace(plan, entries=named)


def plan_from_options(options: RaceDayOptions) -> RaceDayPlan:
    """Return the day that flags describe.

    Raises:
        UsageError, DataError: no entry or no track; a number out of its range.
    """
    if not options.entry or not options.track:
        raise UsageError("no entry or no track", where="race", expected="a race file, or --entry and --track",
                         hint="docs/race.md has an example of each")  # fmt: skip
    host: dict[str, str | int | float | bool] = {}
    for pair in options.host:
        name, given, value = pair.partition("=")
        if not given:
            raise UsageError("no such option of the embedded simulator", where=f"--host {pair}", expected="KEY=VALUE")
        host[name] = value
    rules = RaceRules(laps=options.laps, score=options.score)
    plan = RaceDayPlan(
        entries=_number_duplicates([_parse_entry(text) for text in options.entry]),
        schedule=tuple(TrackRound(track=track, races=options.races, host=dict(host)) for track in options.track),
        season=options.season, day=options.day, sim=options.sim, car=options.car, cars=options.cars,
        seed=options.seed, rules=rules,
    )  # fmt: skip
    return validate_plan(plan, "race")


def _parse_entry(text: str) -> RaceEntry:
    """Return the entry that a text means, named for its file, its script or its program where it has one."""
    if _PORT not in text:
        return RaceEntry(name=re.split(r"[/\\]", text)[-1], driver=text)
    words = text.split()
    return RaceEntry(name=Path(next((word for word in words if word.endswith((".py", ".js", ".sh"))), words[0])).stem,
                 command=text)  # fmt: skip


def _number_duplicates(entries: list[RaceEntry]) -> tuple[RaceEntry, ...]:
    """Return the entries with numbers behind names that were there before."""
    names = [entry.name for entry in entries]
    return tuple(
        msgspec.structs.replace(entry, name=f"{entry.name} {k + 1}") if entry.name in names[:k] else entry
        for k, entry in enumerate(entries)
    )
