"""Our host, `serve`, under test, with a stranger's client at the other end."""

import os
import socket
import tempfile
import time
from pathlib import Path

from helpers.ports import free_port
from helpers.processes import Program
from helpers.waiting import wait_until

from faults.strangers import AgentStranger, CallStranger, PadStranger, PageStranger, ReplyStranger

SHIMS = Path(__file__).with_name("shims")
# A straight of 4 km on a field: a client that only weaves a little meets no wall.
FIELD = 'title = "Field"\nclosed = false\nwidth = 400.0\nrunoff = 100.0\n[[segment]]\nstraight = 4000\n'
START_S = 120.0


class HostRig:
    """`serve` on addresses of its own, and a stranger that drives its car."""

    def __init__(self, wire):
        self.patience = 1.0  # factor on limits
        self._temporary = tempfile.TemporaryDirectory(prefix="trailbrake-faults-", ignore_cleanup_errors=True)
        self.wire, self.folder = wire, Path(self._temporary.name)
        kind = socket.SOCK_DGRAM if wire.transport == "udp" else socket.SOCK_STREAM
        self.state_port, self.command_port = free_port(kind), free_port(kind)
        self.pages = self.folder / "pages"
        self.pages.mkdir()
        (self.folder / "field.toml").write_text(FIELD, encoding="utf-8")
        self.host = self.stranger = None
        try:
            self.host = self.start_host()
            self.host.wait_for_line("ready")
            self.stranger = self.make_stranger()
            self.wait_for_speed()
        except BaseException:
            self.close()
            raise

    def _address_flags(self):
        state, command = (f"127.0.0.1:{port}" for port in (self.state_port, self.command_port))
        return {
            "assetto": [],
            "forza": ["--send", state, "--pad-port", self.command_port, "--steering", "linear"],
            "beamng": ["--send", state, "--receive-port", self.command_port, "--speed", "real"],
            "donkeycar": ["--listen", command],
        }.get(self.wire.name, ["--connect", state, "--pace", "real"])

    def start_host(self):
        """Start another host with the same addresses."""
        world = [] if self.wire.name == "trend" else ["--track", self.folder / "field.toml", "--car", "hatchback"]
        return Program("serve", self.wire.name, *world, *self._address_flags(), "--json", TRAILBRAKE_SHM=self.pages,
                       PYTHONPATH=_path_with_shims())  # fmt: skip

    def make_stranger(self):
        name, wire = self.wire.name, self.wire
        if name == "assetto":
            return PageStranger(wire, self.pages)
        if wire.transport == "udp":
            kind = PadStranger if name == "forza" else ReplyStranger
            return kind(wire, self.state_port, self.command_port)
        return CallStranger(wire, self.command_port) if name == "donkeycar" else AgentStranger(wire, self.state_port)

    @property
    def trace(self):
        return self.stranger.trace

    def wait_for_speed(self, timeout_s=START_S):
        since = time.monotonic()
        took = wait_until(
            lambda: (
                (self.trace.speed >= self.wire.fast and self.trace.count_speeds_since(since) > 1)
                or not self.host.is_running
            ),
            timeout_s,
        )
        assert took is not None, f"no drive: {self.describe()}"
        assert self.host.is_running, f"the host has ended: {self.describe()}"
        return took

    def is_driven_since(self, at):
        """Return whether the host has sent states since `at`, and the car moves."""
        return (
            self.host.is_running and self.trace.count_speeds_since(at) >= 3 and self.trace.speed > 0.4 * self.wire.fast
        )

    def replace_stranger(self):
        self.stranger.die()
        self.stranger = self.make_stranger()

    def describe(self):
        code = self.host.process.poll() if self.host else None
        return f"speed {self.trace.speed:.1f} m/s; host {code}: {self.host.lines[-4:]}"

    def close(self):
        if self.stranger is not None:
            self.stranger.die()
        if self.host is not None:
            self.host.close()
        self._temporary.cleanup()


def _path_with_shims():
    return os.pathsep.join([str(SHIMS), *filter(None, [os.environ.get("PYTHONPATH")])])
