"""The curves of a training: JSON lines in a file, and TensorBoard's event files where TensorBoard is installed."""

import contextlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trailbrake.errors import DataError, UsageError, describe_os_error
from trailbrake.user_files import parse_json, read_user_text, write_whole

FILE_NAME = "progress.jsonl"
MAX_CURVES = 256 << 20  # bytes


def read_curves(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a file of curves, up to the first that is none: the last one may have been cut off.

    Raises:
        UsageError: it cannot be read.
        DataError: it is no text.
    """
    rows: list[dict[str, Any]] = []
    for line in read_user_text(path, "file of curves", MAX_CURVES).splitlines() if path.exists() else []:
        try:
            row = parse_json(line, str(path))
        except DataError:
            break
        if not isinstance(row, dict) or type(row.get("iteration")) is not int:
            break
        rows.append(row)
    return rows


class CurveWriter:
    """Writes the figures of each iteration.

    Args:
        folder: of the run.
        iteration: the last one that counts; later ones of a run that was stopped are deleted.

    Attributes:
        has_tensorboard: whether event files are written as well.
    """

    def __init__(self, folder: Path, iteration: int) -> None:
        path = self._path = folder / FILE_NAME
        kept = [row for row in read_curves(path) if row["iteration"] <= iteration]
        write_whole(path, "".join(json.dumps(row) + "\n" for row in kept).encode(), "the curves")
        try:
            self._file = path.open("a", encoding="utf-8")
        except OSError as error:
            raise UsageError("cannot write the curves", where=str(path), got=describe_os_error(error)) from error
        self._events: Any = None
        try:
            from trailbrake.train.rl.event_file import EventFile
        except ImportError:
            self.has_tensorboard = False
        else:
            self.has_tensorboard = True
            with contextlib.suppress(OSError):
                self._events = EventFile(folder / "tensorboard", iteration + 1)

    def add(self, iteration: int, figures: Mapping[str, Any]) -> None:
        """Write the figures of an iteration; numbers that are not finite become null."""
        plain = {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in figures.items()}
        with contextlib.suppress(OSError):  # a full disk must not end the learning; the checkpoint says so
            self._file.write(json.dumps({"iteration": iteration, **plain}) + "\n")
            self._file.flush()
            if self._events is not None:
                self._events.add(iteration, {k: v for k, v in plain.items() if isinstance(v, int | float)})

    def read_rows(self) -> list[dict[str, Any]]:
        """Return what was written so far."""
        return read_curves(self._path)

    def close(self) -> None:
        """Close the files."""
        with contextlib.suppress(OSError):
            self._file.close()
        if self._events is not None:
            with contextlib.suppress(OSError):
                self._events.close()
