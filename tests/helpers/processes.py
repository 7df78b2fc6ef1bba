"""`trailbrake` as a process of its own, and what it says while it runs.

On Linux programs are forked from a process that has driven already: a start costs a sixth. The start itself is tested
by processes that start from nothing (`tests/cli/test_main.py`, `tests/test_package.py`).
"""

import atexit
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

STREAMS = {"stdout": 1, "stderr": 2}
IMPORTED = [
    "trailbrake.driving.serve", "trailbrake.driving.supervised.keeper_process", "trailbrake.sims.beamng.host",
    "trailbrake.sims.forza.host", "trailbrake.sims.trend.host", "helpers.processes", "helpers.warm_program",
]  # fmt: skip
if sys.platform == "linux":  # elsewhere a system's libraries may not stand a fork
    from multiprocessing import forkserver

    forking = multiprocessing.get_context("forkserver")
    forking.set_forkserver_preload(IMPORTED)


def hear_all_signals():
    """Let the programs that tests start hear Ctrl-C and a closed terminal, though the tests run in the background."""
    if sys.platform != "win32" and threading.current_thread() is threading.main_thread():
        if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
            signal.signal(signal.SIGHUP, lambda number, frame: None)  # under nohup the tests themselves go on
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.default_int_handler)


class ForkedProcess:
    """`python -m trailbrake` in a copy of a process that has imported it, with what tests use of `subprocess.Popen`."""

    def __init__(self, words, environment):
        with pytest.MonkeyPatch.context() as patch:  # where that process finds `helpers`
            patch.setenv("PYTHONPATH", str(Path(__file__).parents[1]), prepend=os.pathsep)
            forkserver.ensure_running()
        pipes = {name: forking.Pipe(duplex=False) for name in STREAMS}
        writers = {STREAMS[name]: writer for name, (_, writer) in pipes.items()}
        self._process = forking.Process(target=_run_trailbrake, args=(words, environment, os.getcwd(), writers))
        self._process.daemon = True  # ends with the tests, whatever happens
        self._process.start()
        for name, (reader, writer) in pipes.items():
            setattr(self, name, os.fdopen(os.dup(reader.fileno()), encoding="utf-8"))
            reader.close()
            writer.close()
        self.pid, self.kill = self._process.pid, self._process.kill

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.kill()
        self.wait()
        self.stdout.close()
        self.stderr.close()

    @property
    def returncode(self):
        return self._process.exitcode

    def poll(self):
        return self.returncode

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def wait(self, timeout=None):
        self._process.join(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired("trailbrake", timeout)
        return self.returncode


def _run_trailbrake(words, environment, folder, streams):
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    for number, writer in streams.items():
        os.dup2(writer.fileno(), number)
        writer.close()
    sys.argv = ["trailbrake", *words]
    sys.stdout = os.fdopen(1, "w")
    sys.stderr = os.fdopen(2, "w", buffering=1)
    from trailbrake.__main__ import main

    try:
        main()
    finally:
        atexit._run_exitfuncs()  # as at the end of any program; a copy leaves them out


def start_trailbrake(*words, **environment):
    """Start `trailbrake` with pipes that nobody reads yet."""
    environment = {**os.environ, **{name: str(value) for name, value in environment.items()}}
    words = [str(word) for word in words]
    if sys.platform == "linux":
        return ForkedProcess(words, environment)
    return subprocess.Popen(
        [sys.executable, "-m", "trailbrake", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip


class Program:
    """A running `trailbrake`, which `close` kills; `lines` of standard error and `output` grow as it prints."""

    def __init__(self, *words, **environment):
        self._follow_process(start_trailbrake(*words, **environment))

    def _follow_process(self, process):
        self.process, self.lines, self.output = process, [], []
        self._changed, self._open_streams = threading.Condition(), 2
        self._readers = [
            threading.Thread(target=self._read, args=(stream, into), daemon=True)
            for stream, into in ((process.stderr, self.lines), (process.stdout, self.output))
        ]
        for reader in self._readers:
            reader.start()

    def _read(self, stream, into):
        with stream:
            for line in stream:
                with self._changed:
                    into.append(line.rstrip("\n"))
                    self._changed.notify_all()
        with self._changed:
            self._open_streams -= 1
            self._changed.notify_all()

    @property
    def is_running(self):
        return self.process.poll() is None

    @property
    def pid(self):
        return self.process.pid

    def has_said(self, text):
        return any(text in line for line in self.lines)

    def wait_for_line(self, text, timeout_s=180.0):
        self._wait_until(lambda: self.has_said(text), timeout_s)
        assert self.has_said(text), f"it never said {text!r}, but: {self.lines}"

    def _wait_until(self, condition, timeout_s):
        """Wait for `condition`, which depends on what the program has printed, or for the end of its output."""
        with self._changed:
            self._changed.wait_for(lambda: condition() or not self._open_streams, timeout_s)

    def send_signal(self, number):
        self.process.send_signal(number)

    def wait_for_exit(self, timeout_s):
        """Return the exit code; None where it still runs."""
        try:
            code = self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None
        for reader in self._readers:
            reader.join(5.0)
        return code

    def close(self):
        """Kill it if it still runs."""
        if self.is_running:
            self.send_signal(signal.SIGCONT)
            self.process.kill()
        self.wait_for_exit(10.0)


class Command(Program):
    """A running `trailbrake`: `until` reads its standard error, `end` waits for it and returns its exit code."""

    def __init__(self, *words, shm, **environment):
        super().__init__(*words, TRAILBRAKE_SHM=shm, **environment)
        self._taken = 0

    @property
    def said(self):
        return self.lines

    def until(self, start):
        """Return the next line on standard error that begins with `start`."""
        found = []

        def look():
            while not found and self._taken < len(self.lines):
                self._taken += 1
                found.extend(line for line in self.lines[self._taken - 1 : self._taken] if line.startswith(start))
            return found

        self._wait_until(look, None)
        assert found, f"it never said {start!r}, but: {self.lines}"
        return found[0]

    def end(self, patience=60.0):
        code = self.wait_for_exit(patience)
        assert code is not None, f"it has not ended within {patience} s: {self.lines}"
        return code

    @property
    def out(self):
        return "".join(f"{line}\n" for line in self.output)

    @property
    def summary(self):
        return json.loads(self.out)


@contextmanager
def command(*words, shm, **environment):
    made = Command(*words, shm=shm, **environment)
    try:
        yield made
    finally:
        made.close()


def children(pid):
    """Return the ids of the processes that `pid` has started (Linux)."""
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(word) for word in file.read().split()]


def command_line(pid):
    """Return the words of a process (Linux)."""
    with open(f"/proc/{pid}/cmdline") as file:
        return file.read().split("\0")
