"""Splits work on blocks of cars among threads; kernels release the GIL, so they run side by side."""

import threading
import time
import weakref
from collections.abc import Callable, Iterator
from queue import SimpleQueue

import numpy as np

from trailbrake.kernels.signal import APART, looks_in, tell, watch

PIECES = 8  # of the work for each thread: what a thread loses to something else is shared by all
LINGER = 1e-3  # s that a thread looks for more to do before it sleeps, and that it is waited for without sleeping
SETTLE = 8e-6  # s after which one that was called asks for the GIL: its caller is inside a kernel by then
NAP = 50e-6  # s between looks whether a thread is done that has taken too long

Work = Callable[[int, int, int], object]


class Team:
    """A number of threads, the caller's included.

    Work is handed out piece by piece to whoever is free: processors are seldom ours alone. A thread that has nothing
    to do looks for more for a while before it sleeps, so that calls that follow each other soon find it awake.

    Args:
        threads: how many.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._desk = _Desk(threads) if threads > 1 else None
        self._end = weakref.finalize(self, self._desk.close) if self._desk is not None else None

    def share(self, work: Work, units: int, least: int = 1) -> None:
        """Call `work(thread, lo, hi)` for ranges that make up 0..units, and return when all are done.

        Args:
            work: what is to be done; of one `thread`, counted from 0, there is one call at a time.
            units: how many there are.
            least: units that are worth a call of their own.
        """
        size = max(least, -(-units // (self.threads * PIECES)))
        if self._desk is None or units <= size:
            work(0, 0, units)
        else:
            self._desk.share(work, units, size)

    def close(self) -> None:
        """End the threads."""
        if self._end is not None:
            self._end()


class _Desk:
    """What a team's threads have in common, and what they do.

    `numbers[0]` is the number of the newest call, `numbers[APART * thread]` of the last one that a thread is done with.
    """

    def __init__(self, threads: int) -> None:
        self._numbers = np.zeros(APART * threads, np.int64)
        self._lock = threading.Lock()  # of all that follows
        self._call = 0
        self._open = True
        self._work: Work = _nothing
        self._pieces: Iterator[tuple[int, int]] = iter(())
        self._joined = [0] * threads  # the last call that a thread has joined
        self._asleep = [False] * threads
        self._alarms: list[SimpleQueue[None]] = [SimpleQueue() for _ in range(threads)]
        self._raised: BaseException | None = None
        self._linger, self._settle = looks_in(LINGER), looks_in(SETTLE)
        tell(self._numbers, 0, 0)  # both are compiled before a thread needs them
        for thread in range(1, threads):
            threading.Thread(target=self._attend, args=(thread,), name="trailbrake", daemon=True).start()

    def share(self, work: Work, units: int, size: int) -> None:
        # Whoever asks next gets the next piece: one step of the interpreter.
        pieces = zip(range(0, units, size), [*range(size, units, size), units], strict=True)
        self._announce(work, pieces)
        try:
            for lo, hi in pieces:
                work(0, lo, hi)
        finally:
            for _ in pieces:  # left by a piece that raised
                pass
            with self._lock:  # who has not come yet need not
                late = [thread for thread, call in enumerate(self._joined) if call == self._call]
                self._work = _nothing  # which would keep alive what it holds
            for thread in late:
                self._await(thread)
        if self._raised is not None:
            raise self._raised

    def close(self) -> None:
        self._open = False
        self._announce(_nothing, iter(()))

    def _announce(self, work: Work, pieces: Iterator[tuple[int, int]]) -> None:
        with self._lock:
            self._work, self._pieces, self._raised = work, pieces, None
            self._call += 1
            sleeping = [thread for thread, asleep in enumerate(self._asleep) if asleep]
            for thread in sleeping:
                self._asleep[thread] = False
        for thread in sleeping:
            self._alarms[thread].put(None)
        tell(self._numbers, 0, self._call)

    def _await(self, thread: int) -> None:
        place = APART * thread
        while (done := int(self._numbers[place])) != self._call:
            if watch(self._numbers, place, done, self._linger, 0) == done:
                time.sleep(NAP)

    def _attend(self, thread: int) -> None:
        seen = 0
        while self._open:
            if watch(self._numbers, 0, seen, self._linger, self._settle) == seen:
                with self._lock:
                    self._asleep[thread] = self._call == seen
                if self._asleep[thread]:
                    self._alarms[thread].get()
            with self._lock:
                seen = self._joined[thread] = self._call
                work, pieces = self._work, self._pieces
            try:
                for lo, hi in pieces:
                    work(thread, lo, hi)
            except BaseException as error:
                self._raised = error
            del work, pieces
            tell(self._numbers, APART * thread, seen)


def _nothing(thread: int, lo: int, hi: int) -> None:
    """Do nothing: stands where there is no work."""
