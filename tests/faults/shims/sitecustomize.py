"""Imported by every Python that has this folder on its path: SIGUSR1 sets its system clock back by an hour."""

import signal
import time


def set_clock_back(number, frame):
    for name, unit in (("time", 1), ("time_ns", 10**9)):
        true = getattr(time, name)
        setattr(time, name, lambda true=true, unit=unit: true() - 3600 * unit)


if hasattr(signal, "SIGUSR1"):
    signal.signal(signal.SIGUSR1, set_clock_back)
