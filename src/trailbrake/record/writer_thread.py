"""`write_in_thread`: a recorder's disk then never delays the drive loop."""

import queue
import threading
from collections.abc import Callable
from functools import partial

from trailbrake.record.mcap_file import Chunk, RecordingSink
from trailbrake.record.recorder import Recorder

MAX_QUEUED_CHUNKS = 64  # half a minute of driving, some 10 MB; a third of that time with a camera
CLOSE_TIMEOUT_S = 20.0  # s that close() waits for the disk

_Job = tuple[int, Callable[[], None]]  # rows inside, what to do


class _WriterQueue:
    """A RecordingSink that passes its calls to a thread. A full queue drops the chunk and counts its rows."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._sink: RecordingSink = recorder.sink
        self._jobs: queue.Queue[_Job | None] = queue.Queue(MAX_QUEUED_CHUNKS)
        self._dropped_rows = 0  # rows; counted by the driving thread alone
        self._failed_rows = 0  # rows; counted by the writing thread alone
        # A daemon, so that a disk that hangs for good cannot keep the process alive.
        self._thread = threading.Thread(target=self._run_jobs, name="recorder", daemon=True)
        self._thread.start()

    def _enqueue_job(self, rows: int, job: Callable[[], None]) -> None:
        try:
            self._jobs.put_nowait((rows, job))
        except queue.Full:
            self._dropped_rows += rows

    @property
    def lost_rows(self) -> int:
        """Rows that were accepted and not written."""
        return self._dropped_rows + self._failed_rows

    def attach_file(self, name: str, media_type: str, data: bytes) -> None:
        self._enqueue_job(0, partial(self._sink.attach_file, name, media_type, data))

    def append_chunk(self, chunk: Chunk) -> None:
        self._enqueue_job(chunk.rows, partial(self._sink.append_chunk, chunk))

    def _run_jobs(self) -> None:
        while (item := self._jobs.get()) is not None:
            rows, job = item
            if self._recorder.error:
                self._failed_rows += rows
                continue
            try:
                job()
            except Exception as error:  # a dead thread would lose the rest of the drive silently
                self._failed_rows += rows
                self._recorder.mark_failed(error)

    def close(self) -> None:
        try:
            self._jobs.put(None, timeout=CLOSE_TIMEOUT_S)
        except queue.Full:
            raise TimeoutError(0, "a disk that does not answer") from None
        self._thread.join(CLOSE_TIMEOUT_S)
        if self._thread.is_alive():
            raise TimeoutError(0, "a disk that does not answer")
        # Only now is it certain that every write succeeded.
        if self._recorder.error:
            self._sink.abandon()
        else:
            self._sink.close()

    def abandon(self) -> None:
        self.close()


def write_in_thread(recorder: Recorder) -> Recorder:
    """Have a thread compress and write what a recorder records in real time, and return the recorder.

    Both release the interpreter, so the drive loop keeps its pace even when the disk stalls. Chunks beyond the queue
    are dropped and counted.

    Args:
        recorder: without a tick yet.
    """
    recorder.sink = _WriterQueue(recorder)
    return recorder
