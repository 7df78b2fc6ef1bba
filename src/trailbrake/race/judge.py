"""The judge of one entry in one race: sees the world's own states and laps, never the wire's. Pure."""

import hashlib
import math
import struct
from collections.abc import Sequence

import msgspec

from trailbrake.laps import LapRecord
from trailbrake.race.plan import RaceRules
from trailbrake.state import CarState

STANDSTILL_RADIUS = 0.3  # m within which a car stands still: one that rocks at a wall stands
_ROW = struct.Struct("<7d")


class JudgedLap(msgspec.Struct, frozen=True):
    """A finished lap: s from line to line, whether it counts and why not, contacts, and s off the road."""

    number: int
    time_s: float
    valid: bool
    reason: str
    contacts: int
    off_track_s: float


class EntryResult(msgspec.Struct, frozen=True, kw_only=True):
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
    laps: tuple[JudgedLap, ...]
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

    def __init__(self, entry: str, laps: int, rules: RaceRules) -> None:
        self._entry, self._laps_to_drive, self._rules = entry, laps, rules
        self.clock = 0.0
        self.over = False
        self.ended = ""
        self._laps: list[JudgedLap] = []
        self._known_laps = 0  # laps of the world's list that are counted
        self._lap_began = self._driven_s = 0.0
        self._last_time = 0.0  # worlds begin there
        self._contacts = self._contacts_before = 0.0
        self._anchor, self._anchored_at = (math.nan, math.nan), 0.0
        self._hash = hashlib.sha256()

    def observe_state(self, state: CarState, laps: Sequence[LapRecord]) -> list[LapRecord]:
        """See the world's newest state and its laps since the car's last restart; return the laps that are new."""
        if self.over:
            return []
        dt = state.time - self._last_time
        restarted = dt < 0.0 or len(laps) < self._known_laps
        self.clock += dt if dt >= 0.0 else state.time
        self._last_time = state.time
        if restarted:
            self._known_laps, self._lap_began = 0, self.clock
        if state.contacts < self._contacts_before:
            self._contacts_before = 0.0
        if state.contacts > self._contacts_before:
            self._contacts += state.contacts - self._contacts_before
            self._contacts_before = state.contacts
        self._hash.update(_ROW.pack(state.time, state.x, state.y, state.yaw, state.speed, state.contacts, state.lap))
        new = list(laps[self._known_laps :])
        self._known_laps = len(laps)
        for record in new:
            self._count_lap(record)
        if not self.over:
            self._enforce_rules(state)
        return new

    def _count_lap(self, record: LapRecord) -> None:
        if self.over:
            return
        self._lap_began += record.time_s
        self._driven_s = self._lap_began
        self._laps.append(
            JudgedLap(len(self._laps) + 1, record.time_s, record.valid, record.invalid_reason, record.contacts,
                record.off_track_s)
        )  # fmt: skip
        self.over = len(self._laps) >= self._laps_to_drive

    def _enforce_rules(self, state: CarState) -> None:
        rules = self._rules
        if not math.dist(self._anchor, (state.x, state.y)) <= STANDSTILL_RADIUS:  # NaN at first
            self._anchor, self._anchored_at = (state.x, state.y), self.clock
        if rules.contacts is not None and self._contacts > rules.contacts:
            self.retire_entry(f"more than {rules.contacts} contacts")
        elif rules.standstill and self.clock - self._anchored_at > rules.standstill:
            self.retire_entry(f"stood still for {rules.standstill:g} s")
        elif self.clock >= rules.seconds:
            self.retire_entry(f"out of time after {rules.seconds:g} s")

    def retire_entry(self, reason: str) -> None:
        """Take the entry out of the race; the first reason stays, and who has finished has finished."""
        if not self.over:
            self.over, self.ended = True, reason

    def build_result(self, recording: str = "", report: str = "") -> EntryResult:
        """Return how it went."""
        laps = tuple(self._laps)
        counting = [lap.time_s for lap in laps if lap.valid or not self._rules.clean]
        finished = self.over and not self.ended
        best = min(counting, default=None)
        hashed = self._hash.copy()
        hashed.update(msgspec.json.encode((self._entry, laps, self._driven_s, best, self._contacts, finished)))
        return EntryResult(
            entry=self._entry, finished=finished, ended=self.ended, laps=laps, time_s=self._driven_s, best_s=best,
            contacts=round(self._contacts), digest=hashed.hexdigest(), recording=recording, report=report,
        )  # fmt: skip
