"""How far a packet is from the one before, by the packets' own clocks: there is no sequence number on this wire.

Source: protocol page forza-data-out, sections 3.2 and 4. CurrentRaceTime is the finer clock and stands or jumps with
the race; TimestampMS goes on through it, wraps, and moves in steps of 15.6 ms in some titles.
"""

import math
from enum import Enum, auto
from typing import NamedTuple

GAP_S = 0.5  # s of packet time from which on two packets do not belong together, either way
_LATE_RUN = 5  # packets in a row that are all "late" and in order: the clock was set back by a little
_WRAP = 1 << 32
_LONGEST_S = 3600.0  # a jump by more says nothing about time


class Kind(Enum):
    """What a packet is to the one before."""

    FIRST = auto()
    NEXT = auto()
    JUMP = auto()  # silence, pause, rewind, restart: nothing may be integrated over it
    SAME = auto()  # a duplicate
    LATE = auto()  # overtaken on the way


class Step(NamedTuple):
    """What `Clock.step` found. `dt` is s of simulator time that passed, 0 where nobody knows."""

    kind: Kind
    dt: float = 0.0


def milliseconds_between(before: int, after: int) -> int:
    """Return after - before of two wrapping 32-bit clocks, as a signed number of ms."""
    return (after - before + _WRAP // 2) % _WRAP - _WRAP // 2


class Clock:
    """Compares each packet with the newest one."""

    __slots__ = ("_late", "_late_ms", "_ms", "_race")

    def __init__(self) -> None:
        self._ms = -1
        self._race = math.nan
        self._late, self._late_ms = 0, 0

    def step(self, ms: int, race: float) -> Step:
        """Return what a packet is; all but SAME and LATE ones become the newest.

        Args:
            ms: its TimestampMS.
            race: its CurrentRaceTime, s; NaN where its format has none.
        """
        if self._ms < 0:
            self._ms, self._race = ms, race
            return Step(Kind.FIRST)
        step = self._compare(milliseconds_between(self._ms, ms) / 1000.0, race)
        if step.kind is Kind.LATE and self._set_back(ms):
            step = Step(Kind.JUMP)
        elif step.kind not in (Kind.LATE, Kind.SAME):
            self._late = 0
        if step.kind not in (Kind.LATE, Kind.SAME):
            self._ms, self._race = ms, race
        return step

    def _compare(self, session: float, race: float) -> Step:
        """Return the step for `session` s by TimestampMS to a packet with CurrentRaceTime `race`."""
        by_race = race - self._race if race > 0.0 and self._race > 0.0 else math.nan
        if by_race > 0.0 and math.isfinite(by_race):
            if by_race <= GAP_S:
                return Step(Kind.NEXT, by_race)
            return Step(Kind.JUMP, by_race if by_race <= _LONGEST_S else 0.0)
        if by_race < 0.0:  # on the way, or in the race: a packet that was overtaken is old by both clocks
            return Step(Kind.LATE) if by_race >= -GAP_S and -GAP_S <= session <= 0.0 else Step(Kind.JUMP)
        if session == 0.0:
            return Step(Kind.SAME)
        if session < 0.0:
            return Step(Kind.LATE) if session >= -GAP_S else Step(Kind.JUMP)
        return Step(Kind.NEXT, session) if session <= GAP_S else Step(Kind.JUMP, min(session, _LONGEST_S))

    def _set_back(self, ms: int) -> bool:
        """Count late packets that follow each other; return whether they are the new present."""
        self._late = self._late + 1 if self._late and milliseconds_between(self._late_ms, ms) >= 0 else 1
        self._late_ms = ms
        if self._late < _LATE_RUN:
            return False
        self._late = 0
        return True
