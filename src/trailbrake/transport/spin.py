"""Looks again and again before it sleeps, where that is known to pay.

A process that sleeps for a datagram runs again 20 to 100 us after it has come; one that looks all the time, at once. In
lockstep two processes wait for each other's every message, and half of the time goes there. But who looks all the time
takes a core from somebody: from the very process that it waits for, where cores are short. So each look is a wager,
ended early, and after a lost one the next come seldom.
"""

from collections.abc import Callable
from time import perf_counter

LONGEST_S = 500e-6  # of one spin: more than another process needs to answer, far less than what a sleep is good for
_TAKEN_S = 500e-6  # between two looks: the system has given the core to somebody else meanwhile
_SELDOM = 255  # waits at most without a spin after one that did not pay
_MAKE_UP = 20  # spins that paid make up for one that did not


class Spin:
    """Whether to spin, from how it went before. One for each socket.

    Args:
        clock: s, steady.
    """

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self._distrust = self._pass = self._paid = 0

    def until(self, look: Callable[[], object]) -> bool:
        """Call `look()` until it returns something true; False where that took too long, or is not tried now."""
        if self._pass:
            self._pass -= 1
            return False
        clock = self._clock
        began = last = clock()
        while True:
            there = look()
            now = clock()
            if now - last > _TAKEN_S or (not there and now - began > LONGEST_S):
                self._distrust = 0 if self._paid >= _MAKE_UP else min(2 * self._distrust + 1, _SELDOM)
                self._pass, self._paid = self._distrust, 0
                return bool(there)
            if there:
                break
            last = now
        self._paid += 1
        return True
