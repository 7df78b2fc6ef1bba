"""Files of a mirrored folder: their digests, copies of files in use, and what was last the same here and there."""

import hashlib
import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from trailbrake.errors import TrailbrakeError
from trailbrake.storage.remote_folder import PART
from trailbrake.user_files import open_user_file, parse_json, read_user_text, write_whole

STATE_FILE = ".mirror.json"  # what was the same here and there when both were last compared
_UNFINISHED = (PART, ".tmp", "-journal", "-wal", "-shm")  # ends of names of files that are being written
_SQLITE = b"SQLite format 3\0"

Stamp = tuple[int, int]  # ns since the epoch at which a file was changed, and its bytes


def accept_file(path: Path) -> None:
    """Accept a file as it is."""


def fetch_any(name: str) -> bool:
    """Return True: a file of any name is fetched."""
    return True


@dataclass(frozen=True, kw_only=True)
class MirroredFolder:
    """A folder and its copy.

    Attributes:
        folder: here.
        url: a folder or a URL of fsspec; "" for no copy.
        parts: files and folders below the folder that are copied; "" is the folder itself.
        primary: name of the file by which both are compared: where it has changed there alone, what is there is
            fetched; where it has changed in both, nothing is done. "" where files do not change once they are written.
        check_primary: raises a TrailbrakeError for a primary file that cannot be used; it is not fetched then.
        is_fetched: whether a file, by its name below the folder, is fetched where it is not here.
    """

    folder: Path
    url: str
    parts: tuple[str, ...] = ("",)
    primary: str = ""
    check_primary: Callable[[Path], object] = accept_file
    is_fetched: Callable[[str], bool] = fetch_any


def stamp_files(mirrored: MirroredFolder) -> dict[str, Stamp]:
    """Return the finished files that are copied, by their names below the folder, with the stamp of each."""
    folder, stamps = mirrored.folder, dict[str, Stamp]()
    for part in mirrored.parts:
        paths = [folder / part] if part and (folder / part).is_file() else []
        for here, folders, files in os.walk(folder / part):
            folders[:] = [name for name in folders if not name.endswith(PART)]
            paths += [Path(here) / name for name in files]
        for path in paths:
            if path.name != STATE_FILE and not path.name.endswith(_UNFINISHED) and not path.is_symlink():
                with suppress(OSError):  # it is gone
                    about = path.stat()
                    stamps[path.relative_to(folder).as_posix()] = about.st_mtime_ns, about.st_size
    return stamps


def copy_file(source: Path, target: Path) -> None:
    """Copy a file; OSError, UsageError or sqlite3.Error where that fails.

    A database that is in use is copied by SQLite: half of a transaction is not in the copy.
    """
    if not _is_database(source):
        shutil.copyfile(source, target)
        return
    with closing(sqlite3.connect(source)) as database, closing(sqlite3.connect(target)) as copy:
        database.backup(copy)


def digest_file(path: Path) -> str:
    """Return a digest of what a file contains, of a database of what its tables contain; "" where there is none."""
    if not path.is_file():
        return ""
    if _is_database(path):
        with suppress(sqlite3.Error), closing(sqlite3.connect(path)) as database:
            database.execute("PRAGMA trusted_schema = OFF")  # it may come from the store
            return hashlib.sha256("\n".join(database.iterdump()).encode()).hexdigest()
    with open_user_file(path, "file of a mirror") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_database(path: Path) -> bool:
    with open_user_file(path, "file of a mirror") as file:
        return file.read(len(_SQLITE)) == _SQLITE


def read_state(mirrored: MirroredFolder) -> str:
    """Return the digest of the primary file when it was last the same here and there; "" where it never was."""
    path = mirrored.folder / STATE_FILE
    if not path.exists():
        return ""
    try:
        state = parse_json(read_user_text(path, "state of a mirror"), str(path))
    except TrailbrakeError:
        return ""  # as if both had never been compared
    return str(state.get("primary", "")) if isinstance(state, dict) and state.get("url") == mirrored.url else ""


def write_state(mirrored: MirroredFolder, digest: str) -> None:
    """Store that the primary file is the same here and there; UsageError where that cannot be written."""
    path = mirrored.folder / STATE_FILE
    write_whole(path, json.dumps({"url": mirrored.url, "primary": digest}).encode(), "the state of the mirror")
