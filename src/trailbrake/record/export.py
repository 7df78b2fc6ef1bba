"""Recordings as CSV."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from trailbrake.errors import UsageError
from trailbrake.record.reader import Columns, Recording
from trailbrake.state.tables import CONTROL_COLUMNS, STATE_COLUMNS, Column

BLOCK = 4096  # rows at a time: bounds the memory, whatever the length of the recording
COMMAND_PREFIX = "command_"
_WHOLE = ("sequence", "phase", "gear")
END = "\r\n"  # RFC 4180


def csv_header() -> list[str]:
    """Return the column names of an export, units included: state first, then the driver's commands."""
    return [c.csv_name for c in STATE_COLUMNS] + [COMMAND_PREFIX + c.csv_name for c in CONTROL_COLUMNS]


def export_csv(recording: Recording, out: str | Path | TextIO) -> int:
    """Write every tick as a line to the file or stream `out`; return the number of ticks.

    Numbers are written so that reading them gives the same float64. A cell is empty where the simulator did
    not supply the value. No cell needs quotes.

    Raises:
        UsageError: `out` is a path that cannot be written.
    """
    if not isinstance(out, (str, Path)):
        if isinstance(out, io.TextIOWrapper):
            out.reconfigure(newline="")  # stdout on Windows would make \r\r\n of our line ends
        return _write(recording, out)
    try:
        with open(out, "w", encoding="utf-8", newline="") as file:
            return _write(recording, file)
    except OSError as error:
        raise UsageError("cannot write the export", where=str(out), got=error.strerror or str(error)) from error


def _write(recording: Recording, file: TextIO) -> int:
    file.write(",".join(csv_header()) + END)
    rows = len(recording)
    for start in range(0, rows, BLOCK):
        block = slice(start, min(start + BLOCK, rows))
        cells = [*_cells(recording.state, STATE_COLUMNS, block), *_cells(recording.controls, CONTROL_COLUMNS, block)]
        file.write(END.join(map(",".join, zip(*cells, strict=True))) + END)
    return rows


def _cells(columns: Columns, declared: tuple[Column, ...], block: slice) -> Iterator[list[str]]:
    for column in declared:
        yield _texts(columns[column.name][block], column.name in _WHOLE)


def _texts(values: NDArray[np.float64], whole: bool) -> list[str]:
    missing = np.isnan(values)
    if missing.all():
        return [""] * len(values)
    if whole and np.isfinite(values[~missing]).all():
        texts = [str(int(v)) if v == v else "" for v in values.tolist()]  # NaN differs from itself
    else:
        texts = list(map(repr, values.tolist()))
        for i in np.flatnonzero(missing).tolist():
            texts[i] = ""
    return texts
