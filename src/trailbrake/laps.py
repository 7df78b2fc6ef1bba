"""Laps: one rule for hosts, taps, recordings and reports.

By position (`LapTimer`): with simulator time and road s of every tick. Lap 1 begins at the first sample, where the car
stands at the line (up to `START_WINDOW` off it); each later lap begins where the one before ended, interpolated between
ticks. A lap does not count from the moment when more than two wheels are off the road (Assetto Corsa's rule), on a
contact, when the car jumps along the road, or when it goes back over the line. On an open road one drive from start to
end is a lap, and the timer has finished.

By the lap clock of a wire (`LapClock`): number of the lap under way and time in it. A clock that goes back to where the
car has been is a rewind: what was driven since is undone, laps included. One that goes back otherwise is a restart.
"""

import itertools
import math
from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from trailbrake.json_types import JsonObject

if TYPE_CHECKING:  # help imports the limits of laps: they must stay cheap
    from trailbrake.state import CarState

START_WINDOW = 60.0  # m off the line within which a first lap is a whole one
GRID_WINDOW = 400.0  # m behind it within which it is, of a session that has just begun: a car of a grid
MAX_WHEELS_OFF = 2  # wheels that may leave the road at once
END_MARGIN = 15.0  # m before the end of an open road where it counts as driven, untimed: there is no ground beyond it
MOVING_SPEED = 0.5  # m/s above which a car has begun to drive
_MAX_SPEED = 150.0  # m/s along the road; more is a jump
_MIN_JUMP = 5.0  # m that a jump is at least
_ROLL_BACK = 1.0  # m behind the line (or the place of the start) that a car at rest may roll
JUMP = "jump along the road"  # why a lap does not count
BEGUN_BEFORE = "begun before it was recorded"
_LONG_STEP = 0.06  # s between samples above which the simulator's lap clock tells better when the line was crossed
_LATE_START = 0.25  # s of the simulator's lap clock at the first sample above which its lap has begun before
_GRID_START = 3.0  # s of the same, below which a session has just begun: 64 cars take 2.3 s to get their clients
_FIRST_SECOND = 1.0  # s of a lap clock within which a lap is whole, and of a session within which it can restart
_CLOCK_NOISE = 0.01  # s that a lap clock may go back by rounding
_LAP_TIME_NOISE = 0.1  # s between the lap time that a wire shows and that of its clocks, which come at other moments
_SAME_LAP_TIME = 0.002  # s: a shown lap time that has not changed is that of this lap
_REWIND_DISTANCE = 15.0  # m from where the car was at the target of a rewind
_MAX_REWIND_SAMPLES = 20_000  # that can be undone: minutes


@dataclass(frozen=True, slots=True)
class LapRecord:
    """One finished lap.

    Attributes:
        number: 1, 2, ...
        time_s: s from line to line.
        valid: whether it counts.
        sectors_s: s of each sector; equal shares of the road's length.
        invalid_reason: why it does not count, "" if it does; the first reason met.
        off_track_s: s with more than two wheels off the road.
        contacts: contacts with walls or cars.
        end: s of simulator time at which the line was crossed; NaN where that is not known.
    """

    number: int
    time_s: float
    valid: bool
    sectors_s: tuple[float, ...]
    invalid_reason: str
    off_track_s: float
    contacts: int
    end: float = field(default=math.nan, compare=False)


def find_best_lap(laps: Sequence[LapRecord]) -> int | None:
    """Return the index of the quickest valid lap, of the quickest where none is valid; None without laps."""
    counting = [i for i, lap in enumerate(laps) if lap.valid] or range(len(laps))
    return min(counting, key=lambda i: laps[i].time_s, default=None)


def begin_later(lap: LapRecord, seconds: float) -> LapRecord:
    """Return a lap that begins s later: of a car that stood there when its drive began."""
    sectors = tuple(time - seconds * (number == 0) for number, time in enumerate(lap.sectors_s))
    return replace(lap, time_s=lap.time_s - seconds, sectors_s=sectors)


def lap_summary(lap: LapRecord) -> JsonObject:
    """Return a lap as a summary states it."""
    return {"number": lap.number, "time_s": lap.time_s, "valid": lap.valid, "sectors_s": list(lap.sectors_s),
            "invalid_reason": lap.invalid_reason}  # fmt: skip


class LapTimer:
    """Times and validates the laps of one car on one road.

    Args:
        length: m, the road's.
        closed: whether the road is a circuit.
        sectors: how many equal shares of the length are timed.

    Attributes:
        laps: the finished laps, in order.
        number: the current lap, 1 from the start.
        invalid_reason: why the current lap does not count, "" while it does.
        finished: whether an open road has been driven to its end.
        is_out_lap: whether the car has jumped since the line: the next crossing begins a lap.
        off_track_s: s off the road since the start.
        contacts: contacts since the start.
        best_s: best valid lap, s; NaN before there is one.
    """

    __slots__ = (
        "_contacts_seen", "_floor", "_gates", "_lap_contacts", "_lap_off", "_last_s", "_next", "_place", "_splits",
        "_start", "_time", "best_s", "closed", "contacts", "finished", "invalid_reason", "is_out_lap", "laps", "length",
        "number", "off_track_s",
    )  # fmt: skip

    def __init__(self, length: float, closed: bool, sectors: int = 3) -> None:
        if not length > 0.0 or sectors < 1:
            raise ValueError(f"LapTimer: expected length > 0 and sectors >= 1, got {length}, {sectors}")
        self.length = length
        self.closed = closed
        self._gates = [length * (k + 1) / sectors for k in range(sectors)]
        self._gates[-1] = length
        self.reset()

    def reset(self) -> None:
        """Start again: the next sample begins lap 1. For a restart, or a car that is moved to the start line."""
        self.laps: list[LapRecord] = []
        self.number = 1
        self.best_s = math.nan
        self.off_track_s = 0.0
        self.contacts = 0
        self.finished = False
        self._time = math.nan  # of the last sample
        self._last_s = 0.0
        self._contacts_seen = 0.0
        self._begin_lap(math.nan, 0.0)

    def _begin_lap(self, start: float, place: float) -> None:
        self.invalid_reason = ""
        self.is_out_lap = False
        self._start = start
        self._place = place  # m since the line, unwrapped: negative behind it
        self._floor = min(place, 0.0) - _ROLL_BACK
        self._next = 0
        self._splits: list[float] = []
        self._lap_off = 0.0
        self._lap_contacts = 0

    @property
    def lap_time(self) -> float:
        """Time in the current lap, s; 0 before the first sample."""
        start = self._start
        return self._time - start if start == start else 0.0

    @property
    def progress(self) -> float:
        """Share of the current lap driven, 0..1."""
        share = self._place / self.length
        return 0.0 if share < 0.0 else 1.0 if share > 1.0 else share

    @property
    def distance(self) -> float:
        """The m since the line at which lap 1 began, rounds included; negative behind it."""
        return (self.number - 1) * self.length + self._place

    @property
    def valid(self) -> bool:
        """Whether the current lap still counts."""
        return not self.invalid_reason

    def update(
        self, time: float, s: float, wheels_off: int = 0, contacts: float = math.nan, lap_time: float = math.nan
    ) -> LapRecord | None:
        """Process one tick.

        Args:
            time: simulator time, s. If it runs back the simulator was restarted, and so is the timer.
            s: m along the road (any multiple of the length away on a circuit); NaN: not known, the tick is skipped.
            wheels_off: wheels off the road now.
            contacts: count of contacts since the simulator's start; NaN where it is not supplied.
            lap_time: time in the lap by the simulator's clock, s, which may have begun before the first sample.

        Returns:
            The lap that ended at this tick, else None.
        """
        if self.finished or not math.isfinite(s + time):
            return None
        dt = time - self._time
        if not dt >= 0.0:  # the first sample, or time ran back
            self._begin_first_lap(time, s, contacts, lap_time)
            dt = 0.0
        step = s - self._last_s
        if self.closed:
            step -= self.length * math.floor(step / self.length + 0.5)
        before = self._place
        place = before + step
        self._last_s = s
        if step > _MAX_SPEED * dt + _MIN_JUMP or -step > _MAX_SPEED * dt + _MIN_JUMP:
            self.mark_jump()
            before = place = s % self.length if self.closed else s
            self._floor = -math.inf  # the lap is invalid already
        self._place = place
        self._time = time
        record = None
        if place >= self._gates[self._next]:
            record = self._pass_gates(before, place, dt, time - lap_time)
        elif place < self._floor:
            self._invalidate_lap("back over the line")
        if wheels_off > MAX_WHEELS_OFF:
            self.off_track_s += dt
            self._lap_off += dt
            self._invalidate_lap("more than two wheels off the road")
        if contacts > self._contacts_seen:
            count = round(contacts - self._contacts_seen)
            self.contacts += count
            self._lap_contacts += count
            self._contacts_seen = contacts
            self._invalidate_lap("contact")
        return record

    def mark_jump(self) -> None:
        """Record that the car was put somewhere: its lap no longer counts, nor does the way from there to the line."""
        self._invalidate_lap(JUMP)
        self.is_out_lap = self.closed

    def rewind(self, time: float, s: float, seconds: float) -> int:
        """Take back the last `seconds`, which the simulator has undone; return how many laps that takes back.

        Args:
            time: simulator time of the next sample, s, which runs on.
            s: m along the road, of that sample.
            seconds: of simulator time, from the moment to which the car is set back until `time`.
        """
        target, known = time - seconds, len(self.laps)
        while self.laps and self.laps[-1].end > target:
            lap = self.laps.pop()
            self._begin_lap(lap.end - lap.time_s, 0.0)
            self.number, self.invalid_reason = lap.number, lap.invalid_reason
            self._lap_off, self._lap_contacts = lap.off_track_s, lap.contacts
            self._splits = list(itertools.accumulate(lap.sectors_s, initial=self._start))[1:]
        self.finished = False
        self.best_s = min((lap.time_s for lap in self.laps if lap.valid), default=math.nan)
        self._start += seconds
        self._splits = [split + seconds for split in self._splits if split <= target]
        self._next = len(self._splits)
        self._place = s % self.length if self.closed else s
        if self.closed and not self._next and self._place > 0.5 * self.length:
            self._place -= self.length
        self._floor, self._last_s, self._time = -math.inf, s, time
        return known - len(self.laps)

    def _begin_first_lap(self, time: float, s: float, contacts: float, lap_time: float) -> None:
        self.reset()
        window = GRID_WINDOW if lap_time < _GRID_START else START_WINDOW
        place = s
        if self.closed:
            place = s % self.length
            if place > self.length - min(window, 0.5 * self.length):  # a miniature track is shorter than that
                place -= self.length
        self._begin_lap(time - lap_time if lap_time > _LATE_START else time, place)
        self._time = time
        self._last_s = s
        self._contacts_seen = contacts if math.isfinite(contacts) else 0.0
        if not -window <= place <= START_WINDOW:
            self._invalidate_lap("begun away from the line")

    def _invalidate_lap(self, reason: str) -> None:
        if not self.invalid_reason:
            self.invalid_reason = reason

    def _pass_gates(self, before: float, place: float, dt: float, crossed: float) -> LapRecord | None:
        # Times at which the gates between the two samples were passed, straight lines between samples.
        earlier = self._time - dt
        while self._next < len(self._gates) and place >= self._gates[self._next]:
            share = (self._gates[self._next] - before) / (place - before) if place > before else 1.0
            self._splits.append(earlier + max(share, 0.0) * dt)
            self._next += 1
        if self._next < len(self._gates):
            return None
        if dt > _LONG_STEP and earlier < crossed < self._time:
            self._splits[-1] = crossed
        end = self._splits[-1]
        if self.is_out_lap:
            self._begin_lap(end, place - self.length)
            return None
        marks = [self._start, *self._splits]
        record = LapRecord(
            number=self.number,
            time_s=end - self._start,
            valid=self.valid,
            sectors_s=tuple(b - a for a, b in itertools.pairwise(marks)),
            invalid_reason=self.invalid_reason,
            off_track_s=self._lap_off,
            contacts=self._lap_contacts,
            end=end,
        )
        self.laps.append(record)
        if record.valid and not record.time_s >= self.best_s:  # best_s may be NaN
            self.best_s = record.time_s
        if self.closed:
            self.number += 1
            self._begin_lap(end, place - self.length)
        else:
            self.finished = True
        return record


class Rewind(NamedTuple):
    """What a simulator has undone: it has set the car back to where it was.

    Attributes:
        samples: how many samples before the newest one are undone; 0: none, the lap or the session has begun anew.
        seconds: of simulator time, from the moment to which the car is set back until the newest sample.
    """

    samples: int
    seconds: float


class _ClockSample(NamedTuple):
    """A sample of a lap clock. Samples are in the order of their first two."""

    lap: float
    lap_time: float  # s
    time: float  # s of simulator time
    x: float  # m
    y: float
    serial: int = 0


class LapClock:
    """Laps by the lap clock of a wire, as `CarState.lap` and `lap_time` carry it; without one there are none.

    A lap time is that which the wire shows, where it agrees with the clocks; else theirs, so that lost packets over the
    line take nothing from it. A lap counts unless its begin was not seen, the car jumped, or touched something.

    Attributes:
        laps: finished laps since the last restart, in order, without those that were undone.
    """

    __slots__ = ("_contacts", "_invalid_reason", "_last_lap_time", "_samples", "_serial", "laps")

    def __init__(self) -> None:
        self.laps: list[LapRecord] = []
        self._samples: deque[_ClockSample] = deque(maxlen=_MAX_REWIND_SAMPLES)
        self._serial = 0
        self._last_lap_time = self._contacts = math.nan  # contacts when the lap began
        self._invalid_reason = ""

    def update(self, state: "CarState", last_lap_time: float = math.nan) -> LapRecord | Rewind | None:
        """Process a sample, each once, in their order.

        Args:
            state: of the wire.
            last_lap_time: time of the last lap that the wire shows beside, s; NaN: it shows none.

        Returns:
            The lap that ended at it, or what it has undone; else None.
        """
        self._serial += 1
        sample = _ClockSample(state.lap, state.lap_time, state.time, state.x, state.y, self._serial)
        if not math.isfinite(sample.lap + sample.lap_time + sample.time):
            return None
        is_new, self._last_lap_time = last_lap_time != self._last_lap_time, last_lap_time
        before = self._samples[-1] if self._samples else None
        found: LapRecord | Rewind | None = None
        if before is None:
            self._begin_session(sample, state)
        elif sample.lap > before.lap:
            found = self._finish_lap(before, sample, state.contacts, (last_lap_time, is_new))
        elif sample.lap < before.lap or sample.lap_time < before.lap_time - _CLOCK_NOISE:
            found = self._set_back(sample, state)
        elif math.dist(sample[3:5], before[3:5]) > _MAX_SPEED * (sample.time - before.time) + _MIN_JUMP:
            self._invalid_reason = self._invalid_reason or JUMP
        self._samples.append(sample)
        return found

    def _begin_session(self, sample: _ClockSample, state: "CarState") -> None:
        self._samples.clear()
        self.laps.clear()
        self._invalid_reason = BEGUN_BEFORE if sample.lap_time > _FIRST_SECOND and state.speed > MOVING_SPEED else ""
        self._contacts = state.contacts

    def _finish_lap(
        self, before: _ClockSample, sample: _ClockSample, contacts: float, shown: tuple[float, bool]
    ) -> LapRecord | None:
        time_s = before.lap_time + (sample.time - before.time) - sample.lap_time
        if abs(shown[0] - time_s) <= (_LAP_TIME_NOISE if shown[1] else _SAME_LAP_TIME):
            time_s = shown[0]
        touched = round(contacts - self._contacts) if contacts > self._contacts else 0
        reason = self._invalid_reason or ("contact" if touched else "")
        self._invalid_reason, self._contacts = "", contacts
        if sample.lap != before.lap + 1 or not time_s > 0.0:  # nothing was seen of a whole lap
            return None
        end = sample.time - sample.lap_time
        self.laps.append(LapRecord(int(before.lap), time_s, not reason, (), reason, 0.0, touched, end))
        return self.laps[-1]

    def _set_back(self, sample: _ClockSample, state: "CarState") -> Rewind:
        """Return what a lap clock that goes back has undone; where it goes elsewhere, the session begins anew."""
        samples = list(self._samples)
        first = bisect_right(samples, (sample.lap, sample.lap_time, math.inf))
        target = samples[max(first - 1, 0)]
        gap = sample.lap_time - target.lap_time if target.lap == sample.lap else 0.0
        is_near = math.dist(sample[3:5], target[3:5]) <= _REWIND_DISTANCE + _MAX_SPEED * max(gap, 0.0)  # NaN: not known
        if not first or not is_near or target.time - samples[0].time < _FIRST_SECOND:
            self._begin_session(sample, state)
            return Rewind(0, 0.0)
        while self.laps and self.laps[-1].number >= sample.lap:
            self._invalid_reason = self.laps.pop().invalid_reason
        for _ in samples[first:]:
            self._samples.pop()
        return Rewind(sample.serial - samples[first].serial, sample.time - target.time - gap)
