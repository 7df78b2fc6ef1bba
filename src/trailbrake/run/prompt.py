"""Keeps Python's own habits from delaying a loop in real time."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

SWITCH = 1e-4  # s that another thread, the recorder's above all, may keep the loop waiting; Python's own is 5 ms


@contextmanager
def prompt() -> Iterator[None]:
    """Make the other threads of this process yield soon, and its collector of garbage leave alone what is there.

    What has been loaded and compiled before the loop is some hundred thousand objects: a look at all of them takes
    longer than a game's period. What the loop itself leaves behind is collected as ever.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH)
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        sys.setswitchinterval(before)
