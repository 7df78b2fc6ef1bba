"""Edits of a user's files, with a preview before and an exact undo after.

Before its first edit a file is copied beside itself, with the suffix `.trailbrake-backup`; a file that did not exist
leaves an empty mark, `.trailbrake-new`. All edits of one call are checked before the first is written.
"""

import contextlib
import difflib
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from trailbrake.errors import DataError
from trailbrake.sims.assetto.install import ini
from trailbrake.user_files import read_user_file

BACKUP_SUFFIX, CREATED_SUFFIX = ".trailbrake-backup", ".trailbrake-new"


@dataclass(frozen=True)
class FileEdit:
    """One file to edit.

    Attributes:
        path: the file; it need not exist.
        change: returns the new bytes for the old ones (b"" for a missing file); idempotent.
        description: of the change, for messages.
    """

    path: Path
    change: Callable[[bytes], bytes]
    description: str

    @property
    def backup_path(self) -> Path:
        """The copy of the file as it was."""
        return self.path.with_name(self.path.name + BACKUP_SUFFIX)

    @property
    def created_mark_path(self) -> Path:
        """The mark beside a file that did not exist before."""
        return self.path.with_name(self.path.name + CREATED_SUFFIX)


def read_if_exists(path: Path) -> bytes | None:
    """Return the bytes of a file; None if it does not exist.

    Raises:
        UsageError: it exists and cannot be read.
        DataError: it is too large for a file of settings.
    """
    try:
        path.stat()
    except FileNotFoundError:
        return None
    except OSError:
        pass  # reading says why
    return read_user_file(path, "file", ini.MAX_BYTES)


def preview_edits(edits: list[FileEdit]) -> Iterator[str]:
    """Yield what `apply_edits` would do, as lines of unified diffs."""
    for edit in edits:
        before = read_if_exists(edit.path) or b""
        after = edit.change(before)
        if after == before:
            yield f"{edit.description}: is so already, {edit.path}"
            continue
        # Latin-1 for the diff, so that any file can be shown; line ends show as they are.
        old, new = (data.decode("latin-1").splitlines() for data in (before, after))
        yield f"{edit.description}: would change {edit.path}"
        yield from difflib.unified_diff(old, new, "before", "after", lineterm="", n=2)


def apply_edits(edits: list[FileEdit]) -> Iterator[str]:
    """Write the edits and yield a line for each. If one fails, those before it are undone.

    Raises:
        DataError: a file cannot be read, changed or written; then no file is changed.
    """
    planned: list[tuple[FileEdit, bytes | None, bytes]] = []
    for edit in edits:
        before = read_if_exists(edit.path)
        after = edit.change(before or b"")
        if after != (before or b""):
            _check_writable(edit.path)
        planned.append((edit, before, after))
    done: list[tuple[FileEdit, bytes | None]] = []
    for edit, before, after in planned:
        if after == (before or b""):
            continue
        try:
            edit.path.parent.mkdir(parents=True, exist_ok=True)
            done.append((edit, before))
            if before is None:
                edit.created_mark_path.write_bytes(b"")
            elif not (edit.backup_path.exists() or edit.created_mark_path.exists()):  # the first copy stays
                edit.backup_path.write_bytes(before)
            _replace_file(edit.path, after)
        except OSError as error:
            for earlier, was in reversed(done):
                with contextlib.suppress(OSError):  # its folder may be the one that cannot be written
                    _restore_file(earlier, was)
            raise DataError(
                f"cannot write the file: {error.strerror}", where=str(edit.path), hint="nothing was changed"
            ) from None
    for edit, before, after in planned:
        if after == (before or b""):
            yield f"{edit.description}: is so already, {edit.path}"
        elif before is None:
            yield f"{edit.description}: made {edit.path}"
        else:
            yield f"{edit.description}: changed {edit.path}; as it was: {edit.backup_path.name}"


def undo_edits(edits: list[FileEdit]) -> Iterator[str]:
    """Restore every file as it was before `apply_edits`. A file that was changed since stays, and its line says so.

    Raises:
        DataError: a file cannot be read or written.
    """
    for edit in edits:
        now = read_if_exists(edit.path)
        made, was = edit.created_mark_path.is_file(), read_if_exists(edit.backup_path)
        if was is None and not made:
            yield f"{edit.description}: nothing to take back, {edit.path}"
            continue
        if now is not None and now != edit.change(was or b""):
            yield f"{edit.description}: left alone, since it was changed meanwhile: {edit.path}" + (
                "" if was is None else f"; as it was before trailbrake: {edit.backup_path.name}"
            )
            continue
        if now is not None:
            _check_writable(edit.path)
        try:
            _restore_file(edit, was)
        except OSError as error:
            raise DataError(f"cannot put the file back: {error.strerror}", where=str(edit.path)) from None
        yield f"{edit.description}: taken back, {edit.path}"


def _restore_file(edit: FileEdit, original: bytes | None) -> None:
    if original is None:
        edit.path.unlink(missing_ok=True)
    else:
        _replace_file(edit.path, original)
    edit.backup_path.unlink(missing_ok=True)
    edit.created_mark_path.unlink(missing_ok=True)


def _check_writable(path: Path) -> None:
    # By the mode, not by trying: on Linux a rename over a read-only file succeeds, against its owner's intent.
    with contextlib.suppress(FileNotFoundError):
        if not path.stat().st_mode & stat.S_IWUSR:
            raise DataError(
                "the file is read-only", where=str(path), hint="allow writing to it and try again; nothing was changed"
            )


def _replace_file(path: Path, data: bytes) -> None:
    """Replace a file in one step: a crash leaves the old one or the new one."""
    beside = path.with_name(path.name + ".trailbrake-tmp")
    beside.write_bytes(data)
    with contextlib.suppress(FileNotFoundError):
        os.chmod(beside, stat.S_IMODE(path.stat().st_mode))
    os.replace(beside, path)
