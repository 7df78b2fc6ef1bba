"""`WorkerProcess`: our end of a process that runs tasks. It is started again after it has died."""

import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import msgspec

from trailbrake.system import steady_clock
from trailbrake.system.processes import process_group_options
from trailbrake.tasks.task_worker import TaskAnswer, TaskCall, read_frame, write_frame


class WorkerProcess:
    """One worker.

    Args:
        log: file that gets what tasks print.
        patience: s of wall time that a task may take.
    """

    def __init__(self, log: Path, patience: float) -> None:
        self._log, self._patience = log, patience
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._lock = threading.Lock()

    def run_task(self, call: TaskCall) -> TaskAnswer | None:
        """Return the answer of a task; None where `close` has ended the worker meanwhile."""
        process = self._start_process()
        if process is None:
            return None
        assert process.stdin is not None
        assert process.stdout is not None
        began = steady_clock.now()
        late = threading.Event()

        def give_up() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(self._patience, give_up)
        timer.daemon = True
        timer.start()
        frame = None
        try:
            with suppress(OSError):
                write_frame(process.stdin, msgspec.msgpack.encode(call))  # type: ignore[arg-type]
                frame = read_frame(process.stdout)  # type: ignore[arg-type]
        finally:
            timer.cancel()
        if frame is not None:
            return msgspec.msgpack.decode(frame, type=TaskAnswer)
        self._end_process()
        if self._closed:
            return None
        if late.is_set():
            return TaskAnswer(error=f"no result within {self._patience:g} s of wall time", is_lost=True)
        wall = steady_clock.now() - began
        code = process.returncode
        error = f"its process ended after {wall:.0f} s, exit code {code}; see {self._log.name}"
        return TaskAnswer(error=error, is_lost=True)

    def close(self) -> None:
        """End the worker, also in the middle of a task. May be called from another thread."""
        with self._lock:
            self._closed = True
            process = self._process
        if process is not None:
            process.kill()
            self._end_process()

    def _start_process(self) -> "subprocess.Popen[bytes] | None":
        with self._lock:
            if self._closed:
                return None
            if self._process is None:
                with self._log.open("ab") as log:
                    self._process = subprocess.Popen(
                        [sys.executable, "-m", "trailbrake.tasks.task_worker"], stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE, stderr=log, env=dict(os.environ), **process_group_options(),
                    )  # fmt: skip
            return self._process

    def _end_process(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
