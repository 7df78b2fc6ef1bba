"""`trailbrake` as a process of its own, and what it says while it runs."""

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager


def hear_all_signals():
    """Let the programs that tests start hear Ctrl-C and a closed terminal, though the tests run in the background."""
    if sys.platform != "win32" and threading.current_thread() is threading.main_thread():
        if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
            signal.signal(signal.SIGHUP, lambda number, frame: None)  # under nohup the tests themselves go on
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.default_int_handler)


class Command:
    """A running `trailbrake`: `until` reads its standard error, `end` waits for it and returns its exit code."""

    def __init__(self, *words, shm, **environment):
        self.said = []
        self.process = subprocess.Popen(
            [sys.executable, "-m", "trailbrake", *map(str, words)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "TRAILBRAKE_SHM": str(shm), **environment},
        )  # fmt: skip

    def until(self, start):
        """Return the next line on standard error that begins with `start`."""
        for line in self.process.stderr:
            self.said.append(line.rstrip("\n"))
            if line.startswith(start):
                return self.said[-1]
        raise AssertionError(f"it never said {start!r}, but: {self.said}")

    def end(self, patience=60.0):
        out, err = self.process.communicate(timeout=patience)
        self.out = out
        self.said += err.splitlines()
        return self.process.returncode

    @property
    def summary(self):
        return json.loads(self.out)


@contextmanager
def command(*words, shm, **environment):
    made = Command(*words, shm=shm, **environment)
    try:
        yield made
    finally:
        if made.process.poll() is None:
            made.process.kill()
            made.process.wait()
        made.process.stdout.close()
        made.process.stderr.close()


def children(pid):
    """Return the ids of the processes that `pid` has started (Linux)."""
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(word) for word in file.read().split()]


def command_line(pid):
    """Return the words of a process (Linux)."""
    with open(f"/proc/{pid}/cmdline") as file:
        return file.read().split("\0")
