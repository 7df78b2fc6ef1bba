"""`Threaded`: a recorder whose disk can never delay the car."""

import queue
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

from trailbrake.record.container import Chunk, Sink
from trailbrake.record.writer import Recorder

CHUNKS_WAITING = 64  # half a minute of driving, some 10 MB; a third of that time with a camera
PATIENCE = 20.0  # s that close() waits for the disk

_Job = tuple[int, Callable[[], None]]  # rows inside, what to do


class _Queue:
    """A Sink that hands its calls to a thread. A full queue drops the chunk and counts its rows."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._behind: Sink = recorder.sink
        self._waiting: queue.Queue[_Job | None] = queue.Queue(CHUNKS_WAITING)
        self.crowded_out = 0  # rows; counted by the driving thread alone
        self.failed = 0  # rows; counted by the writing thread alone
        # A daemon, so that a disk that hangs for good cannot keep the process alive.
        self._thread = threading.Thread(target=self._work, name="recorder", daemon=True)
        self._thread.start()

    def _hand_over(self, rows: int, job: Callable[[], None]) -> None:
        try:
            self._waiting.put_nowait((rows, job))
        except queue.Full:
            self.crowded_out += rows

    def attach(self, name: str, media_type: str, data: bytes) -> None:
        self._hand_over(0, partial(self._behind.attach, name, media_type, data))

    def append(self, chunk: Chunk) -> None:
        self._hand_over(chunk.rows, partial(self._behind.append, chunk))

    def _work(self) -> None:
        while (item := self._waiting.get()) is not None:
            rows, job = item
            if self._recorder.error:
                self.failed += rows
                continue
            try:
                job()
            except Exception as error:  # a dead thread would swallow the rest of the drive without a word
                self.failed += rows
                self._recorder.fail(error)

    def close(self) -> None:
        try:
            self._waiting.put(None, timeout=PATIENCE)
        except queue.Full:
            raise TimeoutError(0, "a disk that does not answer") from None
        self._thread.join(PATIENCE)
        if self._thread.is_alive():
            raise TimeoutError(0, "a disk that does not answer")
        # Only now is it known whether everything went well.
        if self._recorder.error:
            self._behind.abandon()
        else:
            self._behind.close()

    def abandon(self) -> None:
        self.close()


class Threaded:
    """Wraps a `Recorder` for real time: tick() packs a row, a thread compresses and writes.

    Both of those release the interpreter, so the drive loop keeps its pace even when the disk stalls. What
    the queue cannot hold is dropped and counted.

    Args:
        recorder: a recorder that has not seen a tick yet; use it through this object from now on.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._queue = _Queue(recorder)
        recorder.sink = self._queue
        # The very same methods, not wrappers around them: tick() is called every millisecond or three.
        self.start = recorder.start
        self.map = recorder.map
        self.plan = recorder.plan
        self.tick = recorder.tick
        self.lap = recorder.lap
        self.event = recorder.event
        self.wire = recorder.wire
        self.flush = recorder.flush
        self.close = recorder.close

    @property
    def path(self) -> Path:
        """The file that is written."""
        return self._recorder.path

    @property
    def error(self) -> str:
        """Why recording stopped, empty while it has not."""
        return self._recorder.error

    @property
    def dropped(self) -> int:
        """Ticks that are not in the file."""
        return self._recorder.dropped + self._queue.crowded_out + self._queue.failed
