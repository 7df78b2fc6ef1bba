"""The archive of an FMU: limits on what it unpacks to, checked before anything of it is read."""

import zipfile
from pathlib import Path

from trailbrake.errors import DataError
from trailbrake.user_files import open_user_file

MAX_UNPACKED = 2_000_000_000  # bytes; the largest FMUs bring an interpreter with its packages for several systems
MAX_DESCRIPTION = 20_000_000  # bytes of modelDescription.xml, which is parsed into some ten times as much memory
MAX_MEMBERS = 50_000
DESCRIPTION = "modelDescription.xml"


def check_archive(path: Path) -> None:
    """Check what an archive says about its members; zipfile unpacks no more than that of each.

    Raises:
        UsageError: the file cannot be read.
        DataError: it is no zip archive, or unpacks to more than an FMU does.
    """
    try:
        with open_user_file(path, "FMU") as file, zipfile.ZipFile(file) as archive:
            sizes = {"": 0} | {member.filename: member.file_size for member in archive.infolist()}
            members, unpacked = len(archive.infolist()), sum(member.file_size for member in archive.infolist())
    # What zipfile raises for damaged archives: besides its own, errors of their offsets, names and methods.
    except (zipfile.BadZipFile, ValueError, RuntimeError, OSError, EOFError) as error:
        raise DataError(f"cannot be read as an FMU: {error}", where=str(path), expected="a zip archive") from error
    for what, limit, got in (
        ("bytes unpacked", MAX_UNPACKED, unpacked),
        ("files", MAX_MEMBERS, members),
        (f"bytes of {DESCRIPTION}", MAX_DESCRIPTION, sizes.get(DESCRIPTION, 0)),
    ):
        if got > limit:
            raise DataError("too large for an FMU", where=str(path), expected=f"{limit} {what} at most", got=str(got))
