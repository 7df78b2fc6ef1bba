"""A driver with a fault on demand: a file whose name is in TB_FAULT_FILE, once it exists, says which.

Until then it is the driver that TB_FAULT_DRIVER names.
"""

import asyncio
import ctypes
import datetime
import math
import os
import time

from trailbrake.drivers.loading import driver_registry
from trailbrake.state import Controls

BASE = driver_registry.builtin_driver_class(os.environ["TB_FAULT_DRIVER"])
FILE = os.environ["TB_FAULT_FILE"]
LATE_FILE = os.environ.get("TB_FAULT_LATE", FILE)
HANG_S = 600.0
SLOW_WRITE_S = 1.5  # longer than a chunk lasts: the disk cannot follow


def spin():
    while True:
        pass


def hold_the_interpreter():
    ctypes.PyDLL(None).sleep(int(HANG_S))  # a C call that does not release the interpreter lock


def slow_down_disk():
    """Let every chunk of the recording take SLOW_WRITE_S, as a disk that spins up, or one in a network."""
    from trailbrake.record.mcap_file import McapFile

    append = McapFile.append_chunk

    def append_slowly(self, chunk):
        time.sleep(SLOW_WRITE_S)
        append(self, chunk)

    McapFile.append_chunk = append_slowly


def set_clock_back():
    """Stand in for a system clock that is set back by an hour: what asks Python for the time of day gets that."""
    for name, unit in (("time", 1), ("time_ns", 10**9)):
        true = getattr(time, name)
        setattr(time, name, lambda true=true, unit=unit: true() - 3600 * unit)

    class Datetime(datetime.datetime):
        @classmethod
        def now(cls, tz=None):
            return super().now(tz) - datetime.timedelta(hours=1)

    datetime.datetime = Datetime


def raise_error():
    return 1 // 0


class MuteError(Exception):
    def __str__(self):
        raise ValueError("no text")

    __repr__ = __str__


class Unusual(BaseException):
    pass


def raise_this(error):
    def answer():
        raise error

    return answer


NAN = Controls(steer=math.nan, throttle=math.nan, brake=math.nan)
ANSWERS = {
    "driver raises": raise_error,
    "driver raises KeyboardInterrupt": raise_this(KeyboardInterrupt()),
    "driver raises CancelledError": raise_this(asyncio.CancelledError()),
    "driver raises GeneratorExit": raise_this(GeneratorExit()),
    "driver raises an exception without a text": raise_this(MuteError()),
    "driver raises a base exception of its own": raise_this(Unusual("stop")),
    "driver hangs in sleep": lambda: time.sleep(HANG_S),
    "driver hangs in a loop": spin,
    "driver hangs in a C call": hold_the_interpreter,
    "driver answers NaN": lambda: NAN,
    "driver answers a wrong type": lambda: "full throttle",
    "driver answers None": lambda: None,
}
SHIMS = {"slow disk": slow_down_disk, "clock of the system set back": set_clock_back}


class Driver(BASE):
    fault = ""
    late_at = -math.inf

    def act(self, state, dt):
        if state.time - self.late_at > 1.0 and os.path.exists(LATE_FILE):
            self.late_at = state.time
            with open(LATE_FILE, encoding="utf-8") as file:
                time.sleep(float(file.read() or 0.0))
        if not self.fault and os.path.exists(FILE):
            with open(FILE, encoding="utf-8") as file:
                self.fault = file.read()
            if self.fault in SHIMS:
                SHIMS[self.fault]()
        if self.fault in ANSWERS:
            return ANSWERS[self.fault]()
        if self.fault and not os.path.exists(FILE):
            self.fault = ""
        return super().act(state, dt)
