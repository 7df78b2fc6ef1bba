"""The pad's 12 bytes against the protocol page's golden vectors and against an independent structure."""

import ctypes
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.errors import WireError
from trailbrake.transport import pad_report
from trailbrake.transport.pad_report import NEUTRAL, Button, PadReport

# (steer, throttle, brake) -> bytes, section 7 of the protocol page. Its last vector has a digit too many there.
GOLDEN = [
    ((0.0, 0.0, 0.0), "000000000000000000000000"),
    ((1.0, 1.0, 0.0), "000000ffff7f000000000000"),
    ((-1.0, 0.0, 1.0), "0000ff000180000000000000"),
    ((0.5, 0.75, 0.25), "000040bf0040000000000000"),
    ((-0.25, 0.1, 0.0), "0000001a00e0000000000000"),
]


class Xusb(ctypes.LittleEndianStructure):
    """XUSB_REPORT as its C header declares it."""

    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (
        ("buttons", ctypes.c_uint16), ("left_trigger", ctypes.c_uint8), ("right_trigger", ctypes.c_uint8),
        ("left_x", ctypes.c_int16), ("left_y", ctypes.c_int16), ("right_x", ctypes.c_int16),
        ("right_y", ctypes.c_int16),
    )  # fmt: skip


@pytest.mark.parametrize(("levels", "text"), GOLDEN)
def test_golden(levels, text):
    assert pad_report.encode(pad_report.driving(*levels)).hex() == text
    assert pad_report.decode(bytes.fromhex(text)) == pad_report.driving(*levels)


@given(st.binary(min_size=12, max_size=12))
def test_any_twelve_bytes_mean_what_the_c_structure_says(data):
    there = Xusb.from_buffer_copy(data)
    report = pad_report.decode(data)
    assert report._asdict() == {name: getattr(there, name) for name, _ in Xusb._fields_}
    assert pad_report.encode(report) == data


@given(st.binary(max_size=40).filter(lambda b: len(b) != 12))
def test_another_length_is_refused(data):
    with pytest.raises(WireError, match="expected 12 bytes"):
        pad_report.decode(data)


@given(st.floats(), st.floats(), st.floats())
def test_any_float_makes_a_report_within_the_ranges(steer, throttle, brake):
    report = pad_report.driving(steer, throttle, brake)
    assert pad_report.decode(pad_report.encode(report)) == report
    assert abs(report.left_x) <= 32767


@pytest.mark.parametrize("place", range(3))
def test_a_nan_anywhere_is_hands_off(place):
    levels = [1.0, 1.0, 1.0]
    levels[place] = math.nan
    assert pad_report.driving(*levels) == NEUTRAL


def test_buttons_are_kept():
    assert pad_report.encode(pad_report.driving(0.0, 0.0, 0.0, Button.A | Button.LEFT_SHOULDER))[:2] == b"\x00\x11"
    assert PadReport(buttons=int(Button.Y)).buttons == 0x8000
