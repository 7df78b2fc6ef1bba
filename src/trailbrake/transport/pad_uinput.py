"""An Xbox 360 pad as a Linux input device, through /dev/uinput: ioctls and event records, no library.

Identity and ranges are those of the kernel's xpad driver, so that SDL, Steam and Wine use their mapping for that
pad, but fuzz and flat are 0: with xpad's fuzz of 16 the kernel smooths small moves, and a stick does not come back
to exactly 0. The device lives as long as the file is open: a killed process takes it away.

Source: protocol page forza-data-out, section 6.4; constants and structures of linux/uinput.h and linux/input.h.
"""

import contextlib
import os
import sys
from struct import Struct

from trailbrake.errors import SimulatorError
from trailbrake.transport.pad_report import AXIS_MAX, NEUTRAL, TRIGGER_MAX, PadButton, PadReport

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
