"""A cell as a task: `drive_cell` from bytes to bytes, with the files that it names for another machine."""

import hashlib
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from trailbrake.errors import UsageError
from trailbrake.evaluate.cell_drive import drive_cell
from trailbrake.evaluate.cell_result import CellResult, failed_result
from trailbrake.evaluate.plan import Cell, list_named_parts
from trailbrake.evaluate.result_folder import MAX_FILE
from trailbrake.tasks.task_worker import TaskAnswer
from trailbrake.user_files import is_regular_file, read_user_file

CELL_TASK = "trailbrake.evaluate.cell_task:run_cell_task"
MAX_RECORDING = 2 << 30  # bytes
_DIGITS = 24  # of a digest, in a folder's name


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


def encode_job(cell: Cell, recording: Path | None, read_file: Callable[[str], bytes] | None) -> bytes:
    """Return a cell as the argument of a task.

    Args:
        cell: the drive.
        recording: file of the recording; None for none.
        read_file: returns the bytes of the file that a text names, b"" where it names none; None: the task runs where
            the files are.
    """
    named = {} if read_file is None else {part: read_file(part) for part in list_named_parts(cell)}
    job = CellJob(
        cell=cell, recording="" if recording is None else str(recording),
        returns_recording=read_file is not None and recording is not None,
        files={part: data for part, data in named.items() if data},
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
        cell = place_files(job.cell, job.files, Path(folder))
        recording = Path(job.recording) if job.recording else None
        if recording is not None and job.returns_recording:
            recording = Path(folder) / recording.name
        result, returned = drive_cell(cell, recording, say), b""
        if recording is not None and job.returns_recording and recording.is_file():
            returned = read_user_file(recording, "recording", MAX_RECORDING)
        return msgspec.msgpack.encode(CellAnswer(result, returned))


def _holds(path: Path, data: bytes) -> bool:
    return is_regular_file(path) and read_user_file(path, "file of a cell", MAX_FILE) == data


def place_files(cell: Cell, files: Mapping[str, bytes], folder: Path) -> Cell:
    """Return a cell whose files are those that were sent with it.

    A file that is here with the same bytes, as on shared storage, is used where it is: a driver may have modules beside
    it.

    Args:
        cell: with the names that the sender has.
        files: contents by name.
        folder: for files that are not here, of this user alone.

    Raises:
        UsageError: a file cannot be written.
    """
    names: dict[str, str] = {}
    for name, data in files.items():
        here = Path(name).expanduser()
        if _holds(here, data):
            continue
        placed = folder / hashlib.sha256(data).hexdigest()[:_DIGITS] / here.name
        try:
            placed.parent.mkdir(parents=True, exist_ok=True)
            placed.write_bytes(data)
        except OSError as error:
            raise UsageError("cannot write a file of the cell", where=str(placed),
                             got=error.strerror or str(error)) from error  # fmt: skip
        names[name] = str(placed)

    def rename(word: str) -> str:
        for name in sorted(names, key=len, reverse=True):
            if name in (word, word.partition("@")[0], *word.split(":")):
                return word.replace(name, names[name])
        return word

    def rename_pair(pair: str) -> str:
        key, equals, value = pair.partition("=")
        return f"{key}{equals}{rename(value)}"

    return msgspec.structs.replace(
        cell, track=rename(cell.track), car=rename(cell.car), driver=rename(cell.driver), config=rename(cell.config),
        believed_car=rename(cell.believed_car), believed_track=rename(cell.believed_track),
        host=tuple(map(rename_pair, cell.host)), gain=tuple(map(rename_pair, cell.gain)),
    )  # fmt: skip
