"""The Linux pad: its bytes by hand from the kernel's headers, its calls in order, and a real kernel in a machine."""

import ctypes
import errno
import importlib.util
import os
import sys

import pytest

from trailbrake.errors import SimulatorError
from trailbrake.transport import pad
from trailbrake.transport.pad import UInputPad, encode_events
from trailbrake.transport.pad_report import NEUTRAL, PadButton, PadReport


class InputEvent(ctypes.LittleEndianStructure):
    """struct input_event of linux/input.h on a 64-bit system."""

    _fields_ = (
        ("sec", ctypes.c_int64), ("usec", ctypes.c_int64), ("type", ctypes.c_uint16), ("code", ctypes.c_uint16),
        ("value", ctypes.c_int32),
    )  # fmt: skip


def decoded(data):
    assert len(data) % ctypes.sizeof(InputEvent) == 0
    found = (InputEvent * (len(data) // ctypes.sizeof(InputEvent))).from_buffer_copy(data)
    return [(e.type, e.code, e.value) for e in found]


def test_the_sizes_are_the_kernel_s():
    assert (pad.SETUP.size, pad.ABS_SETUP.size, pad.EVENT_RECORD.size) == (92, 28, 24)


def test_an_axis_is_declared_without_fuzz():
    # protocol page, section 7
    golden = "00000000000000000080ffffff7f0000000000000000000000000000"
    assert pad.ABS_SETUP.pack(0, 0, *pad.AXES[0], 0, 0, 0).hex() == golden


def test_events_of_a_report():
    report = PadReport(PadButton.A | PadButton.LEFT | PadButton.UP, 255, 1, -32767, 32767, 5, -32768)
    found = decoded(encode_events(report))
    assert found[-1] == (0, 0, 0)  # the batch ends with SYN_REPORT
    values = {(kind, code): value for kind, code, value in found[:-1]}
    assert values[3, 0] == -32767
    assert values[3, 1] == -32768  # up is negative here
    assert values[3, 2] == 255  # brake
    assert values[3, 5] == 1  # throttle
    assert values[3, 3] == 5
    assert values[3, 4] == 32767
    assert values[3, 0x10] == -1
    assert values[3, 0x11] == -1
    assert [code for (kind, code), value in values.items() if kind == 1 and value] == [0x130]
    assert all(code in (0x130, 0x131, 0x133, 0x134, *range(0x136, 0x138), *range(0x13A, 0x13F))
               for kind, code, _ in found if kind == 1)  # fmt: skip


def test_neutral_is_not_quite_zero_in_y():
    values = {(kind, code): value for kind, code, value in decoded(encode_events(NEUTRAL))}
    assert values[3, 0] == 0
    assert values[3, 1] == -1  # ~0: xpad's own mirror image


@pytest.mark.skipif(sys.platform != "linux", reason="uinput is Linux's")
def test_the_device_is_set_up_before_it_is_created(monkeypatch):
    import fcntl

    asked, written = [], []
    monkeypatch.setattr(os, "open", lambda path, flags: 77)
    monkeypatch.setattr(os, "write", lambda file, data: written.append(data))
    monkeypatch.setattr(os, "close", lambda file: asked.append("close"))
    monkeypatch.setattr(fcntl, "ioctl", lambda file, request, argument=0: asked.append(request))
    pad = UInputPad()
    pad.send(PadReport(left_x=100))
    pad.close()
    pad.close()
    create, setup = asked.index(0x5501), asked.index(0x405C5503)
    assert setup < create
    assert all(asked.index(request) < setup for request in (0x40045564, 0x40045565, 0x40045567, 0x401C5504))
    assert asked[-2:] == [0x5502, "close"]
    assert asked.count("close") == 1
    assert len(written) == 2  # neutral first: some games take a pad only once it has said something


@pytest.mark.skipif(sys.platform != "linux", reason="uinput is Linux's")
def test_what_is_missing_is_said_in_one_line(monkeypatch):
    def refuse(path, flags):
        raise OSError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(SimulatorError, match=r"/dev/uinput: cannot make a gamepad: Permission denied; .*uaccess"):
        UInputPad()


@pytest.mark.vm
def test_a_real_kernel_shows_the_pad(tmp_path):
    """Boot a stock kernel in an emulator and read the pad back as a game would; see vm/README.md."""
    place = os.path.join(os.path.dirname(__file__), "vm", "boot.py")
    spec = importlib.util.spec_from_file_location("vm_boot", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    said = module.boot(tmp_path, os.path.join(os.path.dirname(place), "uinput_guest.py"))
    assert "GUEST PASSED" in said, said[-4000:]
