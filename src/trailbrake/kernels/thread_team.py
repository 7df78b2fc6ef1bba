"""Splits work on blocks of cars among threads; kernels release the GIL, so they run side by side."""

import threading
import time
import weakref
from collections.abc import Callable, Iterator
from queue import SimpleQueue

import numpy as np

from trailbrake.kernels.atomics import COUNTER_STRIDE, count_spins, spin_until_changed, store_release

CHUNKS_PER_THREAD = 8  # more than one, so that the other threads take over from one that the system interrupts
SPIN_S = 1e-3  # s that a thread polls for work before it sleeps, and that the caller polls for a late thread
SETTLE_S = 8e-6  # s that a woken thread waits before it takes the GIL: its caller is in a kernel by then
POLL_S = 50e-6  # s of sleep between polls for a thread that is later than SPIN_S

RangeTask = Callable[[int, int, int], object]


class Team:
    """A team of threads, which includes the caller's.

    Free threads take the next chunk of the work, because other programs may hold up any of them. An idle thread polls
    for work for a while before it sleeps, so that a call soon after another finds it awake.

    Args:
        threads: number of threads.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._queue = _WorkQueue(threads) if threads > 1 else None
        self._finalizer = weakref.finalize(self, self._queue.close) if self._queue is not None else None

    def __reduce__(self) -> tuple[type["Team"], tuple[int]]:
        return Team, (self.threads,)

    def parallel_for(self, task: RangeTask, count: int, min_chunk: int = 1) -> None:
        """Call `task(thread, lo, hi)` for ranges that make up 0..count, and return when all calls have returned.

        Args:
            task: runs one range; a thread, numbered from 0, makes one call at a time.
            count: number of units.
            min_chunk: least number of units for a call.
        """
        size = max(min_chunk, -(-count // (self.threads * CHUNKS_PER_THREAD)))
        if self._queue is None or count <= size:
            task(0, 0, count)
        else:
            self._queue.run_chunks(task, count, size)

    def close(self) -> None:
        """End the threads."""
        if self._finalizer is not None:
            self._finalizer()


class _WorkQueue:
    """The work that the threads of a team share, and the loop of each thread.

    `_counters[0]` is the number of the newest call, `_counters[COUNTER_STRIDE * thread]` that of the last call that
    a thread has finished.
    """

    def __init__(self, threads: int) -> None:
        self._counters = np.zeros(COUNTER_STRIDE * threads, np.int64)
        self._lock = threading.Lock()  # guards the attributes below
        self._call_number = 0
        self._open = True
        self._task: RangeTask = _do_nothing
        self._chunks: Iterator[tuple[int, int]] = iter(())
        self._joined = [0] * threads  # the last call that each thread has joined
        self._sleeping = [False] * threads
        self._wakers: list[SimpleQueue[None]] = [SimpleQueue() for _ in range(threads)]
        self._error: BaseException | None = None
        self._spins, self._settle_spins = count_spins(SPIN_S), count_spins(SETTLE_S)
        store_release(self._counters, 0, 0)  # compiles both kernels before a thread needs them
        for thread in range(1, threads):
            threading.Thread(target=self._run_worker, args=(thread,), name="trailbrake", daemon=True).start()

    def run_chunks(self, task: RangeTask, count: int, size: int) -> None:
        # `next` of the iterator is one step of the interpreter, so every chunk goes to one thread.
        pieces = zip(range(0, count, size), [*range(size, count, size), count], strict=True)
        self._publish_work(task, pieces)
        try:
            for lo, hi in pieces:
                task(0, lo, hi)
        finally:
            for _ in pieces:  # chunks that an exception has left
                pass
            with self._lock:  # threads that have not joined yet find no chunk
                late = [thread for thread, call in enumerate(self._joined) if call == self._call_number]
                self._task = _do_nothing  # a reference would keep its arrays alive
            for thread in late:
                self._wait_for_thread(thread)
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        self._open = False
        self._publish_work(_do_nothing, iter(()))

    def _publish_work(self, task: RangeTask, chunks: Iterator[tuple[int, int]]) -> None:
        with self._lock:
            self._task, self._chunks, self._error = task, chunks, None
            self._call_number += 1
            sleeping = [thread for thread, asleep in enumerate(self._sleeping) if asleep]
            for thread in sleeping:
                self._sleeping[thread] = False
        for thread in sleeping:
            self._wakers[thread].put(None)
        store_release(self._counters, 0, self._call_number)

    def _wait_for_thread(self, thread: int) -> None:
        place = COUNTER_STRIDE * thread
        while (done := int(self._counters[place])) != self._call_number:
            if spin_until_changed(self._counters, place, done, self._spins, 0) == done:
                time.sleep(POLL_S)

    def _run_worker(self, thread: int) -> None:
        seen = 0
        while self._open:
            if spin_until_changed(self._counters, 0, seen, self._spins, self._settle_spins) == seen:
                with self._lock:
                    self._sleeping[thread] = self._call_number == seen
                if self._sleeping[thread]:
                    self._wakers[thread].get()
            with self._lock:
                seen = self._joined[thread] = self._call_number
                work, pieces = self._task, self._chunks
            try:
                for lo, hi in pieces:
                    work(thread, lo, hi)
            except BaseException as error:
                self._error = error
            del work, pieces
            store_release(self._counters, COUNTER_STRIDE * thread, seen)


def _do_nothing(thread: int, lo: int, hi: int) -> None:
    """Do nothing: the task while there is no work."""
