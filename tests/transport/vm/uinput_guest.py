"""Runs inside the emulated machine, as root: makes the pad and reads it back as a game would."""

import fcntl
import os
import select
import struct
import subprocess
import sys
import time
from pathlib import Path

from trailbrake.transport.pad import Pad, UInputPad
from trailbrake.transport.pad_report import PadButton, PadReport

EVIOCGID, EVIOCGNAME = 0x80084502, 0x80504506  # linux/input.h: _IOR('E', 2, 8 bytes), _IOC of 80 bytes
EVENT = struct.Struct("<qqHHi")


def eviocgabs(axis):
    return 0x80184540 + axis  # _IOR('E', 0x40 + axis, struct input_absinfo of 24 bytes)


def devices():
    found = []
    for path in sorted(Path("/dev/input").glob("event*")):
        name = (Path("/sys/class/input") / path.name / "device" / "name").read_text().strip()
        if name == "Microsoft X-Box 360 pad":
            found.append(path)
    return found


def wait_for(what, seconds=20.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.05)
    return False


def read_all(file, seconds=0.3):
    """Return the events until none comes for so long."""
    events = []
    while select.select([file], [], [], seconds)[0]:
        data = os.read(file, 24 * 64)
        events += [EVENT.unpack_from(data, k)[2:] for k in range(0, len(data), 24)]
    return events


def main():
    assert not devices()
    backend = UInputPad()
    assert wait_for(devices), "no device"
    path = devices()[0]
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    assert struct.unpack("<4H", fcntl.ioctl(file, EVIOCGID, bytes(8))) == (0x0003, 0x045E, 0x028E, 0x0114)
    for axis, wanted in {0: (-32768, 32767), 1: (-32768, 32767), 2: (0, 255), 5: (0, 255), 16: (-1, 1)}.items():
        _, least, most, fuzz, flat, _ = struct.unpack("<6i", fcntl.ioctl(file, eviocgabs(axis), bytes(24)))
        assert ((least, most), fuzz, flat) == (wanted, 0, 0), (axis, least, most, fuzz, flat)
    assert wait_for(lambda: list(Path("/dev/input").glob("js*"))), "no joystick"
    read_all(file)
    came = []
    for value in (16000, 16010, 16040, -32768, 10, 0, 1, 0):  # with xpad's fuzz: 16000 16002 16040 -32768 10 7
        backend.send(PadReport(left_x=value))
        came += [event[2] for event in read_all(file) if event[:2] == (3, 0)]
    assert came == [16000, 16010, 16040, -32768, 10, 0, 1, 0], came
    backend.send(PadReport(PadButton.A | PadButton.RIGHT, 255, 128, 0, 32767))
    events = {event[:2]: event[2] for event in read_all(file)}
    assert events == {(3, 1): -32768, (3, 2): 255, (3, 5): 128, (3, 16): 1, (1, 0x130): 1, (0, 0): 0}, events
    os.close(file)
    pad = Pad(backend, dead_man=0.25)
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    pad.apply_controls(0.5, 1.0)
    events = read_all(file, 2.0)
    pressed = [event for event in events if event[:2] == (3, 5)]
    assert [event[2] for event in pressed] == [255, 0], pressed  # the dead-man let go
    os.close(file)
    pad.close()
    assert wait_for(lambda: not devices()), "the device stayed after close"
    # A process that is killed leaves no device, and so no throttle.
    code = (
        "from trailbrake.transport.pad import Pad\nfrom trailbrake.transport.pad import UInputPad\n"
        "import time\np = Pad(UInputPad(), dead_man=0.0)\np.apply(0.0, 1.0)\nprint('up', flush=True)\n"
        "time.sleep(600)"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert child.stdout.readline() == b"up\n"
    assert wait_for(devices)
    child.kill()
    child.wait()
    assert wait_for(lambda: not devices()), "the device stayed after a kill"
    print("GUEST PASSED", flush=True)


main()
