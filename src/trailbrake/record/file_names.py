"""Names of recording files: valid on every file system, and never one that exists already."""

import io
import itertools
import sys
import unicodedata
from pathlib import Path

from trailbrake.errors import UsageError, describe_os_error

_MAX_NAME_BYTES = 120  # bytes; file systems allow 255, sync tools and archives less
_MAX_WINDOWS_PATH = 259  # characters of a whole path
_RESERVED = {"con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(1, 10))}


def safe_name(text: str) -> str:
    """Return `text` as a file name that Linux, macOS and Windows accept. Letters of any script stay."""
    kept = "".join(c if c.isalnum() or c in "-_." else "-" for c in unicodedata.normalize("NFC", text))
    while "--" in kept:
        kept = kept.replace("--", "-")
    short = kept.encode("utf-8")[:_MAX_NAME_BYTES].decode("utf-8", "ignore").strip("-.")
    if short.split(".")[0].lower() in _RESERVED:
        short = f"_{short}"
    return short or "drive"


def create_file(path: Path) -> tuple[io.FileIO, Path]:
    """Create `path`, or `path` with -2, -3, ... before its suffix where that exists. Folders are made.

    Two processes that choose one name at the same time get two files: the creation itself is the test.

    Raises:
        UsageError: the folder cannot be made or written to.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for n in itertools.count(1):
            candidate = path if n == 1 else path.with_name(f"{path.stem}-{n}{path.suffix}")
            try:
                return open(candidate, "xb", buffering=0), candidate
            except FileExistsError:
                continue
    except (OSError, ValueError) as error:
        reason = describe_os_error(error)
        hint = "choose another folder with --out"
        if sys.platform == "win32" and len(str(path.absolute())) > _MAX_WINDOWS_PATH:
            hint = "choose a shorter one with --out: Windows allows 259 characters unless its LongPathsEnabled is set"
        raise UsageError("cannot create the recording", where=str(path), got=str(reason), hint=hint) from error
    raise AssertionError("unreachable: counting does not end")
