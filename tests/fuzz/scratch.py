"""The folder for the files of cases: in memory where the system has a disk there."""

import os
import tempfile
from functools import cache
from pathlib import Path

_RAMDISK = Path("/dev/shm")
_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []  # removed when the process ends


def find_ramdisk() -> Path | None:
    """Return the folder of a disk in memory, None for the usual temporary folder."""
    return _RAMDISK if os.access(_RAMDISK, os.W_OK) else None


@cache
def scratch_folder() -> Path:
    """Return the folder, made on the first call; TRAILBRAKE_FUZZ_SCRATCH names another one, which is not removed."""
    if named := os.environ.get("TRAILBRAKE_FUZZ_SCRATCH"):
        return Path(named)
    _FOLDERS.append(tempfile.TemporaryDirectory(prefix="trailbrake-fuzz-", dir=find_ramdisk()))
    return Path(_FOLDERS[-1].name)
