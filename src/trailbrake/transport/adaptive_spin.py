"""Polls for a while before a sleep, where polling has paid off before.

A process that sleeps runs again 20 to 100 us after its datagram has arrived; a polling one runs at once. In lockstep
two processes wait for each other's every message, which takes half of the time. But polling occupies a core, and where
cores are short, that of the very process that should answer. So each spin has a short limit, and after one without
success the next waits go without (exponential back-off).
"""

from collections.abc import Callable
from time import perf_counter

MAX_SPIN_S = 500e-6  # of one spin: more than another process needs to answer, far less than the shortest useful sleep
_PREEMPTED_S = 500e-6  # between two polls: meanwhile the system has run another process on the core
_MAX_SKIPPED_WAITS = 255  # waits at most without a spin after one without success
_RESET_AFTER_SUCCESSES = 20  # successful spins reset the back-off


class AdaptiveSpin:
    """Decides by its past spins whether to spin again. One for each socket.

    Args:
        clock: s, steady.
    """

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self._backoff = self._waits_to_skip = self._successes = 0

    def spin_until(self, is_ready: Callable[[], object]) -> bool:
        """Call `is_ready()` until it returns something true; False after MAX_SPIN_S, or where this wait is skipped."""
        if self._waits_to_skip:
            self._waits_to_skip -= 1
            return False
        clock = self._clock
        began = last = clock()
        while True:
            there = is_ready()
            now = clock()
            if now - last > _PREEMPTED_S or (not there and now - began > MAX_SPIN_S):
                self._backoff = (
                    0 if self._successes >= _RESET_AFTER_SUCCESSES else min(2 * self._backoff + 1, _MAX_SKIPPED_WAITS)
                )
                self._waits_to_skip, self._successes = self._backoff, 0
                return bool(there)
            if there:
                break
            last = now
        self._successes += 1
        return True
