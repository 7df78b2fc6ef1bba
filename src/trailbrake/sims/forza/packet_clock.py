"""The time between two packets, by the packets' own clocks: this wire has no sequence number.

Source: protocol page forza-data-out, sections 3.2 and 4. CurrentRaceTime has the finer resolution at first, and stops
or jumps with the race; it is a 32-bit float, so that after hours it advances in steps of milliseconds. TimestampMS runs
on, wraps, and in some titles advances in steps of 15.6 ms.
"""

import math
from enum import Enum, auto
from typing import NamedTuple

GAP_S = 0.5  # s of packet time, forwards or backwards, above which a step is a jump
_LATE_RUN_LENGTH = 5  # consecutive late packets in order that mean a clock set back by less than GAP_S
_WRAP = 1 << 32
_COARSE_RACE_TIME_S = 16384.0  # s of CurrentRaceTime from which its steps, 2 ms there, are coarser than TimestampMS's
_LONGEST_JUMP_S = 3600.0  # a longer jump is not a time


class PacketKind(Enum):
    """A packet's relation to the newest one."""

    FIRST = auto()
    NEXT = auto()
    JUMP = auto()  # silence, pause, rewind or restart: do not integrate over it
    SAME = auto()  # a duplicate
    LATE = auto()  # overtaken on the way


class ClockStep(NamedTuple):
    """The result of `PacketClock.step`; `dt` is s of simulator time since the newest packet, 0 = unknown."""

    kind: PacketKind
    dt: float = 0.0


def milliseconds_between(before: int, after: int) -> int:
    """Return after - before of a 32-bit clock that wraps, as a signed number of ms."""
    return (after - before + _WRAP // 2) % _WRAP - _WRAP // 2


class PacketClock:
    """Compares each packet with the newest one."""

    __slots__ = ("_late_count", "_late_ms", "_newest_ms", "_newest_race_time")

    def __init__(self) -> None:
        self._newest_ms = -1
        self._newest_race_time = math.nan
        self._late_count, self._late_ms = 0, 0

    def step(self, timestamp_ms: int, race_time: float) -> ClockStep:
        """Return a packet's relation to the newest one; it becomes the newest unless it is SAME or LATE.

        Args:
            timestamp_ms: its TimestampMS.
            race_time: its CurrentRaceTime, s; NaN if its format has none.
        """
        if self._newest_ms < 0:
            self._newest_ms, self._newest_race_time = timestamp_ms, race_time
            return ClockStep(PacketKind.FIRST)
        step = self._classify_packet(milliseconds_between(self._newest_ms, timestamp_ms) / 1000.0, race_time)
        if step.kind is PacketKind.LATE and self._is_set_back(timestamp_ms):
            step = ClockStep(PacketKind.JUMP)
        elif step.kind not in (PacketKind.LATE, PacketKind.SAME):
            self._late_count = 0
        if step.kind not in (PacketKind.LATE, PacketKind.SAME):
            self._newest_ms, self._newest_race_time = timestamp_ms, race_time
        return step

    def _classify_packet(self, session_dt: float, race_time: float) -> ClockStep:
        """Return the step to a packet that is `session_dt` s later by TimestampMS, and has this CurrentRaceTime."""
        by_race = race_time - self._newest_race_time if race_time > 0.0 and self._newest_race_time > 0.0 else math.nan
        if by_race > 0.0 and math.isfinite(by_race):
            if by_race <= GAP_S:
                is_coarse = race_time >= _COARSE_RACE_TIME_S and 0.0 < session_dt <= GAP_S
                return ClockStep(PacketKind.NEXT, session_dt if is_coarse else by_race)
            return ClockStep(PacketKind.JUMP, by_race if by_race <= _LONGEST_JUMP_S else 0.0)
        if by_race < 0.0:  # a packet that was overtaken is old by both clocks; else the race was rewound
            is_late = by_race >= -GAP_S and -GAP_S <= session_dt <= 0.0
            return ClockStep(PacketKind.LATE if is_late else PacketKind.JUMP)
        if session_dt == 0.0:
            return ClockStep(PacketKind.SAME)
        if session_dt < 0.0:
            return ClockStep(PacketKind.LATE if session_dt >= -GAP_S else PacketKind.JUMP)
        if session_dt <= GAP_S:
            return ClockStep(PacketKind.NEXT, session_dt)
        return ClockStep(PacketKind.JUMP, min(session_dt, _LONGEST_JUMP_S))

    def _is_set_back(self, timestamp_ms: int) -> bool:
        """Count consecutive late packets; return whether there are so many that the clock was set back."""
        in_order = self._late_count > 0 and milliseconds_between(self._late_ms, timestamp_ms) >= 0
        self._late_count = self._late_count + 1 if in_order else 1
        self._late_ms = timestamp_ms
        if self._late_count < _LATE_RUN_LENGTH:
            return False
        self._late_count = 0
        return True
