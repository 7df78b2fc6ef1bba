"""`WorkerProcess`: our end of a process that drives cells. It is started again after it has died."""

import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import msgspec

from trailbrake.evaluate.cell_result import CellResult, failed_result
from trailbrake.evaluate.worker import CellJob
from trailbrake.system import steady_clock
from trailbrake.system.processes import process_group_options

_END_LIMIT_S = 5.0  # s that a worker may take to end after its input has ended


class WorkerProcess:
    """One worker.

    Args:
        log: file that gets what drivers print.
        patience: s of wall time that a cell may take.
    """

    def __init__(self, log: Path, patience: float) -> None:
        self._log, self._patience = log, patience
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._lock = threading.Lock()

    def run_job(self, job: CellJob) -> CellResult | None:
        """Return the result of a job; None where `close` has ended the worker meanwhile."""
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
        answer = b""
        try:
            with suppress(OSError):
                process.stdin.write(msgspec.json.encode(job) + b"\n")
                process.stdin.flush()
                answer = process.stdout.readline()
        finally:
            timer.cancel()
        if answer.endswith(b"\n"):
            return msgspec.json.decode(answer, type=CellResult)
        self._end_process()
        if self._closed:
            return None
        wall = steady_clock.now() - began
        if late.is_set():
            return failed_result(f"no result within {self._patience:g} s of wall time", wall)
        return failed_result(f"its process ended, exit code {process.returncode}; see {self._log.name}", wall)

    def close(self) -> None:
        """End the worker, also in the middle of a cell. May be called from another thread."""
        with self._lock:
            self._closed = True
            process = self._process
        if process is not None:
            process.kill()

    def _start_process(self) -> "subprocess.Popen[bytes] | None":
        with self._lock:
            if self._closed:
                return None
            if self._process is None:
                with self._log.open("ab") as log:
                    self._process = subprocess.Popen(
                        [sys.executable, "-m", "trailbrake.evaluate.worker"], stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE, stderr=log, env=dict(os.environ), **process_group_options(),
                    )  # fmt: skip
            return self._process

    def end_quietly(self) -> None:
        """End the worker, which has nothing to do any more."""
        process = self._process
        if process is not None and process.stdin is not None:
            with suppress(OSError):
                process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                process.wait(_END_LIMIT_S)
        self._end_process()

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
