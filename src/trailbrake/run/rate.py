"""The only clock of the package: steady time, waiting, and a histogram of how long ticks took."""

import math
import time
from collections.abc import Callable

SPIN = 0.0006  # s before a deadline at which to stop sleeping: Linux and Windows >= 3.11 wake within this
POLL = 0.0002  # s between looks for a fresh sample while it is still far off


def now() -> float:
    """Return steady time in s, with an arbitrary zero."""
    return time.perf_counter()


def sleep_until(deadline: float) -> float:
    """Sleep, then spin, until `deadline` (s, as `now`). Return the time it is then."""
    left = deadline - time.perf_counter()
    if left > SPIN:
        time.sleep(left - SPIN)
    while (at := time.perf_counter()) < deadline:
        pass
    return at


def wait_for(fresh: Callable[[], bool], likely: float, deadline: float) -> bool:
    """Wait until `fresh()` is true, at most until `deadline`.

    Args:
        fresh: cheap test for a new sample.
        likely: when the sample is expected (s, as `now`); sleeps up to just before it, then looks often.
        deadline: when to give up.

    Returns:
        Whether a fresh sample is there.
    """
    while True:
        if fresh():
            return True
        at = time.perf_counter()
        if at >= deadline:
            return False
        ahead = likely - at
        if ahead > SPIN:
            time.sleep(min(ahead - SPIN, deadline - at))
        elif ahead < -2.0 * SPIN:
            time.sleep(min(POLL, deadline - at))  # it is late: stop burning the other side's core


class Durations:
    """A histogram of durations with 1 % bins: percentiles of any long run in constant memory."""

    __slots__ = ("_bins", "count", "longest")
    _PER_E = 100.0  # bins per factor e: each is 1 % wide
    _FLOOR = 1e-7  # s

    def __init__(self) -> None:
        self._bins = [0] * 2400  # 0.1 us * e^24: far beyond any tick
        self.count = 0
        self.longest = 0.0

    def add(self, seconds: float) -> None:
        """Count one duration."""
        index = int(math.log(seconds / self._FLOOR) * self._PER_E) if seconds > self._FLOOR else 0
        self._bins[min(index, 2399)] += 1
        self.count += 1
        if seconds > self.longest:
            self.longest = seconds

    def percentile(self, share: float) -> float:
        """Return the duration (s) that `share` (0..1) of the ticks stayed under; NaN when empty."""
        if not self.count:
            return math.nan
        wanted, seen = share * self.count, 0
        for index, number in enumerate(self._bins):
            seen += number
            if seen >= wanted and number:
                return min(self._FLOOR * math.exp((index + 1) / self._PER_E), self.longest)
        return self.longest


def date() -> str:
    """Return the local date and time for people, ISO 8601: 2026-11-21T14:30:05+0000."""
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")


def stamp() -> str:
    """Return the local date and time for file names: 20261121-143005."""
    return time.strftime("%Y%m%d-%H%M%S")
