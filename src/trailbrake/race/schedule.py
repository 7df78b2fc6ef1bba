"""The heats of a race day: who drives when, on what track, from where on the grid, and by what seed. Pure.

Files that a race day names: drivers, policies, gains, tracks, cars, and the words of commands.
"""

import hashlib
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from trailbrake.errors import TrailbrakeError, UsageError
from trailbrake.race.plan import EntryLimits, RaceDayPlan, RaceEntry, RaceRules
from trailbrake.simulator import ANY_CAR_DRIVER
from trailbrake.user_files import read_user_file

_POLICY = "policy:"
_MAX_BYTES = 1 << 30
_FILE = re.compile(r"(.*\.(?:py|fmu|toml|csv))((?::\w+|@\w+)?)")  # FILE.py:Class, FILE.csv@wet


class Heat(msgspec.Struct, frozen=True, kw_only=True):
    """Entries in one world at one time: all that their result depends on.

    Attributes:
        race: number of the race within the day, 1 for the first.
        sim: whose wire.
        track: where.
        car: with what.
        host: options of the embedded simulator, KEY=VALUE.
        laps: how many.
        seed: of the world.
        rules: what holds.
        grid: who, from the front of the grid to its back.
        limits: what entries may use. No result depends on it, unless an entry fails.
    """

    race: int
    sim: str
    track: str
    car: str
    host: tuple[str, ...]
    laps: int
    seed: int
    rules: RaceRules
    grid: tuple[RaceEntry, ...]
    limits: EntryLimits = EntryLimits()


def schedule_heats(plan: RaceDayPlan) -> list[Heat]:
    """Return the heats of a day in order.

    Entries share the track in groups of `plan.cars`, and the front of the grid goes round from race to race.
    """
    found: list[Heat] = []
    race = 0
    for item in plan.schedule:
        host = tuple(f"{name}={_format_option(value)}" for name, value in item.host.items())
        for _ in range(item.races):
            turn = race % len(plan.entries)
            order = plan.entries[turn:] + plan.entries[:turn] if plan.cars > 1 else plan.entries
            race += 1
            alike = Heat(race=race, sim=plan.sim, track=item.track, car=plan.car, host=host,
                         laps=item.laps or plan.rules.laps, seed=plan.seed + race - 1, rules=plan.rules,
                         limits=plan.limits, grid=())  # fmt: skip
            groups = (order[first : first + plan.cars] for first in range(0, len(order), plan.cars))
            found += [msgspec.structs.replace(alike, grid=grid) for grid in groups]
    return found


def _format_option(value: str | int | float | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def fingerprint_heat(heat: Heat, read_file: Callable[[str], bytes]) -> str:
    """Return a text that changes with anything that a heat's result may depend on.

    Args:
        heat: the heat. What only counts points, or is limited by the wall's clock, is left out.
        read_file: returns the bytes of the file that a text of the plan names, b"" where it names none.
    """
    rules = msgspec.structs.replace(heat.rules, score="best_lap", points=(), patience=1.0, start=1.0, wall=1.0)
    values = msgspec.to_builtins(msgspec.structs.replace(heat, rules=rules))
    del values["limits"]
    hashed = hashlib.sha256(msgspec.json.encode(values))
    words = [heat.track, heat.car]
    for entry in heat.grid:
        command = entry.command.split() if isinstance(entry.command, str) else entry.command
        words += [entry.driver, entry.config, *command]
    for word in words:
        hashed.update(hashlib.sha256(read_file(word)).digest())
    return hashed.hexdigest()


def _split_file_text(text: str) -> tuple[str, str, str]:
    """Return what stands before a file's path in `text`, the path ("" = it names none), and what stands behind it."""
    if text.startswith(_POLICY) and text != ANY_CAR_DRIVER:
        return _POLICY, text.removeprefix(_POLICY), ""
    found = _FILE.fullmatch(text)
    return ("", found[1], found[2]) if found else ("", "", text)


def named_file(text: str, folder: Path) -> Path | None:
    """Return the file that a driver's, track's or car's text names, seen from `folder`; None where it names none."""
    _, path, _ = _split_file_text(text)
    return folder / Path(path).expanduser() if path else None


def read_named_file(text: str, folder: Path) -> bytes:
    """Return the bytes of the file that `text` names or is, b"" where there is none."""
    path = named_file(text, folder) or folder / text
    try:
        return read_user_file(path, "file", _MAX_BYTES) if text else b""
    except TrailbrakeError:
        return b""


def resolve_files(heat: Heat, folder: Path) -> Heat:
    """Return the heat with its files' paths made whole."""

    def resolve_text(text: str) -> str:
        before, path, after = _split_file_text(text)
        return f"{before}{folder / Path(path).expanduser()}{after}" if path else text

    return rename_heat_files(heat, resolve_text)


def rename_heat_files(heat: Heat, rename: Callable[[str], str]) -> Heat:
    """Return the heat with `rename` of each text that may name a file."""
    grid = tuple(
        msgspec.structs.replace(entry, driver=rename(entry.driver), config=rename(entry.config)) for entry in heat.grid
    )
    return msgspec.structs.replace(heat, track=rename(heat.track), car=rename(heat.car), grid=grid)


def split_command(entry: RaceEntry, port: int, folder: Path) -> list[str]:
    """Return an entry's command word by word, {port} and {python} filled in, the program's path made whole.

    Raises:
        UsageError: there is no such program, or the text cannot be cut into words.
    """
    command, where = entry.command, f"entry {entry.name}, command"
    if isinstance(command, str):
        try:
            # A backslash is a part of paths on Windows, and quotes stay on words there.
            cut = shlex.split(command, posix=sys.platform != "win32")
        except ValueError as error:
            raise UsageError(f"cannot be cut into words: {error}", where=where, got=command) from error
        command = tuple(word.strip('"') for word in cut) if sys.platform == "win32" else tuple(cut)
    filled = [word.replace("{port}", str(port)).replace("{python}", sys.executable) for word in command]
    if not filled:
        raise UsageError("an empty command", where=where, expected="a program and its arguments")
    beside = folder / filled[0]
    if os.path.dirname(filled[0]) and beside.is_file() and os.access(beside, os.X_OK):
        program: str | None = str(beside.absolute())
    else:
        program = shutil.which(filled[0])
    if program is None:
        raise UsageError("no such program", where=where, got=filled[0],
                         hint=f"programs are looked for on the PATH, or by a path from {folder}")  # fmt: skip
    return [program, *filled[1:]]
