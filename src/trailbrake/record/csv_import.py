"""Tables of a drive by others: CSV with the column names of our own exports, as `csv_export` writes them."""

import csv
import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trailbrake.errors import DataError
from trailbrake.record.csv_export import COMMAND_PREFIX
from trailbrake.state.tables import CONTROL_COLUMNS, STATE_COLUMNS, RecordColumn
from trailbrake.user_files import decode_user_text, read_user_file

Array = NDArray[np.float64]
Columns = dict[str, Array]

MAX_BYTES = 1 << 30
MAX_COLUMNS = 2000
TIME = "time_s"


def is_drive_table(path: Path) -> bool:
    """Return whether a file is a CSV with our column of time in its first line."""
    if path.suffix.lower() not in (".csv", ".txt"):
        return False
    head = read_user_file(path, "table", MAX_BYTES).partition(b"\n")[0]
    return TIME.encode() in [cell.strip() for cell in head.split(b",")]


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
