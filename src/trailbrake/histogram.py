"""A histogram of durations: percentiles of any long run in constant memory. It reads no clock."""

import math


class DurationHistogram:
    """A histogram of durations with 1 % bins: percentiles of any long run in constant memory."""

    __slots__ = ("_bins", "count", "longest", "total")
    _PER_E = 100.0  # bins per factor e: each is 1 % wide
    _FLOOR = 1e-7  # s

    def __init__(self) -> None:
        self._bins = [0] * 2400  # 0.1 us * e^24: far beyond any tick
        self.count = 0
        self.longest = self.total = 0.0  # s

    def add_duration(self, seconds: float) -> None:
        """Count one duration."""
        index = int(math.log(seconds / self._FLOOR) * self._PER_E) if seconds > self._FLOOR else 0
        self._bins[index if index < 2400 else 2399] += 1
        self.count += 1
        self.total += seconds
        if seconds > self.longest:
            self.longest = seconds

    @property
    def mean(self) -> float:
        """The mean duration, s; NaN when empty."""
        return self.total / self.count if self.count else math.nan

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
