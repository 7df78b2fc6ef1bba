"""Programs that step a car of a served world, with a door between them that sees the wire, and stall at a signal."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

from faults.wires import WIRES

from helpers.processes import Program
from helpers.waiting import let_pass, wait_until

START_S = 240.0  # a busy machine that may have to compile the kernels first
STALL_S = 2.0  # as in stepping_program.py
PROGRAM = Path(__file__).with_name("stepping_program.py")
CARS = ("--track", "proving_ground", "--car", "hatchback")


class SteppingProgram(Program):
    """A running `stepping_program.py`; `lines` and `output` grow as it prints."""

    def __init__(self, plan, **environment):
        self._follow_process(subprocess.Popen(
            [sys.executable, str(PROGRAM), json.dumps(plan)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}, start_new_session=True,
        ))  # fmt: skip

    def begin_fault(self, name):
        """Have the program do `name`; return the s, monotonic, at which it began."""
        said = len(self.output)
        self.process.stdin.write(f"{name}\n")
        self.process.stdin.flush()
        self.wait_for_output(said)
        return float(self.output[said])

    def resume_later(self):
        """Let a program that has stopped itself go on after STALL_S."""
        let_pass(STALL_S)
        self.send_signal(signal.SIGCONT)

    def wait_for_output(self, said, timeout_s=60.0):
        self._wait_until(lambda: len(self.output) > said, timeout_s)
        assert len(self.output) > said, (self.process.poll(), self.lines, self.output)

    def count_lines(self, text):
        return sum(text in line for line in self.lines)

    def close(self):
        if self.is_running:
            self.send_signal(signal.SIGCONT)
        super().close()
        self.process.stdin.close()


class SteppedWorld:
    """A served world, a door, and a program that steps its car.

    Attributes:
        door: sees the wire.
        program: at full throttle.
    """

    def __init__(self, wire, api="connect", **plan):
        self._temporary = tempfile.TemporaryDirectory(prefix="trailbrake-steps-", ignore_cleanup_errors=True)
        self.wire = WIRES[wire]
        self.door = self.wire.make_door(Path(self._temporary.name))
        self.host = self.program = None
        world = CARS if wire in ("assetto", "forza", "beamng") else ()
        classic = ["--no-classic"] if wire == "assetto" else []
        try:
            self.host = Program("serve", wire, *world, *classic, *self.door.host_flags, **self.door.host_environment)
            self.host.wait_for_line("ready")
            options = {
                flag[2:].replace("-", "_"): value
                for flag, value in zip(self.door.client_flags[::2], self.door.client_flags[1::2], strict=True)
            }
            environment = {name: str(value) for name, value in self.door.client_environment.items()}
            plan = {"api": api, "sim": wire, "live_options": options, **plan}
            self.program = SteppingProgram(plan, **environment)
            took = wait_until(lambda: self.trace.speed >= 0.3 * self.wire.fast or not self.program.is_running, START_S)
            assert took is not None, self.describe()
            assert self.program.is_running, self.describe()
        except BaseException:
            self.close()
            raise

    @property
    def trace(self):
        return self.door.trace

    def describe(self):
        return f"{self.trace.speed} m/s, {self.trace.commands[-2:]}, {self.program and self.program.lines[-4:]}"

    def stall(self, kind):
        """Stall the program; return when that began and when it ended, s, monotonic."""
        return self.do_fault(kind, lambda: self.program.resume_later() if kind == "stopped" else None)

    def do_fault(self, kind, meanwhile=lambda: None):
        """Have the program do `kind`; return when that began and when it ended, s, monotonic."""
        said = len(self.program.output)
        began = self.program.begin_fault(kind)
        meanwhile()
        self.program.wait_for_output(said + 1)
        return began, float(self.program.output[said + 1])

    def commands_between(self, began, ended):
        return [(when - began, command) for when, command in list(self.trace.commands) if began <= when < ended]

    def close(self):
        for program in (self.program, self.host):
            if program is not None:
                program.close()
        self.door.close()
        self._temporary.cleanup()


@contextmanager
def stepped_world(wire, api="connect", **plan):
    world = SteppedWorld(wire, api, **plan)
    try:
        yield world
    finally:
        world.close()
