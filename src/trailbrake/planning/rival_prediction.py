"""Other cars along a line: where they are, how sure that is, what they have shown, and where they will be.

A wire supplies others late: Assetto Corsa at its frame rate, between ticks of the physics. A car is placed by its
newest sample and the time since; one that is not supplied any more is forgotten. What a rival has shown of its line
and its speed stays, by place, and says where it goes: back to the line that it drove here in earlier laps, at that
speed. Of a place where it has not been seen, two things are reckoned with: the planned line, and that it keeps its
offset.
"""

import math
from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from trailbrake.arrays import Array
from trailbrake.kernels import internal_jit, jit
from trailbrake.state import OtherCar
from trailbrake.tracks.road import Road
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.units import wrap_angle

HORIZON = 9.0  # s of the prediction
STEP = 0.1  # s between its rows
STEPS = 91  # rows, that of now included
LEAST_STRETCH = 0.3  # of the line's length, that of a path beside it in a bend
PLACE = 10.0  # m of the line that are one place of the memory
NEW_SHARE = 0.5  # of a new lap, in the memory of a place
LOST_TIME = 0.7  # s without a sample, after which a car is forgotten
LONGEST_STEP = 4.0  # m beyond its own way, from which a rival has jumped
SAMPLE_AGE = 1.0 / 60.0  # s, the most by which a sample is late
STANDING_SPEED = 3.0  # m/s, below which a car is expected to go on as it does
START_SPEED = 0.5  # m/s, from which we have started from a grid: ...
START_TIME = 4.0  # s from then on, in which the others are expected to start as well
START_PACE = 20.0  # m/s, below which a car comes back to its line by its way, and not by time
MOST_TURNED = 0.5  # rad from the line, up to which a car is taken to follow it
RETURN_TIME = 2.0  # s in which it comes back to its line, and to its pace
AIMED_TIME = 0.5  # s for which it goes on to the side as it does
MOST_DRIVE, MOST_BRAKING = 6.0, 12.0  # m/s^2
START_DRIVE, SLOW_SHARE = 5.0, 0.6  # m/s^2 of a car that is below this share of the planned speed, as after a start
DRIVE_SHARE = 0.9  # of the planned acceleration, that a rival has of which none was seen
LEAST_RISE, MOST_DRIVE_SHARE = 0.3, 1.5  # m/s^2 of planned acceleration, from which its share says something
DRIVE_TIME = 1.5  # s, of the low-pass filter on that share
PACE_ROWS = 5  # of the line, over which the planned speeds rise or fall
LEAST_PACE, MOST_PACE = 0.3, 1.2  # of the planned speed
PACE_TIME = 2.0  # s, of the low-pass filter on that
OFFSET_ERROR = 0.15, 0.08  # m now, and m/s by which it grows, on a line that was seen before, ...
HABIT_SHARE = 0.5  # 1/s, ... or this share of what it has been beside the line of its earlier laps, if that is more
UNKNOWN_GROWTH = 0.1  # m/s more where it was not
DISTANCE_ERROR = 0.3, 1.0  # m now, and m/s, at most: what its speed has been beside that of earlier laps, at least ...
LEAST_SPEED_ERROR = 0.1  # m/s
HABIT_PLACES = 15.0  # of the low-pass filter on both
DOUBTFUL_TIME = 4.0  # s, over which all these grow
SURE_ROWS = 10  # of a prediction, over which its error grows
STANDING_WAY = 1.0  # m within its prediction, below which a rival stands
FOLLOW_GAP = 1.5, 0.06, 0.12  # m, s of own speed, and s more for each m/s that its speed is not known, behind a car
KEPT_GAP = 1.0, 0.05  # m, and s of its own speed, that a rival is expected to keep to one ahead of it, ...
KEPT_BRAKING = 4.0  # m/s^2, ... to which it comes up by this, beside that one's own
KEPT_RETURN = 1.0  # 1/s, by which a gap that is too small opens


class RivalColumn(IntEnum):
    """Columns of a prediction, one row every STEP."""

    AHEAD = 0  # m along the line, ahead of us now
    SPEED = 1  # m/s along the line
    RIGHTMOST = 2  # m left of the line, the least offset that is reckoned with
    LEFTMOST = 3  # m, the greatest
    DISTANCE_ERROR = 4  # m along the line, on both sides


class RivalMotion(NamedTuple):
    """A rival now.

    Attributes:
        s, offset: m along and left of the line.
        speed, aside: m/s, along the line and to its left.
        heading: rad from the line.
        pace: its speed over the planned one where that does not rise, of the last seconds of such.
        drive: its acceleration over the planned one, of the last seconds in which that rose.
        wider: m by which it reaches further to each side than a car that heads along the line.
        habit_error: m, and m/s: how far it was from its line and its speed of earlier laps, on average.
        starts: whether it is expected to start from its place on the grid.
    """

    s: float
    offset: float
    speed: float
    aside: float
    heading: float
    pace: float
    drive: float
    wider: float
    habit_error: tuple[float, float]
    starts: bool


class RivalMemory(NamedTuple):
    """What a rival has shown by place; NaN where it has not been seen.

    Attributes:
        offsets: (places,) m left of the line.
        speeds: (places,) m/s along the line.
    """

    offsets: Array
    speeds: Array


class TrackedRival:
    """One rival.

    Args:
        index: its number on the wire.
        places: of the line.

    Attributes:
        has_started: whether it has moved since the session began.
        is_at_pace: whether it has come to a bend since it stood: the speeds on the way there are no habit.
    """

    def __init__(self, index: int, places: int) -> None:
        self.index = index
        self.memory = RivalMemory(np.full(places, math.nan), np.full(places, math.nan))
        self.motion = RivalMotion(0.0, 0.0, 0.0, 0.0, 0.0, 1.0, DRIVE_SHARE, 0.0, (0.0, DISTANCE_ERROR[1]), False)
        self.row, self.place = -1, -1
        self.sample = (math.nan, math.nan)
        self.seen_at = self.moved_at = -math.inf
        self.has_started = self.is_at_pace = False


class RivalTracker:
    """Follows all others along a line.

    Args:
        line: the line.
        speeds: (n,) m/s, planned at its rows; may change.
        size: m, length and width of the cars.
    """

    def __init__(self, line: Road, speeds: Array, size: tuple[float, float]) -> None:
        self._line, self._speeds, self._size = line, speeds, size
        self._places = max(int(line.length / PLACE), 1)
        room = [line.column(column) - 0.5 * size[1] for column in (RoadColumn.WIDTH_RIGHT, RoadColumn.WIDTH_LEFT)]
        self._bounds = np.maximum(room, 0.0) * [[-1.0], [1.0]]
        self._rivals: dict[int, TrackedRival] = {}
        self._now, self._start = 0.0, math.inf

    def observe_cars(self, others: Iterable[OtherCar], now: float, speed: float) -> None:
        """Take the others of a state; cars without a finite place or speed are skipped.

        Args:
            others: of the state.
            now: s of simulator time.
            speed: m/s, own.
        """
        if now < self._now:  # the session was restarted
            self._start = math.inf
            for rival in self._rivals.values():
                rival.seen_at = rival.moved_at = -math.inf
                rival.has_started = rival.is_at_pace = False
        self._now = now
        if speed > START_SPEED and self._start == math.inf:
            self._start = now if speed < STANDING_SPEED else -math.inf  # else there is no grid
        for other in others:
            if math.isfinite(other.x + other.y + other.velocity_x + other.velocity_y):
                if other.index not in self._rivals:
                    self._rivals[other.index] = TrackedRival(other.index, self._places)
                rival = self._rivals[other.index]
                rival.seen_at = now
                if rival.sample != (other.x, other.y):
                    self._place_rival(rival, other)

    def list_present(self) -> list[TrackedRival]:
        """Return the rivals that are there."""
        return [rival for rival in self._rivals.values() if self._now - rival.seen_at < LOST_TIME]

    def measure_ahead(self, rival: TrackedRival, s: float) -> float:
        """Return how far (m) a rival is ahead of s (m) now; behind it is negative."""
        motion = rival.motion
        ahead = motion.s + motion.speed * min(self._now - rival.moved_at, SAMPLE_AGE) - s
        length = self._line.length
        return ahead - length * math.floor(ahead / length + 0.5) if self._line.closed else ahead

    def predict(self, rival: TrackedRival, s: float, out: Array) -> None:
        """Write the prediction of a rival into `out` (steps, len(RivalColumn)); `s`: m along the line, our own."""
        place = s, self.measure_ahead(rival, s), self._line.length
        predict_rival(rival.motion, rival.memory, place, (self._speeds, self._bounds), out)

    def _place_rival(self, rival: TrackedRival, other: OtherCar) -> None:
        line, before = self._line, rival.motion
        s, offset, rival.row = line.locate(other.x, other.y, rival.row)
        yaw = float(line.table[rival.row, RoadColumn.YAW])
        cos, sin = math.cos(yaw), math.sin(yaw)
        stretch = max(1.0 - float(line.table[rival.row, RoadColumn.CURVATURE]) * offset, LEAST_STRETCH)
        speed = (other.velocity_x * cos + other.velocity_y * sin) / stretch
        aside = other.velocity_y * cos - other.velocity_x * sin
        heading = wrap_angle(other.yaw - yaw) if math.isfinite(other.yaw) else 0.0
        since = self._now - rival.moved_at
        jumped = math.dist(rival.sample, (other.x, other.y)) > LONGEST_STEP + 1.5 * max(before.speed, speed) * since
        pace, drive = before.pace, before.drive
        planned, rise = find_rise(self._speeds, rival.row, line.spacing)
        rival.is_at_pace = speed > STANDING_SPEED and (rival.is_at_pace or rise <= 0.0)
        if 0.0 < since < LOST_TIME and not jumped:
            if rise < 0.0:
                pace += min(since / PACE_TIME, 1.0) * (speed / max(planned, 1.0) - pace)
            elif rise > LEAST_RISE:
                share = min(max((speed - before.speed) / (since * rise), 0.0), MOST_DRIVE_SHARE)
                drive += min(since / DRIVE_TIME, 1.0) * (share - drive)
        length, width = self._size
        wider = max(0.5 * (length * abs(math.sin(heading)) + width * (abs(math.cos(heading)) - 1.0)), 0.0)
        pace = min(max(pace, LEAST_PACE), MOST_PACE)
        place, errors = min(int(s / line.length * self._places), self._places - 1) % self._places, before.habit_error
        if place != rival.place and rival.is_at_pace and abs(heading) < MOST_TURNED and not jumped:
            old = rival.memory.offsets[place], rival.memory.speeds[place]
            if not math.isnan(old[0]):
                found = abs(offset - old[0]), abs(speed - old[1])
                errors = (
                    errors[0] + (found[0] - errors[0]) / HABIT_PLACES,
                    errors[1] + (found[1] - errors[1]) / HABIT_PLACES,
                )
            for values, new in zip(rival.memory, (offset, speed), strict=True):
                values[place] = new if math.isnan(values[place]) else values[place] + NEW_SHARE * (new - values[place])
        rival.has_started |= speed > STANDING_SPEED
        starts = not rival.has_started and self._now < self._start + START_TIME
        rival.motion = RivalMotion(s, offset, speed, aside, heading, pace, drive, wider, errors, starts)
        rival.sample, rival.moved_at, rival.place = (other.x, other.y), self._now, place


@jit
def find_rise(speeds: Array, row: int, spacing: float) -> tuple[float, float]:
    """Return the planned speed (m/s) at a row, and the acceleration (m/s^2) over the next PACE_ROWS."""
    planned, after = speeds[row], speeds[(row + PACE_ROWS) % speeds.shape[0]]
    return planned, (after * after - planned * planned) / (2.0 * PACE_ROWS * spacing)


@internal_jit
def _at_place(values: Array, s: float, length: float) -> float:
    """Return a value by place at s (m), linear between places, the first at 0; NaN where one is not known."""
    n = values.shape[0]
    position = (s / length) * n
    i = int(position // 1.0)
    u = position - i
    value: float = (1.0 - u) * values[i % n] + u * values[(i + 1) % n]
    return value


@jit
def predict_rival(
    motion: RivalMotion,
    memory: RivalMemory,
    place: tuple[float, float, float],
    road: tuple[Array, Array],
    out: Array,
) -> None:
    """Write the prediction of a rival.

    Args:
        motion: of the rival now.
        memory: what it has shown.
        place: own s, how far it is ahead, and the length of the line, m.
        road: (n,) m/s, planned along the line, and (2, n) m left of it, least and most that stay on the road.
        out: (steps, len(RivalColumn)).
    """
    here, ahead, length = place
    speeds, bounds = road
    n = speeds.shape[0]
    v, offset = motion.speed, motion.offset
    shown_speed = _at_place(memory.speeds, here + ahead, length)
    shown_offset = _at_place(memory.offsets, here + ahead, length)
    excess = min(max(v / shown_speed, LEAST_PACE), MOST_PACE) - 1.0 if shown_speed > 1.0 else 0.0
    follows = (v > STANDING_SPEED or motion.starts) and abs(motion.heading) < MOST_TURNED
    for k in range(out.shape[0]):
        t = k * STEP
        s = here + ahead
        fade = math.exp(-min(t, (ahead - place[1]) / START_PACE) / RETURN_TIME)
        drift = motion.offset + motion.aside * min(t, AIMED_TIME)
        if follows:
            row = int(s / length * n // 1.0) % n
            drift = min(max(drift, bounds[0, row]), bounds[1, row])
        wanted = _at_place(memory.offsets, s, length)
        known = follows and wanted == wanted and shown_offset == shown_offset
        if known:
            offset = wanted + (motion.offset - shown_offset) * fade
            low, high = offset, offset
        elif follows:
            back = drift * fade
            low, high = min(back, drift), max(back, drift)
        else:
            low, high = drift, drift
        doubt = min(t, DOUBTFUL_TIME) if follows or v > START_SPEED else 0.0  # who stands across the road stays there
        growth = max(OFFSET_ERROR[1], HABIT_SHARE * motion.habit_error[0]) + (0.0 if known else UNKNOWN_GROWTH)
        speed_error = (
            min(max(motion.habit_error[1], LEAST_SPEED_ERROR), DISTANCE_ERROR[1]) if known else DISTANCE_ERROR[1]
        )
        spread = motion.wider + OFFSET_ERROR[0] + growth * doubt
        out[k, RivalColumn.AHEAD], out[k, RivalColumn.SPEED] = ahead, v
        out[k, RivalColumn.RIGHTMOST], out[k, RivalColumn.LEFTMOST] = low - spread, high + spread
        out[k, RivalColumn.DISTANCE_ERROR] = DISTANCE_ERROR[0] + speed_error * doubt
        before = v
        if follows:
            s += v * STEP
            target = _at_place(memory.speeds, s, length) * (1.0 + excess * fade)
            if target != target:
                row = int(s / length * n // 1.0) % n
                planned, rise = find_rise(speeds, row, length / n)
                after = speeds[(row + PACE_ROWS) % n]
                drive = motion.drive * rise if v > SLOW_SHARE * planned else max(motion.drive * rise, START_DRIVE)
                target = motion.pace * planned if rise <= 0.0 else min(v + drive * STEP, after)
            v = max(v + min(max(target - v, -MOST_BRAKING * STEP), MOST_DRIVE * STEP), 0.0)
        ahead += 0.5 * (before + v) * STEP


@jit
def is_standing(rivals: Array, r: int) -> bool:
    """Return whether predicted rival r of (cars, STEPS, len(RivalColumn)) stays where it is."""
    moved: float = rivals[r, STEPS - 1, RivalColumn.AHEAD] - rivals[r, 0, RivalColumn.AHEAD]
    return moved < STANDING_WAY


@jit
def find_follow_gap(prediction: Array, v: float) -> float:
    """Return the gap (m) from nose to tail to keep behind a rival of a prediction, at v (m/s)."""
    grown = prediction[SURE_ROWS, RivalColumn.DISTANCE_ERROR] - prediction[0, RivalColumn.DISTANCE_ERROR]
    gap: float = FOLLOW_GAP[0] + (FOLLOW_GAP[1] + FOLLOW_GAP[2] * grown / (SURE_ROWS * STEP)) * v
    return gap


@internal_jit
def _kept_speed(rivals: Array, r: int, k: int, size: tuple[float, float]) -> float:
    """Return the most speed (m/s) of rival r at row k behind those that are ahead of it there."""
    length, width = size
    most, v = math.inf, rivals[r, k, RivalColumn.SPEED]
    middle = 0.5 * (rivals[r, k, RivalColumn.RIGHTMOST] + rivals[r, k, RivalColumn.LEFTMOST])
    for q in range(rivals.shape[0]):
        gap = rivals[q, k, RivalColumn.AHEAD] - rivals[r, k, RivalColumn.AHEAD]
        its_middle = 0.5 * (rivals[q, k, RivalColumn.RIGHTMOST] + rivals[q, k, RivalColumn.LEFTMOST])
        if gap > 0.0 and abs(its_middle - middle) < width:
            room = gap - length - KEPT_GAP[0] - KEPT_GAP[1] * v
            more = math.sqrt(2.0 * KEPT_BRAKING * room) if room > 0.0 else KEPT_RETURN * room
            most = min(most, max(rivals[q, k, RivalColumn.SPEED] + more, 0.0))
    return most


@jit
def hold_behind(rivals: Array, free: Array, reached: Array, size: tuple[float, float]) -> None:
    """Let predicted rivals stay behind those ahead of them, and reach each later place as much later.

    Args:
        rivals: (cars, steps, len(RivalColumn)), changed.
        free: a copy of them.
        reached: (cars,) to work with, all 0: the row of `free` up to which each has come.
        size: m, length and width of the cars.
    """
    for k in range(1, rivals.shape[1]):
        for r in range(rivals.shape[0]):
            most, j = _kept_speed(rivals, r, k - 1, size), int(reached[r])
            if j == k - 1 and most >= free[r, k, RivalColumn.SPEED]:
                reached[r] = k
                continue
            ahead, before = rivals[r, k - 1, RivalColumn.AHEAD], rivals[r, k - 1, RivalColumn.SPEED]
            while j < k - 1 and free[r, j + 1, RivalColumn.AHEAD] <= ahead:
                j += 1
            reached[r] = j
            v = min(most, free[r, j + 1, RivalColumn.SPEED], before + MOST_DRIVE * STEP)
            v = max(v, before - MOST_BRAKING * STEP, 0.0)
            rivals[r, k, RivalColumn.AHEAD], rivals[r, k, RivalColumn.SPEED] = ahead + 0.5 * (before + v) * STEP, v
            for column in range(RivalColumn.RIGHTMOST, RivalColumn.LEFTMOST + 1):
                rivals[r, k, column] = free[r, j + 1, column]
