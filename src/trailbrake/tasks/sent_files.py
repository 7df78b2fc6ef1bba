"""Files that the texts of a task name: read where it is handed in, placed where it runs, as on another machine.

A text may name a file as a part of it: FILE.py:Class, policy:FILE, random:SEED:FILE, FILE@wet.
"""

import functools
import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from trailbrake.errors import OsErrors
from trailbrake.user_files import is_regular_file, read_user_file

MAX_FILE = 1 << 28  # bytes
_DIGITS = 24  # of a digest, in a folder's name


def list_name_parts(word: str) -> list[str]:
    """Return the parts of a text that may be a file's name, the text itself first; most are none."""
    parts = [word, word.partition("@")[0]]
    pieces = word.split(":")  # consecutive ones together, since C:\\FILE is a name too
    for first in range(len(pieces)):
        parts += [":".join(pieces[first:end]) for end in range(len(pieces), first, -1)]
    return list(dict.fromkeys(part for part in parts if part))


def read_named_file(text: str) -> bytes:
    """Return the bytes of the file that a text is the name of, b"" where it is none."""
    path = Path(text).expanduser() if text else None
    if path is None or not is_regular_file(path):
        return b""
    return read_user_file(path, "file of a task", MAX_FILE)


def collect_files(words: Iterable[str]) -> dict[str, bytes]:
    """Return the contents of the files that texts name, by their names."""
    parts = dict.fromkeys(part for word in words for part in list_name_parts(word))
    return {part: data for part in parts if (data := read_named_file(part))}


def place_files(files: Mapping[str, bytes], folder: Path) -> dict[str, str]:
    """Write the files that a task was sent with, and return their paths here by the names that the sender has.

    A file that is here with the same bytes, as on shared storage, is used where it is, and left out of the result: a
    driver may have modules beside it.

    Args:
        files: contents by name.
        folder: for files that are not here, of this user alone.

    Raises:
        UsageError: a file cannot be written.
    """
    names: dict[str, str] = {}
    for name, data in files.items():
        here = Path(name).expanduser()
        if is_regular_file(here) and read_user_file(here, "file of a task", MAX_FILE) == data:
            continue
        placed = folder / hashlib.sha256(data).hexdigest()[:_DIGITS] / here.name
        with OsErrors("cannot write a file of the task", where=str(placed)):
            placed.parent.mkdir(parents=True, exist_ok=True)
            placed.write_bytes(data)
        names[name] = str(placed)
    return names


def rename_files(word: str, names: Mapping[str, str]) -> str:
    """Return a text with the name of a file in it replaced by what `place_files` returned for it."""
    for part in sorted(list_name_parts(word), key=len, reverse=True):
        if part in names:
            return word.replace(part, names[part])
    return word


def rename_files_in_pair(pair: str, names: Mapping[str, str]) -> str:
    """Return KEY=VALUE with the name of a file in its value replaced, as `rename_files` does."""
    key, equals, value = pair.partition("=")
    return f"{key}{equals}{rename_files(value, names)}"


SOURCE_DIGITS = 24


@functools.cache
def hash_source() -> str:
    """Return a text that changes with the code and the data of this package: drivers, worlds, cars, tracks."""
    hashed = hashlib.sha256()
    root = Path(__file__).parents[1]
    for path in sorted(path for kind in ("py", "toml", "npz") for path in root.rglob(f"*.{kind}")):
        hashed.update(path.relative_to(root).as_posix().encode())
        hashed.update(read_user_file(path, "source"))
    return hashed.hexdigest()[:SOURCE_DIGITS]
