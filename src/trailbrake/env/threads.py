"""Splits work over cars among threads; kernels release the GIL, so they run side by side."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from trailbrake.kernels.lanes import LANES

LEAST = 128  # cars for which another thread is worth its waking (some tens of microseconds)


class Team:
    """A number of threads, this one included.

    Args:
        threads: how many.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads - 1, "trailbrake-env") if threads > 1 else None

    def split(self, work: Callable[[int, int], object], n: int) -> None:
        """Call `work(lo, hi)` for ranges that make up 0..n, whole blocks of lanes each, and wait for all."""
        parts = min(self.threads, n // LEAST)
        if self._pool is None or parts < 2:
            work(0, n)
            return
        blocks = -(-n // LANES)
        edges = [min(blocks * k // parts * LANES, n) for k in range(parts + 1)]
        waiting = [self._pool.submit(work, edges[k], edges[k + 1]) for k in range(1, parts)]
        work(edges[0], edges[1])
        for future in waiting:
            future.result()

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()
