"""Virtual gamepads: one `Pad` over several backends, with a dead-man switch.

A virtual pad keeps its last report as long as it exists, so a driver that hangs or dies would leave the throttle on.
After `DEAD_MAN_S` s of wall time without a call a thread of `Pad` sends the reports of a stop, then the neutral one;
`close` and the interpreter's exit send the neutral one at once. A killed process sends nothing, so the backend decides:
a uinput device disappears with its process, the receiver of UDP reports gives up after a second, vgamepad keeps the
last report.

An Xbox 360 pad on Windows, through the package vgamepad and the ViGEmBus driver that it brings.

Source: protocol page forza-data-out, section 6.3. The package raises on import where the driver is missing, so it is
imported only when a pad is made. ViGEmBus keeps the last report of a process that is killed.

An Xbox 360 pad as a Linux input device, through /dev/uinput: ioctls and event records, no library.

Identity and ranges are those of the kernel's xpad driver, so that SDL, Steam and Wine use their mapping for that
pad, but fuzz and flat are 0: with xpad's fuzz of 16 the kernel smooths small moves, and a stick does not come back
to exactly 0. The device lives as long as the file is open: a killed process takes it away.

Source: protocol page forza-data-out, section 6.4; constants and structures of linux/uinput.h and linux/input.h.
"""

import atexit
import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable
from struct import Struct
from typing import Any, Protocol, Self

from trailbrake.errors import SimulatorError, UsageError
from trailbrake.transport import pad_report
from trailbrake.transport.pad_report import AXIS_MAX, NEUTRAL, TRIGGER_MAX, PadButton, PadReport
from trailbrake.transport.udp import Address, UdpSocket, parse_address

DEAD_MAN_S = 0.25  # s
STOP_STEP_S = 0.1  # s between the reports of a stop
KINDS = "auto, udp:HOST:PORT, uinput, vgamepad or none"
DEVICE = "/dev/uinput"
NAME = b"Microsoft X-Box 360 pad"
BUS_USB, VENDOR, PRODUCT, VERSION = 0x0003, 0x045E, 0x028E, 0x0114
UI_SET_EVBIT, UI_SET_KEYBIT, UI_SET_ABSBIT = 0x40045564, 0x40045565, 0x40045567
UI_DEV_SETUP, UI_ABS_SETUP = 0x405C5503, 0x401C5504
UI_DEV_CREATE, UI_DEV_DESTROY = 0x5501, 0x5502
SETUP = Struct("<HHHH80sI")  # bus, vendor, product, version, name, force-feedback effects
ABS_SETUP = Struct("<Hxxiiiiii")  # code, value, minimum, maximum, fuzz, flat, resolution
EVENT_RECORD = Struct("<qqHHi")  # seconds, microseconds, type, code, value; on 64-bit systems
EV_SYN, EV_KEY, EV_ABS, SYN_REPORT = 0, 1, 3, 0
ABS_X, ABS_Y, ABS_Z, ABS_RX, ABS_RY, ABS_RZ, ABS_HAT0X, ABS_HAT0Y = 0, 1, 2, 3, 4, 5, 0x10, 0x11
AXES = {  # code: (least, most)
    ABS_X: (-AXIS_MAX - 1, AXIS_MAX), ABS_Y: (-AXIS_MAX - 1, AXIS_MAX), ABS_Z: (0, TRIGGER_MAX),
    ABS_RX: (-AXIS_MAX - 1, AXIS_MAX), ABS_RY: (-AXIS_MAX - 1, AXIS_MAX), ABS_RZ: (0, TRIGGER_MAX),
    ABS_HAT0X: (-1, 1), ABS_HAT0Y: (-1, 1),
}  # fmt: skip
KEYS = {  # the kernel's BTN_ codes
    PadButton.A: 0x130, PadButton.B: 0x131, PadButton.X: 0x133, PadButton.Y: 0x134, PadButton.LEFT_SHOULDER: 0x136,
    PadButton.RIGHT_SHOULDER: 0x137, PadButton.BACK: 0x13A, PadButton.START: 0x13B, PadButton.GUIDE: 0x13C,
    PadButton.LEFT_THUMB: 0x13D, PadButton.RIGHT_THUMB: 0x13E,
}  # fmt: skip
_BUTTON_CODES = tuple((int(button), code) for button, code in KEYS.items())  # plain integers: quick to test


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


def encode_events(report: PadReport) -> bytes:
    """Return the event records that show `report`, end of batch included. The input core drops what did not change.

    Y axes point down here: `~value` mirrors the whole range into itself.
    """
    b = report.buttons
    hat_x = ((b & PadButton.RIGHT) != 0) - ((b & PadButton.LEFT) != 0)
    hat_y = ((b & PadButton.DOWN) != 0) - ((b & PadButton.UP) != 0)
    axes = (
        (ABS_X, report.left_x), (ABS_Y, ~report.left_y), (ABS_Z, report.left_trigger), (ABS_RX, report.right_x),
        (ABS_RY, ~report.right_y), (ABS_RZ, report.right_trigger), (ABS_HAT0X, hat_x), (ABS_HAT0Y, hat_y),
    )  # fmt: skip
    pack = EVENT_RECORD.pack
    records = [pack(0, 0, EV_ABS, code, value) for code, value in axes]
    records += [pack(0, 0, EV_KEY, code, int(b & bit != 0)) for bit, code in _BUTTON_CODES]
    records.append(pack(0, 0, EV_SYN, SYN_REPORT, 0))
    return b"".join(records)


class UInputPad:
    """The device. It exists from construction until `close`.

    Raises:
        SimulatorError: no Linux, no /dev/uinput, or no permission to use it.
    """

    def __init__(self) -> None:
        if sys.platform != "linux":
            raise SimulatorError("uinput is Linux's", where="--pad", hint="on Windows use --pad vgamepad")
        try:
            self._file = os.open(DEVICE, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            raise SimulatorError(
                f"cannot make a gamepad: {error.strerror}",
                where=DEVICE,
                hint="load the module uinput, and let your user write to it: a udev rule with "
                'KERNEL=="uinput", TAG+="uaccess"; `--pad udp:HOST:PORT` needs neither',
            ) from error
        try:
            self._create_device()
        except OSError as error:
            os.close(self._file)
            raise SimulatorError(f"the kernel refuses the gamepad: {error.strerror}", where=DEVICE) from error
        self.send(NEUTRAL)

    def _create_device(self) -> None:
        from fcntl import ioctl

        for kind in (EV_KEY, EV_ABS):
            ioctl(self._file, UI_SET_EVBIT, kind)
        for code in KEYS.values():
            ioctl(self._file, UI_SET_KEYBIT, code)
        for code, (least, most) in AXES.items():
            ioctl(self._file, UI_SET_ABSBIT, code)
            ioctl(self._file, UI_ABS_SETUP, ABS_SETUP.pack(code, 0, least, most, 0, 0, 0))
        ioctl(self._file, UI_DEV_SETUP, SETUP.pack(BUS_USB, VENDOR, PRODUCT, VERSION, NAME, 0))
        ioctl(self._file, UI_DEV_CREATE)

    def send(self, report: PadReport) -> None:
        """Write `report` as events."""
        try:
            os.write(self._file, encode_events(report))
        except OSError as error:
            raise SimulatorError(f"the gamepad is gone: {error.strerror}", where=DEVICE) from error

    def close(self) -> None:
        """Remove the device. A second call does nothing."""
        if self._file >= 0:
            from fcntl import ioctl

            with contextlib.suppress(OSError):
                ioctl(self._file, UI_DEV_DESTROY)
            os.close(self._file)
            self._file = -1
