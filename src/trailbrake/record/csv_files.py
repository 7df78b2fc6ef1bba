"""Recordings as CSV, and tables of others with the same names of columns."""

import csv
import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array
from trailbrake.errors import DataError, OsErrors
from trailbrake.observe.path_curvature import path_curvature, path_radius, yaw_rate_from_positions
from trailbrake.record.recording_reader import Recording
from trailbrake.record.row_reader import RecordedColumns, RecordedRows
from trailbrake.state.tables import CONTROL_COLUMNS, STATE_COLUMNS, RecordColumn
from trailbrake.user_files import decode_user_text, read_user_file

BLOCK_ROWS = 4096  # rows at a time: bounds the memory, whatever the length of the recording
EDGE_ROWS = 2  # rows on each side of a block that a second derivative needs
COMMAND_PREFIX = "command_"
DERIVED_NAMES = ("curvature_1pm", "path_radius_m")  # those of `PathBend`, with their units
_INTEGER_COLUMNS = ("sequence", "phase", "gear")
LINE_END = "\r\n"  # RFC 4180
MAX_BYTES = 1 << 30
MAX_COLUMNS = 2000
TIME = "time_s"
_MOTION = (b"x_m", b"speed_mps", b"velocity_x_mps")  # other tools have a `time_s` too

Columns = dict[str, Array]


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
    with OsErrors("cannot write the export", where=str(out)), open(out, "w", encoding="utf-8", newline="") as file:
        return _write_csv(recording, file)


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


def is_drive_table(path: Path) -> bool:
    """Return whether a file is a CSV with our columns of time, and of a place or a speed, in its first line."""
    if path.suffix.lower() not in (".csv", ".txt"):
        return False
    head = read_user_file(path, "table", MAX_BYTES).partition(b"\n")[0]
    names = {cell.strip() for cell in head.split(b",")}
    return TIME.encode() in names and not names.isdisjoint(_MOTION)


def read_csv_columns(path: Path) -> tuple[Columns, Columns]:
    """Return the states and the controls of a table, by the names of `state.tables`; NaN where there is no value.

    Without columns of commands the controls are what the states say is applied.

    Raises:
        UsageError: the file cannot be read.
        DataError: it is not such a table, or a cell is not a number; the message names the line.
    """
    text = decode_user_text(read_user_file(path, "table", MAX_BYTES), str(path))
    reader = csv.reader(io.StringIO(text, newline=""))
    rows: list[list[float]] = []
    try:
        names = [cell.strip() for cell in next(reader, [])]
        if TIME not in names or len(names) > MAX_COLUMNS:
            raise DataError("not a table of a drive", where=f"{path}:1", expected=f"a column {TIME}",
                            got=",".join(names)[:60], hint="trailbrake export writes such tables")  # fmt: skip
        for cells in reader:
            if not any(cells):
                continue
            if len(cells) != len(names):
                raise ValueError(f"{len(cells)} cells, not {len(names)}")
            rows.append([float(cell) if cell.strip() else np.nan for cell in cells])
    except (ValueError, csv.Error) as error:
        raise DataError(f"no row of numbers: {error}", where=f"{path}:{reader.line_num}") from error
    table = np.array(rows, np.float64).reshape(len(rows), len(names))
    found = {name: table[:, k] for k, name in enumerate(names)}
    state = _choose_columns(found, STATE_COLUMNS, "")
    controls = _choose_columns(found, CONTROL_COLUMNS, COMMAND_PREFIX)
    for name in ("steer", "throttle", "brake"):
        if not np.isfinite(controls[name]).any():
            controls[name] = state[name]
    return state, controls


def _choose_columns(found: Columns, columns: tuple[RecordColumn, ...], prefix: str) -> Columns:
    length = len(next(iter(found.values()))) if found else 0
    missing = np.full(length, np.nan)
    return {column.name: found.get(prefix + column.csv_name, missing) for column in columns}
