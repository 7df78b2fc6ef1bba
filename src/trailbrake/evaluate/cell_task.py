"""A cell as a task: `drive_cell` from bytes to bytes, with the files that it names for another machine."""

import functools
import math
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import msgspec

from trailbrake.campaign.case_run import CaseTask
from trailbrake.evaluate.cell_drive import drive_cell
from trailbrake.evaluate.cell_result import CellResult, failed_result
from trailbrake.evaluate.plan import Cell, fingerprint_cell, list_named_words
from trailbrake.evaluate.statistics import find_best_time, list_timed_laps
from trailbrake.tasks.sent_files import collect_files, place_files, rename_files, rename_files_in_pair
from trailbrake.tasks.task_worker import TaskAnswer
from trailbrake.user_files import make_folder, read_user_file, write_whole

CELL_TASK = "trailbrake.evaluate.cell_task:run_cell_task"
MAX_RECORDING = 2 << 30  # bytes
_DIGITS = 24  # of a fingerprint, in a recording's name


class CellJob(msgspec.Struct, frozen=True, kw_only=True):
    """A cell to drive.

    Attributes:
        cell: the drive.
        recording: file of the recording, "" for none.
        returns_recording: whether the answer has the recording, for a machine that has no such file.
        files: contents of the files that the cell names, by the text that names them.
    """

    cell: Cell
    recording: str = ""
    returns_recording: bool = False
    files: dict[str, bytes] = {}


class CellAnswer(msgspec.Struct, frozen=True):
    """What came out, and the recording where it is to be returned."""

    result: CellResult
    recording: bytes = b""


def make_cell_task(recordings: Path | None) -> CaseTask[Cell, CellResult]:
    """Return what a campaign does with a cell.

    Args:
        recordings: the folder of the recordings; None for none.
    """
    fingerprint = functools.cache(fingerprint_cell)  # reads the files that a cell names

    def find_recording(cell: Cell) -> Path | None:
        return None if recordings is None else recordings / f"{fingerprint(cell)[:_DIGITS]}.mcap"

    def encode(cell: Cell, is_remote: bool) -> bytes:
        recording = find_recording(cell)
        job = CellJob(
            cell=cell, recording="" if recording is None else str(recording),
            returns_recording=is_remote and recording is not None,
            files=collect_files(list_named_words(cell)) if is_remote else {},
        )  # fmt: skip
        return msgspec.msgpack.encode(job)

    def decode(cell: Cell, answer: TaskAnswer) -> CellResult:
        if answer.error:
            return failed_result(answer.error)
        found, recording = msgspec.msgpack.decode(answer.value, type=CellAnswer), find_recording(cell)
        if found.recording and recording is not None:
            write_whole(recording, found.recording, "a recording")
        return found.result

    if recordings is not None:
        make_folder(recordings)
    return CaseTask(
        CELL_TASK, "cells", fingerprint, encode, decode, describe_result,
        lambda result: result.outcome == "error",  # it may be one of the machine
    )  # fmt: skip


def describe_result(cell: Cell, result: CellResult) -> str:
    """Return a line about a cell and its result."""
    best = find_best_time(list_timed_laps(result, cell.laps))
    condition = f" ({', '.join(cell.condition)})" if cell.condition else ""
    belief = f", believes {cell.believed_car}" if cell.believed_car else ""
    lap = f", best {best:.3f} s" if math.isfinite(best) else ""
    why = f": {result.ended}" if result.ended else ""
    return (f"{cell.sim}, {cell.car} on {cell.track}{condition}, {cell.driver}{belief}: {result.outcome}{lap}{why}"
            f" [{result.wall_s:.0f} s]")  # fmt: skip


def run_cell_task(argument: bytes) -> bytes:
    """Drive the cell of an encoded `CellJob` and return an encoded `CellAnswer`."""
    job = msgspec.msgpack.decode(argument, type=CellJob)

    def say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory(prefix="trailbrake-cell-") as folder:
        cell = place_cell(job.cell, job.files, Path(folder))
        recording = Path(job.recording) if job.recording else None
        if recording is not None and job.returns_recording:
            recording = Path(folder) / recording.name
        result, returned = drive_cell(cell, recording, say), b""
        if recording is not None and job.returns_recording and recording.is_file():
            returned = read_user_file(recording, "recording", MAX_RECORDING)
        return msgspec.msgpack.encode(CellAnswer(result, returned))


def place_cell(cell: Cell, files: Mapping[str, bytes], folder: Path) -> Cell:
    """Return a cell whose files are those that were sent with it, as `place_files` says."""
    names = place_files(files, folder)

    def rename(word: str) -> str:
        return rename_files(word, names)

    def rename_all(pairs: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(rename_files_in_pair(pair, names) for pair in pairs)

    return msgspec.structs.replace(
        cell, track=rename(cell.track), car=rename(cell.car), driver=rename(cell.driver), config=rename(cell.config),
        believed_car=rename(cell.believed_car), believed_track=rename(cell.believed_track),
        host=rename_all(cell.host), gain=rename_all(cell.gain), line=rename(cell.line) if cell.line else cell.line,
    )  # fmt: skip
