"""Files that a race day names: drivers, policies, gains, tracks, cars, and the words of commands."""

import os
import re
import shlex
import shutil
import sys
from pathlib import Path

import msgspec

from trailbrake.errors import TrailbrakeError, UsageError
from trailbrake.race.plan import RaceEntry
from trailbrake.race.schedule import Heat
from trailbrake.user_files import read_user_file

_POLICY = "policy:"
_MAX_BYTES = 1 << 30
_FILE = re.compile(r"(.*\.(?:py|fmu|toml|csv))((?::\w+|@\w+)?)")  # FILE.py:Class, FILE.csv@wet


def _split_file_text(text: str) -> tuple[str, str, str]:
    """Return what stands before a file's path in `text`, the path ("" = it names none), and what stands behind it."""
    if text.startswith(_POLICY):
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


def _resolve_text(text: str, folder: Path) -> str:
    before, path, after = _split_file_text(text)
    return f"{before}{folder / Path(path).expanduser()}{after}" if path else text


def resolve_files(heat: Heat, folder: Path) -> Heat:
    """Return the heat with its files' paths made whole."""
    grid = tuple(
        msgspec.structs.replace(
            entry, driver=_resolve_text(entry.driver, folder), config=_resolve_text(entry.config, folder)
        )
        for entry in heat.grid
    )
    return msgspec.structs.replace(
        heat, track=_resolve_text(heat.track, folder), car=_resolve_text(heat.car, folder), grid=grid
    )


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
