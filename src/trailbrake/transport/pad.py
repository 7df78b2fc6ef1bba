"""Virtual gamepads: one `Pad` over several backends, with a dead-man switch.

A virtual pad keeps its last report as long as it exists, so a driver that hangs or dies would leave the throttle on.
After `DEAD_MAN_S` s of wall time without a call a thread of `Pad` sends the reports of a stop, then the neutral one;
`close` and the interpreter's exit send the neutral one at once. A killed process sends nothing, so the backend decides:
a uinput device disappears with its process, the receiver of UDP reports gives up after a second, vgamepad keeps the
last report.

An Xbox 360 pad on Windows, through the package vgamepad and the ViGEmBus driver that it brings.

Source: protocol page forza-data-out, section 6.3. The package raises on import where the driver is missing, so it is
imported only when a pad is made. ViGEmBus keeps the last report of a process that is killed.
"""

import atexit
import contextlib
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol, Self

from trailbrake.errors import SimulatorError, UsageError
from trailbrake.transport import pad_report
from trailbrake.transport.pad_report import NEUTRAL, PadReport
from trailbrake.transport.udp import Address, UdpSocket, parse_address

DEAD_MAN_S = 0.25  # s
STOP_STEP_S = 0.1  # s between the reports of a stop
KINDS = "auto, udp:HOST:PORT, uinput, vgamepad or none"


class PadBackend(Protocol):
    """The receiver of reports."""

    def send(self, report: PadReport) -> None:
        """Publish `report`; SimulatorError where the pad has disappeared."""

    def close(self) -> None:
        """Remove the pad. A second call does nothing."""


class LoopbackPad:
    """A pad without a device: keeps the newest report, for the embedded world and for tests.

    Attributes:
        report: the newest.
    """

    def __init__(self) -> None:
        self.report = NEUTRAL

    def send(self, report: PadReport) -> None:
        """Keep `report`."""
        self.report = report

    def close(self) -> None:
        """Nothing to remove."""


class UdpPad:
    """Sends each report as a datagram of 12 bytes, as `trailbrake serve forza` takes them at its pad port.

    Args:
        to: the receiver.
        udp: the endpoint to send from; None: one of its own.
    """

    def __init__(self, to: Address, udp: UdpSocket | None = None) -> None:
        self._to = to
        self._own = udp is None
        self._udp = udp or UdpSocket(("0.0.0.0", 0), where="--pad")

    def send(self, report: PadReport) -> None:
        """Send `report`; one that the system does not accept is lost, as datagrams are."""
        self._udp.send(pad_report.encode_report(report), self._to)

    def close(self) -> None:
        """Close the endpoint if this pad made it."""
        if self._own:
            self._udp.close()


class Pad:
    """A pad to drive with; a context manager. Calls may come from several threads.

    Args:
        backend: the receiver of the reports.
        dead_man: s of wall time without a call after which the dead-man acts; 0: never, for a simulator that is
            stepped in lockstep and has no wall time.
        stop: returns the report to send in its place, from the newest report of the driver and the s since then; the
            neutral report ends the stop. Called in a thread. By default the pad is neutral at once.

    Attributes:
        dead_man_releases: how often the dead-man acted.
    """

    def __init__(
        self,
        backend: PadBackend,
        dead_man: float = DEAD_MAN_S,
        stop: Callable[[PadReport, float], PadReport] = lambda last, elapsed: NEUTRAL,
    ) -> None:
        self.dead_man_releases = 0
        self._backend, self._dead_man, self._stop = backend, dead_man, stop
        self._last_report = NEUTRAL
        self._lock = threading.Lock()
        self._last_report_at = 0.0  # s of steady time: writing a number costs a tick less than waking the thread
        self._closing = threading.Event()
        self._closed = False
        self._dead_man_thread: threading.Thread | None = None
        atexit.register(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def apply_controls(self, steer: float, throttle: float, brake: float = 0.0, buttons: int = 0) -> None:
        """Send the report of `pad_report.driving_report`: `steer` is positive to the RIGHT, NaN is neutral."""
        self.send(pad_report.driving_report(steer, throttle, brake, buttons))

    def send(self, report: PadReport) -> None:
        """Send a report as it is."""
        with self._lock:
            if self._closed:
                raise SimulatorError("the pad is closed", where="pad")
            self._backend.send(report)
            self._last_report = report
            self._last_report_at = time.monotonic()
        if self._dead_man_thread is None and self._dead_man > 0.0:
            self._dead_man_thread = threading.Thread(target=self._run_dead_man, name="pad dead-man", daemon=True)
            self._dead_man_thread.start()

    def send_neutral(self) -> None:
        """Release every stick, trigger and button."""
        self.send(NEUTRAL)

    def _run_dead_man(self) -> None:
        acted_for = -1.0  # `_last_report_at` of the report that was replaced last
        is_over = True  # whether that stop is
        wait = self._dead_man
        while not self._closing.wait(wait):
            wait = self._last_report_at + self._dead_man - time.monotonic()
            if wait > 0.0:
                continue
            # A pad that has disappeared is reported to the next caller of `send`.
            with self._lock, contextlib.suppress(SimulatorError):
                wait = self._last_report_at + self._dead_man - time.monotonic()
                if wait > 0.0:  # a report has come meanwhile
                    continue
                if self._last_report_at != acted_for:
                    acted_for, is_over = self._last_report_at, False
                    self.dead_man_releases += 1
                wait = self._dead_man if is_over else STOP_STEP_S
                if not is_over and not self._closed:
                    report = self._stop(self._last_report, time.monotonic() - acted_for)
                    is_over = report == NEUTRAL
                    self._backend.send(report)

    def close(self) -> None:
        """Send the neutral report and remove the pad. A second call does nothing."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            try:
                self._backend.send(NEUTRAL)
            finally:
                self._backend.close()
        self._closing.set()
        if self._dead_man_thread is not None and self._dead_man_thread is not threading.current_thread():
            self._dead_man_thread.join()
        atexit.unregister(self.close)


def open_pad_backend(kind: str, where: str = "--pad") -> PadBackend:
    """Return the backend that `kind` names: auto, udp:HOST:PORT, uinput, vgamepad or none.

    `auto` is the pad of the system that this runs on.

    Raises:
        UsageError: no such kind, a wrong address, or a missing extra.
        SimulatorError: the system refuses to make a pad.
    """
    if kind == "auto":
        kind = "vgamepad" if sys.platform == "win32" else "uinput"
    if kind == "none":
        return LoopbackPad()
    if kind.startswith("udp:"):
        return UdpPad(parse_address(kind.removeprefix("udp:"), where=where))
    if kind == "uinput":
        from trailbrake.transport.pad_uinput import UInputPad

        return UInputPad()
    if kind == "vgamepad":
        return VGamepadPad()
    raise UsageError("no such pad", where=where, expected=KINDS, got=kind)


class VGamepadPad:
    """The pad. It exists from construction until `close`.

    Raises:
        UsageError: the package is not installed.
        SimulatorError: the driver is missing or refuses.
    """

    def __init__(self) -> None:
        try:
            import vgamepad
        except ImportError as error:
            raise UsageError(
                "the package vgamepad is missing", where="--pad vgamepad", hint='pip install "trailbrake[windows]"'
            ) from error
        except Exception as error:  # its own load of the driver's client library
            raise _driver_error(error) from error
        try:
            self._pad: Any = vgamepad.VX360Gamepad()
        except Exception as error:
            raise _driver_error(error) from error

    def send(self, report: PadReport) -> None:
        """Show `report`. The package's own record has the report's fields, under the names of its C header."""
        shown = self._pad.report
        shown.wButtons = report.buttons
        shown.bLeftTrigger, shown.bRightTrigger = report.left_trigger, report.right_trigger
        shown.sThumbLX, shown.sThumbLY = report.left_x, report.left_y
        shown.sThumbRX, shown.sThumbRY = report.right_x, report.right_y
        try:
            self._pad.update()
        except Exception as error:
            raise SimulatorError(f"the gamepad is gone: {error}", where="ViGEmBus") from error

    def close(self) -> None:
        """Remove the pad: the package does so when its object is deleted."""
        self._pad = None


def _driver_error(error: Exception) -> SimulatorError:
    return SimulatorError(
        f"no virtual gamepad: {error}",
        where="--pad vgamepad",
        hint="install the ViGEmBus driver (vgamepad's installer offers it) and try again",
    )
