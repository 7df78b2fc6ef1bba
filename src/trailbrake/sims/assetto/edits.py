"""Changes to a user's files that can be shown before and taken back after, byte for byte.

Before its first change a file is copied beside itself, with `.trailbrake-backup` behind its name; a file that was not
there leaves an empty mark, `.trailbrake-new`. All changes of one call are checked before the first is written.
"""

import contextlib
import difflib
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from trailbrake.errors import DataError

BACKUP, NEW = ".trailbrake-backup", ".trailbrake-new"


@dataclass(frozen=True)
class Edit:
    """One file to change.

    Attributes:
        path: the file; it may not be there yet.
        change: returns the new bytes for the old ones (b"" where there is no file); idempotent.
        says: what the change does, for people.
    """

    path: Path
    change: Callable[[bytes], bytes]
    says: str

    @property
    def backup(self) -> Path:
        """The copy of the file as it was."""
        return self.path.with_name(self.path.name + BACKUP)

    @property
    def mark(self) -> Path:
        """What is there instead where the file was not."""
        return self.path.with_name(self.path.name + NEW)


def read(path: Path) -> bytes | None:
    """Return the bytes of a file; None where there is none.

    Raises:
        DataError: it is there and cannot be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DataError(f"cannot read the file: {error.strerror}", where=str(path)) from None


def show(edits: list[Edit]) -> Iterator[str]:
    """Say what `apply` would do, as lines of unified diffs."""
    for edit in edits:
        before = read(edit.path) or b""
        after = edit.change(before)
        if after == before:
            yield f"{edit.says}: is so already, {edit.path}"
            continue
        # Latin-1 for the diff, so that any file can be shown; line ends show as they are.
        old, new = (data.decode("latin-1").splitlines() for data in (before, after))
        yield f"{edit.says}: would change {edit.path}"
        yield from difflib.unified_diff(old, new, "before", "after", lineterm="", n=2)


def apply(edits: list[Edit]) -> Iterator[str]:
    """Make the changes and say what was done. Where one fails, those before it are taken back.

    Raises:
        DataError: a file cannot be read, changed or written; then no file is changed.
    """
    planned: list[tuple[Edit, bytes | None, bytes]] = []
    for edit in edits:
        before = read(edit.path)
        after = edit.change(before or b"")
        if after != (before or b""):
            _check_writable(edit.path)
        planned.append((edit, before, after))
    done: list[tuple[Edit, bytes | None]] = []
    for edit, before, after in planned:
        if after == (before or b""):
            continue
        try:
            edit.path.parent.mkdir(parents=True, exist_ok=True)
            done.append((edit, before))
            if before is None:
                edit.mark.write_bytes(b"")
            else:
                edit.backup.write_bytes(before)
            _replace(edit.path, after)
        except OSError as error:
            for earlier, was in reversed(done):
                with contextlib.suppress(OSError):  # its folder may be what refused
                    _restore(earlier, was)
            raise DataError(
                f"cannot write the file: {error.strerror}", where=str(edit.path), hint="nothing was changed"
            ) from None
    for edit, before, after in planned:
        if after == (before or b""):
            yield f"{edit.says}: is so already, {edit.path}"
        elif before is None:
            yield f"{edit.says}: made {edit.path}"
        else:
            yield f"{edit.says}: changed {edit.path}; as it was: {edit.backup.name}"


def undo(edits: list[Edit]) -> Iterator[str]:
    """Put every file back as it was before `apply`. A file that was changed since is left alone, and said so.

    Raises:
        DataError: a file cannot be read or written.
    """
    for edit in edits:
        now = read(edit.path)
        made, was = edit.mark.is_file(), read(edit.backup)
        if was is None and not made:
            yield f"{edit.says}: nothing to take back, {edit.path}"
            continue
        if now is not None and now != edit.change(was or b""):
            yield f"{edit.says}: left alone, for somebody has changed it since: {edit.path}" + (
                "" if was is None else f"; as it was before trailbrake: {edit.backup.name}"
            )
            continue
        if now is not None:
            _check_writable(edit.path)
        try:
            _restore(edit, was)
        except OSError as error:
            raise DataError(f"cannot put the file back: {error.strerror}", where=str(edit.path)) from None
        yield f"{edit.says}: taken back, {edit.path}"


def _restore(edit: Edit, was: bytes | None) -> None:
    if was is None:
        edit.path.unlink(missing_ok=True)
    else:
        _replace(edit.path, was)
    edit.backup.unlink(missing_ok=True)
    edit.mark.unlink(missing_ok=True)


def _check_writable(path: Path) -> None:
    # By the mode, not by trying: a rename over a read-only file works on Linux, and is not what its owner meant.
    with contextlib.suppress(FileNotFoundError):
        if not path.stat().st_mode & stat.S_IWUSR:
            raise DataError(
                "the file is read-only", where=str(path), hint="allow writing to it and try again; nothing was changed"
            )


def _replace(path: Path, data: bytes) -> None:
    """Write a file in one step: a crash leaves the old one or the new one."""
    beside = path.with_name(path.name + ".trailbrake-tmp")
    beside.write_bytes(data)
    with contextlib.suppress(FileNotFoundError):
        os.chmod(beside, stat.S_IMODE(path.stat().st_mode))
    os.replace(beside, path)
