"""What a verb's recording means: a file, or a run of the catalogue."""

from pathlib import Path


def find_recording(name: str) -> Path:
    """Return the file of a path, of a run's id or a part of it, or of `last`, `best` and `best:TRACK`.

    Raises:
        UsageError: it is no path, and there is no such run.
    """
    from trailbrake.config import recordings_folder
    from trailbrake.record.run_index import resolve_recording

    return resolve_recording(name, recordings_folder())
