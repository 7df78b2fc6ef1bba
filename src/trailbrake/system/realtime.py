"""Asks the system for punctuality while a drive or a host runs in real time: on Windows, elsewhere nothing is needed.

Windows wakes a process up to 15.6 ms late, saves power on programs without a window in front, and gives a game the
processor first. Each of the three can be changed without administrator rights.

`low_latency_interpreter` keeps Python's own habits from delaying a loop.
"""

import contextlib
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

SWITCH_INTERVAL_S = (
    1e-4  # s that another thread, the recorder's above all, may keep the loop waiting; Python's own is 5 ms
)

if sys.platform == "win32":
    import ctypes

    _ABOVE_NORMAL_PRIORITY_CLASS = 0x8000  # not HIGH: a game that starves feeds us nothing
    _POWER_THROTTLING = 4  # PROCESS_INFORMATION_CLASS.ProcessPowerThrottling
    _VERSION, _EXECUTION_SPEED, _IGNORE_TIMER_RESOLUTION = 1, 1, 4
    _TIMER_MS = 1

    @contextlib.contextmanager
    def high_resolution_timers() -> Iterator[None]:
        """Have timers of 1 ms, a priority a little above normal, and no saving of power, until it is left.

        What the system does not grant is done without.
        """
        kernel32, winmm = ctypes.WinDLL("kernel32"), ctypes.WinDLL("winmm")
        kernel32.GetCurrentProcess.restype = ctypes.c_void_p
        us = ctypes.c_void_p(kernel32.GetCurrentProcess())
        before = kernel32.GetPriorityClass(us)
        state = (ctypes.c_uint32 * 3)(_VERSION, _EXECUTION_SPEED | _IGNORE_TIMER_RESOLUTION, 0)  # ours to say: neither
        # Windows 10 and later; an older one refuses.
        kernel32.SetProcessInformation(us, _POWER_THROTTLING, state, ctypes.sizeof(state))
        kernel32.SetPriorityClass(us, _ABOVE_NORMAL_PRIORITY_CLASS)
        winmm.timeBeginPeriod(_TIMER_MS)
        try:
            yield
        finally:
            winmm.timeEndPeriod(_TIMER_MS)
            if before:
                kernel32.SetPriorityClass(us, before)

else:

    @contextlib.contextmanager
    def high_resolution_timers() -> Iterator[None]:
        """Do nothing: this system wakes in time, and priorities are not ours to raise."""
        yield


@contextmanager
def low_latency_interpreter() -> Iterator[None]:
    """Make the other threads of this process yield soon, and exclude existing objects from garbage collection.

    Loading and compiling leave some hundred thousand objects; a collection that scans all of them takes longer than
    a game's period. Objects made in the loop are collected as usual.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        sys.setswitchinterval(before)
