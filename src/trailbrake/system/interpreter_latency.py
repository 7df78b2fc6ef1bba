"""Keeps Python's own habits from delaying a loop in real time."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

SWITCH_INTERVAL_S = (
    1e-4  # s that another thread, the recorder's above all, may keep the loop waiting; Python's own is 5 ms
)


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
