"""`ResultFolder`: one file per finished cell, so that an evaluation that was broken off goes on."""

from pathlib import Path

import msgspec

from trailbrake.errors import TrailbrakeError, UsageError, describe_os_error
from trailbrake.evaluate.cell_result import CellResult
from trailbrake.evaluate.plan import Cell, fingerprint_cell
from trailbrake.tasks.source_digest import hash_source
from trailbrake.user_files import is_regular_file, read_user_file, write_whole
from trailbrake.version import __version__

CELLS = "cells"  # folder of the results, below that of the evaluation
_DIGITS = 24  # of a fingerprint, in a file's name


class StoredCell(msgspec.Struct, frozen=True):
    """A finished cell, as its file has it.

    Attributes:
        cell: what was driven.
        result: what came out of it.
        trailbrake: the version that drove it.
        source: `hash_source` of the code that drove it.
    """

    cell: Cell
    result: CellResult
    trailbrake: str = ""
    source: str = ""


class ResultFolder:
    """The folder of an evaluation.

    Args:
        path: made where it is not there.
        any_source: whether results of other code than the present count, too.

    Raises:
        UsageError: it cannot be made.
    """

    def __init__(self, path: Path, *, any_source: bool = False) -> None:
        self.path = path
        self._source, self._any_source = hash_source(), any_source
        self._cells = path / CELLS
        self.recordings = path / "recordings"
        try:
            self._cells.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError("cannot make the folder", where=str(path), got=describe_os_error(error)) from error
        self._fingerprints: dict[Cell, str] = {}

    def log_path(self, job: int) -> Path:
        """Return the file that gets what the drivers of a job print."""
        return self.path / f"worker-{job}.log"

    def find_recording(self, cell: Cell) -> Path:
        """Return the file of a cell's recording."""
        return self.recordings / f"{self._fingerprint(cell)}.mcap"

    def read_result(self, cell: Cell) -> CellResult | None:
        """Return the result of a cell; None where it has none, or none that can be used."""
        path = self._cells / f"{self._fingerprint(cell)}.json"
        if not is_regular_file(path):
            return None
        try:
            stored = msgspec.json.decode(read_user_file(path, "result of a cell"), type=StoredCell)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, TrailbrakeError):
            return None  # it is driven again
        known = stored.cell == cell and (self._any_source or stored.source == self._source)
        return stored.result if known else None

    def store_result(self, cell: Cell, result: CellResult) -> None:
        """Write the file of a finished cell: all of it or none.

        Raises:
            UsageError: it cannot be written.
        """
        path = self._cells / f"{self._fingerprint(cell)}.json"
        stored = StoredCell(cell, result, __version__, self._source)
        write_whole(path, msgspec.json.format(msgspec.json.encode(stored)), "a result")

    def store_recording(self, path: Path, data: bytes) -> None:
        """Write the recording of a cell that was driven on another machine.

        Raises:
            UsageError: it cannot be written.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        except OSError as error:
            raise UsageError("cannot write a recording", where=str(path), got=describe_os_error(error)) from error

    def _fingerprint(self, cell: Cell) -> str:
        if cell not in self._fingerprints:
            self._fingerprints[cell] = fingerprint_cell(cell)[:_DIGITS]
        return self._fingerprints[cell]
