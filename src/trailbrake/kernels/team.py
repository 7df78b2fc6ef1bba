"""Splits work on blocks of cars among threads; kernels release the GIL, so they run side by side."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

PIECES = 8  # of the work for each thread: what a thread loses to something else is shared by all


class Team:
    """A number of threads, the caller's included.

    Work is handed out piece by piece to whoever is free: a thread sleeps between calls and takes some tens of
    microseconds to wake, and processors are seldom ours alone.

    Args:
        threads: how many.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads - 1, "trailbrake") if threads > 1 else None

    def share(self, work: Callable[[int, int, int], object], units: int, least: int = 1) -> None:
        """Call `work(thread, lo, hi)` for ranges that make up 0..units, and return when all are done.

        Args:
            work: what is to be done; of one `thread`, counted from 0, there is one call at a time.
            units: how many there are.
            least: units that are worth a call of their own.
        """
        size = max(least, -(-units // (self.threads * PIECES)))
        if self._pool is None or units <= size:
            work(0, 0, units)
            return
        starts = iter(range(0, units, size))  # whoever asks next gets the next: one step of the interpreter

        def take(thread: int) -> None:
            for lo in starts:
                work(thread, lo, min(lo + size, units))

        others = [self._pool.submit(take, thread) for thread in range(1, self.threads)]
        try:
            take(0)
        finally:
            for other in others:
                if not other.cancel():  # who has not woken yet need not
                    other.result()

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()
