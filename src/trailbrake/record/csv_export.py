"""Recordings as CSV."""

import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from trailbrake.errors import UsageError, describe_os_error
from trailbrake.observe.path_curvature import path_curvature, path_radius, yaw_rate_from_positions
from trailbrake.record.recording_reader import Recording
from trailbrake.record.row_reader import RecordedColumns, RecordedRows
from trailbrake.state.tables import CONTROL_COLUMNS, STATE_COLUMNS, RecordColumn

BLOCK_ROWS = 4096  # rows at a time: bounds the memory, whatever the length of the recording
EDGE_ROWS = 2  # rows on each side of a block that a second derivative needs
COMMAND_PREFIX = "command_"
DERIVED_NAMES = ("curvature_1pm", "path_radius_m")  # those of `PathBend`, with their units
_INTEGER_COLUMNS = ("sequence", "phase", "gear")
LINE_END = "\r\n"  # RFC 4180


def csv_header(signals: Iterable[str] = ()) -> list[str]:
    """Return the column names of an export, units included.

    State first, then the driver's commands, what is derived, and the selected `signals` by their names.
    """
    commands = [COMMAND_PREFIX + c.csv_name for c in CONTROL_COLUMNS]
    return [c.csv_name for c in STATE_COLUMNS] + commands + [*DERIVED_NAMES, *signals]


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
        return _write_csv(recording, out)
    try:
        with open(out, "w", encoding="utf-8", newline="") as file:
            return _write_csv(recording, file)
    except OSError as error:
        raise UsageError("cannot write the export", where=str(out), got=describe_os_error(error)) from error


def _write_csv(recording: Recording, file: TextIO) -> int:
    names = list(recording.signals)
    file.write(",".join(csv_header(names)) + LINE_END)
    rows = len(recording)
    for start in range(0, rows, BLOCK_ROWS):
        stop = min(start + BLOCK_ROWS, rows)
        block = recording.read_rows(slice(start, stop))
        curvature = derive_curvature(recording, block, start)
        cells = [
            *_column_cells(block.state, STATE_COLUMNS),
            *_column_cells(block.controls, CONTROL_COLUMNS),
            *(_format_values(values, False) for values in (curvature, path_radius(curvature))),
            *(_format_values(block.signals[name], whole=False) for name in names),
        ]
        file.write(LINE_END.join(map(",".join, zip(*cells, strict=True))) + LINE_END)
    return rows


def derive_curvature(recording: Recording, block: RecordedRows, start: int) -> NDArray[np.float64]:
    """Return the curvature (1/m, positive to the left) at the rows of a block, which begins at row `start`.

    Where the recording has no yaw rate, the course over the positions gives it, with the rows around the block that the
    derivatives need.
    """
    rate, size = block.state["yaw_rate"], len(block.state["time"])
    if not recording.has_yaw_rate and len(recording) > 1:
        first = max(start - EDGE_ROWS, 0)
        around = recording.read_rows(slice(first, start + size + EDGE_ROWS), ("x", "y", "time")).state
        whole = yaw_rate_from_positions(around["x"], around["y"], around["time"])
        rate = whole[start - first : start - first + size]
    return path_curvature(block.state["speed"], rate)


def _column_cells(columns: RecordedColumns, declared: tuple[RecordColumn, ...]) -> Iterator[list[str]]:
    for column in declared:
        yield _format_values(columns[column.name], column.name in _INTEGER_COLUMNS)


def _format_values(values: NDArray[np.float64], whole: bool) -> list[str]:
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
