"""A cell as a task: `drive_cell` from bytes to bytes, with the files that it names for another machine."""

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import msgspec

from trailbrake.evaluate.cell_drive import drive_cell
from trailbrake.evaluate.cell_result import CellResult, failed_result
from trailbrake.evaluate.plan import Cell, list_named_words
from trailbrake.tasks.sent_files import collect_files, place_files, rename_files, rename_files_in_pair
from trailbrake.tasks.task_worker import TaskAnswer
from trailbrake.user_files import read_user_file

CELL_TASK = "trailbrake.evaluate.cell_task:run_cell_task"
MAX_RECORDING = 2 << 30  # bytes


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


def encode_job(cell: Cell, recording: Path | None, is_remote: bool) -> bytes:
    """Return a cell as the argument of a task.

    Args:
        cell: the drive.
        recording: file of the recording; None for none.
        is_remote: whether the task may run where its files are not, and the recording is wanted here.
    """
    job = CellJob(
        cell=cell, recording="" if recording is None else str(recording),
        returns_recording=is_remote and recording is not None,
        files=collect_files(list_named_words(cell)) if is_remote else {},
    )  # fmt: skip
    return msgspec.msgpack.encode(job)


def decode_answer(answer: TaskAnswer) -> CellAnswer:
    """Return what a task answered; a task that failed is a cell without a result."""
    if answer.error:
        return CellAnswer(failed_result(answer.error))
    return msgspec.msgpack.decode(answer.value, type=CellAnswer)


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
