"""The report of an Xbox 360 pad (XUSB), 12 bytes little-endian: what every pad backend sends and a host receives.

Source: protocol page forza-data-out, section 6.2. The wire's own signs: sticks are positive to the right and up.
"""

import math
from enum import IntFlag
from struct import Struct
from typing import NamedTuple

from trailbrake.errors import WireError

_REPORT = Struct("<H2B4h")
SIZE = _REPORT.size
AXIS_MAX = 32767  # full right; full left is -32767, and -32768 only comes from pads of hardware
TRIGGER_MAX = 255


class PadButton(IntFlag):
    """Bits of `PadReport.buttons`."""

    UP = 0x0001
    DOWN = 0x0002
    LEFT = 0x0004
    RIGHT = 0x0008
    START = 0x0010
    BACK = 0x0020
    LEFT_THUMB = 0x0040
    RIGHT_THUMB = 0x0080
    LEFT_SHOULDER = 0x0100
    RIGHT_SHOULDER = 0x0200
    GUIDE = 0x0400
    A = 0x1000
    B = 0x2000
    X = 0x4000
    Y = 0x8000


class PadReport(NamedTuple):
    """One report. Triggers 0..255, sticks -32768..32767; all zero is an untouched pad."""

    buttons: int = 0
    left_trigger: int = 0
    right_trigger: int = 0
    left_x: int = 0
    left_y: int = 0
    right_x: int = 0
    right_y: int = 0


NEUTRAL = PadReport()


def encode_axis(value: float) -> int:
    """Return the stick's integer for -1..1, clamped, rounded half to even; NaN is the centre."""
    return round(max(-1.0, min(1.0, value)) * AXIS_MAX) if not math.isnan(value) else 0


def encode_trigger(value: float) -> int:
    """Return the trigger's integer for 0..1, clamped, rounded half to even; NaN is released."""
    return round(max(0.0, min(1.0, value)) * TRIGGER_MAX) if not math.isnan(value) else 0


def driving_report(steer: float, throttle: float, brake: float = 0.0, buttons: int = 0) -> PadReport:
    """Return the report that drives a car: left stick, right and left trigger (section 6.1).

    Args:
        steer: -1..1, positive to the RIGHT as a stick is. Any NaN among the three makes the whole report neutral:
            half a command is worse than none.
        throttle: 0..1.
        brake: 0..1.
        buttons: `PadButton` bits.
    """
    if math.isnan(steer) or math.isnan(throttle) or math.isnan(brake):
        return NEUTRAL
    return PadReport(buttons, encode_trigger(brake), encode_trigger(throttle), encode_axis(steer))


def encode_report(report: PadReport) -> bytes:
    """Return the 12 bytes of `report`."""
    return _REPORT.pack(*report)


def decode_report(data: bytes) -> PadReport:
    """Return the report in `data`.

    Raises:
        WireError: not exactly 12 bytes (section 6.6). Any 12 bytes are a report.
    """
    if len(data) != SIZE:
        raise WireError("not a pad report", expected=f"{SIZE} bytes", got=str(len(data)))
    return PadReport(*_REPORT.unpack(data))
