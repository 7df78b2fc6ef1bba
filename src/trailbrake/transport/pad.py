"""Virtual gamepads: one `Pad` over several backends, with a dead-man that lets go when nobody drives.

A pad that the system shows a game keeps its last report as long as it exists, so a driver that hangs or dies would
leave the throttle on. `Pad` sends the neutral report after `DEAD_MAN` s of wall time without a call, on `close`, and
at the interpreter's exit. A killed process cannot: there the backend counts (a uinput device vanishes with it, the
receiver of UDP reports gives up after a second, vgamepad keeps the last report).
"""

import atexit
import sys
import threading
import time
from types import TracebackType
from typing import Protocol, Self

from trailbrake.errors import SimulatorError, UsageError
from trailbrake.transport import pad_report
from trailbrake.transport.pad_report import NEUTRAL, PadReport
from trailbrake.transport.udp import Address, Udp, address

DEAD_MAN = 0.25  # s
KINDS = "auto, udp:HOST:PORT, uinput, vgamepad or none"


class Backend(Protocol):
    """What takes reports."""

    def send(self, report: PadReport) -> None:
        """Show `report` to whoever looks at the pad; SimulatorError where the pad is gone."""

    def close(self) -> None:
        """Take the pad away. A second time does nothing."""


class Loopback:
    """A pad that nobody sees: keeps the newest report, for the embedded world and for tests.

    Attributes:
        report: the newest.
        count: reports so far.
    """

    def __init__(self) -> None:
        self.report = NEUTRAL
        self.count = 0

    def send(self, report: PadReport) -> None:
        """Keep `report`."""
        self.report = report
        self.count += 1

    def close(self) -> None:
        """Nothing to take away."""


class UdpPad:
    """Sends each report as a datagram of 12 bytes, as `trailbrake serve forza` takes them at its pad port.

    Args:
        to: the receiver.
        udp: the endpoint to send from; None: one of its own.
    """

    def __init__(self, to: Address, udp: Udp | None = None) -> None:
        self._to = to
        self._own = udp is None
        self._udp = udp or Udp(("0.0.0.0", 0), where="--pad")

    def send(self, report: PadReport) -> None:
        """Send `report`; one that the system does not take is lost, as datagrams are."""
        self._udp.send(pad_report.encode(report), self._to)

    def close(self) -> None:
        """Close the endpoint, if it is this pad's own."""
        if self._own:
            self._udp.close()


class Pad:
    """A pad to drive with; a context manager. Calls may come from several threads.

    Args:
        backend: what takes the reports.
        dead_man: s of wall time without a call after which the pad goes neutral; 0: never, for a simulator that is
            stepped in lockstep and has no wall time.

    Attributes:
        let_go: how often the dead-man had to act.
    """

    def __init__(self, backend: Backend, dead_man: float = DEAD_MAN) -> None:
        self.let_go = 0
        self._backend, self._dead_man = backend, dead_man
        self._lock = threading.Lock()
        self._fed_at = 0.0  # s of steady time: a number costs a driver's tick less than waking the watcher would
        self._closing = threading.Event()
        self._closed = False
        self._watcher: threading.Thread | None = None
        atexit.register(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def apply(self, steer: float, throttle: float, brake: float = 0.0, buttons: int = 0) -> None:
        """Drive: see `pad_report.driving`. `steer` is positive to the RIGHT, as a stick is; NaN is neutral."""
        self.send(pad_report.driving(steer, throttle, brake, buttons))

    def send(self, report: PadReport) -> None:
        """Send a report as it is."""
        with self._lock:
            if self._closed:
                raise SimulatorError("the pad is closed", where="pad")
            self._backend.send(report)
        self._fed_at = time.monotonic()
        if self._watcher is None and self._dead_man > 0.0:
            self._watcher = threading.Thread(target=self._watch, name="pad dead-man", daemon=True)
            self._watcher.start()

    def neutral(self) -> None:
        """Let go of everything."""
        self.send(NEUTRAL)

    def _watch(self) -> None:
        let_go_at = -1.0  # `_fed_at` of the report that was taken back last
        wait = self._dead_man
        while not self._closing.wait(wait):
            fed_at = self._fed_at
            wait = fed_at + self._dead_man - time.monotonic()
            if wait > 0.0:
                continue
            wait = self._dead_man
            if fed_at != let_go_at:
                let_go_at = fed_at
                with self._lock:
                    if not self._closed:
                        self.let_go += 1
                        self._backend.send(NEUTRAL)

    def close(self) -> None:
        """Let go, and take the pad away. A second time does nothing."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            try:
                self._backend.send(NEUTRAL)
            finally:
                self._backend.close()
        self._closing.set()
        if self._watcher is not None and self._watcher is not threading.current_thread():
            self._watcher.join()
        atexit.unregister(self.close)


def backend(kind: str, where: str = "--pad") -> Backend:
    """Return the backend that `kind` names: auto, udp:HOST:PORT, uinput, vgamepad or none.

    `auto` is the pad of the system that this runs on.

    Raises:
        UsageError: no such kind, a wrong address, or a missing extra.
        SimulatorError: the system does not let us make a pad.
    """
    if kind == "auto":
        kind = "vgamepad" if sys.platform == "win32" else "uinput"
    if kind == "none":
        return Loopback()
    if kind.startswith("udp:"):
        return UdpPad(address(kind.removeprefix("udp:"), where=where))
    if kind == "uinput":
        from trailbrake.transport.pad_uinput import UInputPad

        return UInputPad()
    if kind == "vgamepad":
        from trailbrake.transport.pad_vgamepad import VGamepadPad

        return VGamepadPad()
    raise UsageError("no such pad", where=where, expected=KINDS, got=kind)
