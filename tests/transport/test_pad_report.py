"""The pad's 12 bytes against the protocol page's golden vectors and against an independent structure."""

import ctypes
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.errors import WireError
from trailbrake.transport import pad_report
from trailbrake.transport.pad_report import NEUTRAL, PadButton, PadReport

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
    assert pad_report.encode_report(pad_report.driving_report(*levels)).hex() == text
    assert pad_report.decode_report(bytes.fromhex(text)) == pad_report.driving_report(*levels)


@given(st.binary(min_size=12, max_size=12))
def test_any_twelve_bytes_mean_what_the_c_structure_says(data):
    there = Xusb.from_buffer_copy(data)
    report = pad_report.decode_report(data)
    assert report._asdict() == {name: getattr(there, name) for name, _ in Xusb._fields_}
    assert pad_report.encode_report(report) == data


@given(st.floats(), st.floats(), st.floats())
def test_any_float_makes_a_report_within_the_ranges(steer, throttle, brake):
    report = pad_report.driving_report(steer, throttle, brake)
    assert pad_report.decode_report(pad_report.encode_report(report)) == report
    assert abs(report.left_x) <= 32767


@pytest.mark.parametrize("place", range(3))
def test_a_nan_anywhere_is_hands_off(place):
    levels = [1.0, 1.0, 1.0]
    levels[place] = math.nan
    assert pad_report.driving_report(*levels) == NEUTRAL


def test_buttons_are_kept():
    assert (
        pad_report.encode_report(pad_report.driving_report(0.0, 0.0, 0.0, PadButton.A | PadButton.LEFT_SHOULDER))[:2]
        == b"\x00\x11"
    )
    assert PadReport(buttons=int(PadButton.Y)).buttons == 0x8000


def test_the_buttons_are_those_of_the_c_header():
    assert {button.name: int(button) for button in PadButton} == {
        "UP": 0x0001, "DOWN": 0x0002, "LEFT": 0x0004, "RIGHT": 0x0008, "START": 0x0010, "BACK": 0x0020,
        "LEFT_THUMB": 0x0040, "RIGHT_THUMB": 0x0080, "LEFT_SHOULDER": 0x0100, "RIGHT_SHOULDER": 0x0200,
        "GUIDE": 0x0400, "A": 0x1000, "B": 0x2000, "X": 0x4000, "Y": 0x8000,
    }  # fmt: skip


def test_a_report_without_content_is_an_untouched_pad():
    assert pad_report.encode_report(PadReport()) == bytes(12)
    assert NEUTRAL == PadReport() == (0,) * 7
    assert pad_report.driving_report(0.0, 0.0) == NEUTRAL
    assert (pad_report.encode_axis(math.nan), pad_report.encode_trigger(math.nan)) == (0, 0)
    assert (pad_report.SIZE, pad_report.AXIS_MAX, pad_report.TRIGGER_MAX) == (12, 32767, 255)


@pytest.mark.parametrize("size", [0, 5, 11, 13, 40])
def test_a_report_of_another_length_is_one_line(size):
    with pytest.raises(WireError) as caught:
        pad_report.decode_report(bytes(size))
    assert str(caught.value) == f"not a pad report, expected 12 bytes, got {size}"
