"""The clock of the drive loop: steady time and waiting."""

import sys
import time
from collections.abc import Callable

# s before a deadline at which to stop sleeping and look at the clock alone. Linux wakes within this; Windows' timers
# of high resolution, which Python has used since 3.11, wake within a millisecond of the requested time.
SPIN_S = 0.001 if sys.platform == "win32" else 0.0006
POLL_S = 0.0002  # s between looks for a fresh sample while it is still far off


now = time.perf_counter  # steady time in s, with an arbitrary zero


def sleep_until(deadline: float) -> float:
    """Sleep, then spin, until `deadline` (s, as `now`). Return the time it is then."""
    left = deadline - time.perf_counter()
    if left > SPIN_S:
        time.sleep(left - SPIN_S)
    while (at := time.perf_counter()) < deadline:
        pass
    return at


def wait_until_fresh(
    fresh: Callable[[], bool], expected_at: float, deadline: float, rehearse: Callable[[], bool] | None = None
) -> bool:
    """Wait until `fresh()` is true, at most until `deadline`.

    Args:
        fresh: cheap test for a new sample.
        expected_at: when the sample is expected (s, as `now`); sleeps up to just before it, then looks often.
        deadline: when to give up.
        rehearse: called between looks that follow each other without sleep; returns whether the sample has come
            meanwhile.

    Returns:
        Whether a fresh sample is there.
    """
    while True:
        if fresh():
            return True
        at = time.perf_counter()
        if at >= deadline:
            return False
        ahead = expected_at - at
        if ahead > SPIN_S:
            time.sleep(min(ahead - SPIN_S, deadline - at))
        elif ahead < -2.0 * SPIN_S:
            time.sleep(min(POLL_S, deadline - at))  # it is late: stop burning the other side's core
        elif rehearse is not None and rehearse():
            return True


def processor_time() -> float:
    """Return the processor time that this process has spent, s: what a measurement on a busy machine goes by."""
    return time.process_time()


def iso_timestamp() -> str:
    """Return the local date and time for people, ISO 8601: 2026-11-21T14:30:05+0000."""
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")


def filename_timestamp() -> str:
    """Return the local date and time for file names: 20261121-143005."""
    return time.strftime("%Y%m%d-%H%M%S")
