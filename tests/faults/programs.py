"""Processes under test: started, read line by line, stopped, suspended and killed. Waiting is for a condition."""

import os
import signal
import subprocess
import sys
import threading

from helpers.processes import hear_all_signals
from helpers.waiting import wait_until


class Program:
    """A running `trailbrake`, which is killed when the block ends.

    Attributes:
        lines: of standard error so far.
        output: standard output so far.
    """

    def __init__(self, *words, **environment):
        hear_all_signals()
        self._follow_process(subprocess.Popen(
            [sys.executable, "-m", "trailbrake", *map(str, words)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, **{name: str(value) for name, value in environment.items()}},
        ))  # fmt: skip

    def _follow_process(self, process):
        self.process, self.lines, self.output = process, [], []
        self._readers = [
            threading.Thread(target=self._read, args=(stream, into), daemon=True)
            for stream, into in ((self.process.stderr, self.lines), (self.process.stdout, self.output))
        ]
        for reader in self._readers:
            reader.start()

    def _read(self, stream, into):
        with stream:
            for line in stream:
                into.append(line.rstrip("\n"))

    @property
    def is_running(self):
        return self.process.poll() is None

    @property
    def pid(self):
        return self.process.pid

    def has_said(self, text):
        return any(text in line for line in self.lines)

    def wait_for_line(self, text, timeout_s=180.0):
        wait_until(lambda: self.has_said(text) or not self.is_running, timeout_s, 0.02)
        assert self.has_said(text), f"it never said {text!r}, but: {self.lines}"

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
