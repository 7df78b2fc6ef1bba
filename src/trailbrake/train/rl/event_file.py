"""`EventFile`: scalars in TensorBoard's format, written at once.

The writers of PyTorch and TensorBoard write in a thread of their own; where the disk is full, that thread ends with a
traceback in the middle of the output.
"""

import os
import time
from collections.abc import Mapping
from pathlib import Path

from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter


class EventFile:
    """A new event file in a folder.

    Args:
        folder: it is made; TensorBoard reads all event files in it.
        first_step: of this file; what older files have from this step on no longer counts.

    Raises:
        OSError: it cannot be written.
    """

    def __init__(self, folder: Path, first_step: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        now = time.time_ns()
        self._file = (folder / f"events.out.tfevents.{now:d}.{os.getpid()}").open("wb")
        self._records = RecordWriter(self._file)
        self._write(Event(wall_time=now * 1e-9, step=first_step, file_version="brain.Event:2"))
        self._write(Event(step=first_step, session_log=SessionLog(status=SessionLog.START)))

    def add(self, step: int, figures: Mapping[str, float]) -> None:
        """Write the figures of a step; OSError where that fails."""
        values = [Summary.Value(tag=name, simple_value=value) for name, value in figures.items()]
        self._write(Event(wall_time=time.time(), step=step, summary=Summary(value=values)))

    def _write(self, event: Event) -> None:
        self._records.write(event.SerializeToString())
        self._file.flush()

    def close(self) -> None:
        """Close the file; OSError where that fails."""
        self._file.close()
