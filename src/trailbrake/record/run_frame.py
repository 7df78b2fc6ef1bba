"""`load` and `Telemetry`: rows of a recording as columns and tables; `export_parquet`: all of them as a Parquet file.

Columns are state, commands, bends, signals; and `lap`, the number of the finished lap that the row belongs to, 0 where
it belongs to none. In Python their names are those of `recording.state`; in a file they carry the unit, as in the CSV
export. Tables need the extra `frames`.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array
from trailbrake.config import recordings_folder
from trailbrake.errors import OsErrors, UsageError, suggest_names
from trailbrake.observe.path_curvature import PathBend, path_radius
from trailbrake.record.csv_files import COMMAND_PREFIX, DERIVED_NAMES, derive_curvature
from trailbrake.record.recording_reader import Recording
from trailbrake.record.run_index import resolve_recording
from trailbrake.state.fields import declared_quantities
from trailbrake.state.tables import CONTROL_COLUMNS, STATE_COLUMNS

BLOCK_ROWS = 50_000  # rows at a time: bounds the memory of an export
_INSTALL = 'pip install "trailbrake[frames]"'
_BENDS = declared_quantities(PathBend)
# Name in a file: name in Python, and its unit.
_NAMES: dict[str, tuple[str, str]] = {
    **{column.csv_name: (column.name, column.quantity.unit) for column in STATE_COLUMNS},
    **{
        COMMAND_PREFIX + column.csv_name: (COMMAND_PREFIX + column.name, column.quantity.unit)
        for column in CONTROL_COLUMNS
    },
    **{name: (field, _BENDS[field].unit) for name, field in zip(DERIVED_NAMES, _BENDS, strict=True)},
}
UNITS = dict(_NAMES.values())


class Telemetry(Mapping[str, Array]):
    """Rows of a recording by column name: `telemetry["speed"]`. Columns that were not supplied are left out.

    Args:
        recording: whose rows.
        rows: which.
        lap: leave out the rows that do not belong to the lap of this number; None: all rows.
    """

    def __init__(self, recording: Recording, rows: slice = slice(None), lap: int | None = None) -> None:
        self._recording, self._rows, self._lap = recording, rows, lap

    @cached_property
    def _columns(self) -> dict[str, Array]:
        found = _name_columns(self._recording, self._rows)
        kept = slice(None) if self._lap is None else found["lap"] == self._lap
        columns = {_NAMES.get(name, (name,))[0]: values[kept] for name, values in found.items()}
        return {name: values for name, values in columns.items() if np.isfinite(values).any()}

    def __getitem__(self, name: str) -> Array:
        if name not in self._columns:
            raise KeyError(f"no column {name!r}; {suggest_names(name, list(self._columns))}")
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def units(self) -> dict[str, str]:
        """The unit of each column that is declared, "1" for a ratio."""
        return {name: UNITS[name] for name in self if name in UNITS}

    def to_pandas(self) -> Any:
        """Return a DataFrame of pandas, one row for each tick; `attrs["units"]` has the units."""
        try:
            from trailbrake.record.old_names import OldNamesFrame
        except ImportError as error:
            raise UsageError("a DataFrame needs pandas", where="to_pandas", hint=_INSTALL) from error
        frame = OldNamesFrame(dict(self))
        frame.attrs.update(units=self.units, old_names={old: name for old, (name, _) in _NAMES.items() if name in self})
        return frame

    def to_polars(self) -> Any:
        """Return a DataFrame of Polars, one row for each tick."""
        try:
            import polars
        except ImportError as error:
            raise UsageError("a DataFrame needs polars", where="to_polars", hint=_INSTALL) from error
        return polars.DataFrame(dict(self))


def load(run: str | Path | Recording, library: Literal["pandas", "polars"] = "pandas") -> Any:
    """Return a recording as a DataFrame, one row for each tick.

    Args:
        run: a recording or a lap log of another tool, an open recording, a run's id or a part of it, `last` or `best`.
        library: whose DataFrame.

    Columns that were not supplied are left out. Text about the drive is in `Recording.open(...).about`.

    Raises:
        UsageError: there is no such run, or the library is missing.
        DataError: it is not a recording.
    """
    if library not in ("pandas", "polars"):
        raise UsageError("no such library", where="library", expected="pandas or polars", got=str(library))
    if not isinstance(run, Recording):
        from trailbrake.record.lap_logs import is_lap_log, read_lap_log  # which write our formats, too

        path = resolve_recording(str(run), recordings_folder())
        run = read_lap_log(path) if is_lap_log(path) else Recording.open(path)
    telemetry = Telemetry(run)
    return telemetry.to_pandas() if library == "pandas" else telemetry.to_polars()


def export_parquet(recording: Recording, out: str | Path) -> int:
    """Write a recording as a Parquet file and return the number of rows. The file's metadata has `about` as JSON.

    Raises:
        UsageError: PyArrow is missing, or `out` cannot be written.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise UsageError("Parquet needs PyArrow", where="--format parquet", hint=_INSTALL) from error
    names = list(_name_columns(recording, slice(0, 0)))
    about = json.dumps(recording.about, ensure_ascii=False)
    schema = pyarrow.schema([(name, pyarrow.float64()) for name in names], metadata={"trailbrake": about})
    rows = 0
    with (
        OsErrors("cannot write the export", where=str(out)),
        pyarrow.parquet.ParquetWriter(str(out), schema, compression="zstd") as writer,
    ):
        for block in _iterate_blocks(recording):
            writer.write_table(pyarrow.table(block, schema=schema))
            rows += len(block["lap"])
    return rows


def _iterate_blocks(recording: Recording) -> Iterator[dict[str, NDArray[np.float64]]]:
    for start in range(0, len(recording), BLOCK_ROWS):
        yield _name_columns(recording, slice(start, min(start + BLOCK_ROWS, len(recording))))


def _name_columns(recording: Recording, rows: slice) -> dict[str, NDArray[np.float64]]:
    """Return the columns of some rows by the names of the CSV export."""
    block = recording.read_rows(rows)
    columns = {column.csv_name: block.state[column.name] for column in STATE_COLUMNS}
    columns |= {COMMAND_PREFIX + column.csv_name: block.controls[column.name] for column in CONTROL_COLUMNS}
    first, stop, _ = rows.indices(len(recording))
    curvature = derive_curvature(recording, block, first)
    columns |= dict(zip(DERIVED_NAMES, (curvature, path_radius(curvature)), strict=True))
    columns |= {name: block.signals[name] for name in recording.signals}
    columns["lap"] = number_laps(recording, first, stop)
    return columns


def number_laps(recording: Recording, first: int, stop: int) -> NDArray[np.float64]:
    """Return the number of the lap that each row from `first` to before `stop` belongs to; 0: no finished one."""
    numbers = np.zeros(max(stop - first, 0))
    for lap in recording.laps:
        numbers[max(lap.first - first, 0) : max(min(lap.row, stop) - first, 0)] = lap.number
    numbers[recording.undone[first:stop]] = 0.0
    return numbers


def sample_evenly(recording: Recording, rate: float, columns: tuple[str, ...]) -> dict[str, NDArray[np.float64]]:
    """Return columns of the state, else of the controls, at even times from the first row on; "time" is among them.

    Times are `Recording.race_times`; what was undone is left out.

    Args:
        recording: with rows.
        rate: samples per second.
        columns: which; gears are not interpolated.
    """
    time = recording.race_times
    good = np.flatnonzero(~recording.undone & (time >= np.maximum.accumulate(time)))
    count = int((time[good[-1]] - time[good[0]]) * rate + 1e-6) + 1  # the last row is one of them
    at = time[good[0]] + np.arange(count) / rate
    sampled = {"time": at}
    for name in columns:
        source = recording.state if name in recording.state else recording.controls
        values = source[name]
        if not np.isfinite(values).any() and name in recording.controls:
            values = recording.controls[name]
        if name == "gear":
            sampled[name] = values[good[np.clip(np.searchsorted(time[good], at, side="right") - 1, 0, len(good) - 1)]]
        else:
            sampled[name] = np.interp(at, time[good], values[good])
    return sampled
