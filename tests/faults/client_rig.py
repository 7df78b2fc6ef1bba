"""Our client at a served world, with a door between them."""

import os
import re
import signal
import tempfile
import time
from pathlib import Path

from helpers.processes import Program
from helpers.waiting import wait_until

from faults.trace import is_released

DRIVER_FILE = Path(__file__).with_name("faulty_driver.py")
START_S = 240.0  # a busy machine that may have to compile the kernels first
TRACEBACK = "Traceback (most recent call last)"


class ClientRig:
    """A world behind `serve`, a door, and `drive --live` under test. `close` ends all.

    Attributes:
        drive_began: s, monotonic, of the first command.
        has_steady_clock: no fault has changed simulator time yet.
    """

    def __init__(self, wire):
        self.patience = 1.0  # factor on limits
        self._temporary = tempfile.TemporaryDirectory(prefix="trailbrake-faults-", ignore_cleanup_errors=True)
        self.wire, self.folder = wire, Path(self._temporary.name)
        self.door = wire.make_door(self.folder)
        self.trigger = self.folder / "fault"
        self.late = self.folder / "late"  # s by which the driver is late once a second, in a file
        self._world = wire.world_flags(self.folder)
        self.host = self.client = None
        self.drive_began, self.has_steady_clock = 0.0, True
        try:
            self.start_host()
            self.start_client()
        except BaseException:
            self.close()
            raise

    @property
    def trace(self):
        return self.door.trace

    def start_host(self):
        words = ["serve", self.wire.name, *self._world, *self.door.host_flags]
        self.host = Program(*words, **self.door.host_environment)
        self.host.wait_for_line("ready")

    def make_client(self, *more):
        # Live, the client knows road and car where they are named; wires of cameras need neither.
        known = self._world if "RING" in self.wire.world or self.wire.world else []
        return Program(
            "drive", "--sim", self.wire.name, "--live", *known, "--laps", 0, "--driver", DRIVER_FILE, "--no-report",
            "--json", "--out", self.folder / "recordings", *self.door.client_flags, *more,
            TB_FAULT_DRIVER=self.wire.driver, TB_FAULT_FILE=self.trigger, TB_FAULT_LATE=self.late,
            **self.door.client_environment,
        )  # fmt: skip

    def start_client(self):
        self.client = self.make_client()
        self.wait_for_speed()
        self.drive_began = self.trace.commands[0][0]

    def wait_for_speed(self, timeout_s=START_S):
        """Wait until the car is fast enough for a fault and the client answers; return the s that it took."""
        since = time.monotonic()
        took = wait_until(
            lambda: (
                (self.trace.speed >= self.wire.fast and self.trace.commands_since(since))
                or not (self.client.is_running and self.host.is_running)
            ),
            timeout_s,
        )
        if took is None or not (self.client.is_running and self.host.is_running):
            raise AssertionError(f"no drive: {self.describe()}")
        return took

    def describe(self):
        return (
            f"speed {self.trace.speed:.1f} m/s, commands {self.trace.commands[-2:]}; client "
            f"{self.client and self.client.process.poll()}: {self.client and self.client.lines[-4:]}; host "
            f"{self.host.process.poll()}: {self.host.lines[-4:]}"
        )

    def drives_since(self, at):
        """Return whether the client has commanded the car since `at`, not only braked, and the car moves."""
        commands = self.trace.commands_since(at)
        return (
            self.client.is_running
            and len(commands) >= 5
            and any(not is_released(command) for command in commands)
            and self.trace.speed > 0.4 * self.wire.fast
        )

    def pull_trigger(self, fault):
        part = self.trigger.with_suffix(".part")
        part.write_text(fault, encoding="utf-8")
        part.replace(self.trigger)

    def recordings(self):
        return sorted((self.folder / "recordings").glob("*.mcap"), key=os.path.getmtime)

    def recorded_span(self):
        """Return first and last simulator time in the newest recording, s, and its number of rows."""
        from trailbrake.record.recording_reader import Recording

        recording = Recording.open(self.recordings()[-1])
        times = recording.state["time"]
        return float(times[0]), float(times[-1]), len(recording)

    def client_tracebacks(self):
        return [line for line in self.client.lines if re.search(re.escape(TRACEBACK), line)]

    def close(self):
        if self.client is not None and self.client.is_running:
            self.client.send_signal(signal.SIGKILL)
        for program in (self.client, self.host):
            if program is not None:
                program.close()
        self.door.close()
        self._temporary.cleanup()
