"""Splits work over cars among threads; kernels release the GIL, so they run side by side."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from trailbrake.kernels.lanes import LANES
from trailbrake.world.layout import Axle

LEAST = 128  # cars for which another thread is worth its waking (some tens of microseconds)
_LINE = 64  # bytes of the cache at a time


def work_blocks(threads: int) -> list[NDArray[np.float64]]:
    """Return a work block of the world for each thread, (Axle.COUNT * LANES,), that begins on a line of the cache."""
    size = Axle.COUNT * LANES
    blocks = []
    for _ in range(threads):
        raw = np.zeros(size + _LINE // 8)
        first = -raw.ctypes.data % _LINE // 8
        blocks.append(raw[first : first + size])
    return blocks


class Team:
    """A number of threads, this one included.

    Args:
        threads: how many.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads - 1, "trailbrake-env") if threads > 1 else None

    def split(self, work: Callable[[int, int, int], object], n: int) -> None:
        """Call `work(part, lo, hi)` for ranges that make up 0..n, whole blocks of lanes each; `part` counts from 0."""
        parts = min(self.threads, n // LEAST)
        if self._pool is None or parts < 2:
            work(0, 0, n)
            return
        blocks = -(-n // LANES)
        edges = [min(blocks * k // parts * LANES, n) for k in range(parts + 1)]
        waiting = [self._pool.submit(work, k, edges[k], edges[k + 1]) for k in range(1, parts)]
        work(0, edges[0], edges[1])
        for future in waiting:
            future.result()

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()
