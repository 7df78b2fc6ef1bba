"""The judge of one entry in one race: sees the world's own states and laps, never the wire's. Pure."""

import hashlib
import math
import struct
from collections.abc import Sequence

import msgspec

from trailbrake.laps import LapRecord
from trailbrake.race.plan import Rules
from trailbrake.state import CarState

MOVED = 0.3  # m within which a car stands still: one that rocks at a wall stands
_ROW = struct.Struct("<7d")


class Lap(msgspec.Struct, frozen=True):
    """A finished lap: s from line to line, whether it counts and why not, contacts, and s off the road."""

    number: int
    time_s: float
    valid: bool
    reason: str
    contacts: int
    off_track_s: float


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """How a race went for one entry.

    Attributes:
        entry: its name.
        finished: whether it drove all laps.
        ended: why not; "" if it did.
        laps: those that it finished.
        time_s: s from the start to the end of its last lap.
        best_s: its best lap that counts; None where there is none.
        contacts: with walls and cars.
        digest: of every state of its car and of all of the above but `ended`: equal for equal races.
        recording: file name, "" where there is none; so `report`.
        report: the recording as a page.
    """

    entry: str
    finished: bool
    ended: str
    laps: tuple[Lap, ...]
    time_s: float
    best_s: float | None
    contacts: int
    digest: str
    recording: str = ""
    report: str = ""


class Judge:
    """Follows one car until its race is over.

    The race's clock never goes back: an entry that sends its car back to the start keeps the laps that it has, and
    has lost the time.

    Args:
        entry: the entry's name.
        laps: to drive.
        rules: of the day.

    Attributes:
        clock: s of simulator time since the start.
        over: whether the race is over for this entry.
        ended: why it is out; "" while it is not, and when it has finished.
    """

    def __init__(self, entry: str, laps: int, rules: Rules) -> None:
        self._entry, self._wanted, self._rules = entry, laps, rules
        self.clock = 0.0
        self.over = False
        self.ended = ""
        self._laps: list[Lap] = []
        self._known = 0  # laps of the world's list that are counted
        self._lap_began = self._driven = 0.0
        self._last = 0.0  # worlds begin there
        self._contacts = self._contacts_before = 0.0
        self._anchor, self._anchored = (math.nan, math.nan), 0.0
        self._hashed = hashlib.sha256()

    def look(self, state: CarState, laps: Sequence[LapRecord]) -> list[LapRecord]:
        """See the world's newest state and its laps since the car's last restart; return the laps that are new."""
        if self.over:
            return []
        dt = state.time - self._last
        restarted = dt < 0.0 or len(laps) < self._known
        self.clock += dt if dt >= 0.0 else state.time
        self._last = state.time
        if restarted:
            self._known, self._lap_began = 0, self.clock
        if state.contacts < self._contacts_before:
            self._contacts_before = 0.0
        if state.contacts > self._contacts_before:
            self._contacts += state.contacts - self._contacts_before
            self._contacts_before = state.contacts
        self._hashed.update(_ROW.pack(state.time, state.x, state.y, state.yaw, state.speed, state.contacts, state.lap))
        new = list(laps[self._known :])
        self._known = len(laps)
        for record in new:
            self._count(record)
        if not self.over:
            self._enforce(state)
        return new

    def _count(self, record: LapRecord) -> None:
        if self.over:
            return
        self._lap_began += record.time_s
        self._driven = self._lap_began
        self._laps.append(
            Lap(len(self._laps) + 1, record.time_s, record.valid, record.invalid_reason, record.contacts,
                record.off_track_s)
        )  # fmt: skip
        self.over = len(self._laps) >= self._wanted

    def _enforce(self, state: CarState) -> None:
        rules = self._rules
        if not math.dist(self._anchor, (state.x, state.y)) <= MOVED:  # NaN at first
            self._anchor, self._anchored = (state.x, state.y), self.clock
        if rules.contacts is not None and self._contacts > rules.contacts:
            self.retire(f"more than {rules.contacts} contacts")
        elif rules.standstill and self.clock - self._anchored > rules.standstill:
            self.retire(f"stood still for {rules.standstill:g} s")
        elif self.clock >= rules.seconds:
            self.retire(f"out of time after {rules.seconds:g} s")

    def retire(self, reason: str) -> None:
        """Take the entry out of the race; the first reason stays, and who has finished has finished."""
        if not self.over:
            self.over, self.ended = True, reason

    def result(self, recording: str = "", report: str = "") -> Result:
        """Return how it went."""
        laps = tuple(self._laps)
        counting = [lap.time_s for lap in laps if lap.valid or not self._rules.clean]
        finished = self.over and not self.ended
        best = min(counting, default=None)
        hashed = self._hashed.copy()
        hashed.update(msgspec.json.encode((self._entry, laps, self._driven, best, self._contacts, finished)))
        return Result(
            entry=self._entry, finished=finished, ended=self.ended, laps=laps, time_s=self._driven, best_s=best,
            contacts=round(self._contacts), digest=hashed.hexdigest(), recording=recording, report=report,
        )  # fmt: skip
