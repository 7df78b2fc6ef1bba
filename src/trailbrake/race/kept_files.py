"""Files of a heat that are kept: moved out of where it ran, never over a file that is there."""

import shutil
from pathlib import Path

import msgspec

from trailbrake.race.entry_result import EntryResult


def keep_files(result: EntryResult, attempt: Path, out: Path) -> EntryResult:
    """Move a result's files out of the attempt; return it with their paths."""
    if not result.recording:
        return result
    recording = unused_path(out / result.recording)
    shutil.move(attempt / result.recording, recording)
    report = ""
    if result.report:
        report = str(recording.with_suffix(".html"))
        shutil.move(attempt / result.report, report)
    return msgspec.structs.replace(result, recording=str(recording), report=report)


def keep_file(file: Path, wanted: Path) -> str:
    """Move a file to where it is wanted, or beside what is there; return its path."""
    kept = unused_path(wanted)
    shutil.move(file, kept)
    return str(kept)


def unused_path(path: Path) -> Path:
    """Return `path`, or `path` with -2, -3, ... before its suffix where that exists, or its report does."""
    candidate, number = path, 1
    while candidate.exists() or candidate.with_suffix(".html").exists():
        number += 1
        candidate = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return candidate
