"""`trace_race`: gaps and passes of the cars of one drive, out of their recordings."""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from trailbrake.analysis.race_motion import CarMotion, RecordedRace
from trailbrake.analysis.reference_line import Array, project_points
from trailbrake.record.recording_reader import Recording

RATE = 10.0  # Hz, of what is traced
CLEAR = 5.0  # m, about a car's length, by which a car that has passed is ahead
HELD_SECONDS = 2.0  # for which it stays ahead
FINISH_ROOM = 30.0  # m before the farthest place of all, from which on the lead does not change
MOVING_SPEED = 5.0  # m/s, from which on the first car's drive is a race


class RacePass(NamedTuple):
    """One car passed another: s of simulator time, m along the road, and the numbers of the cars."""

    time_s: float
    s_m: float
    car: int
    passed: int


class RaceTrace(NamedTuple):
    """A race at RATE.

    Attributes:
        time: (n,) s of simulator time of the first car.
        distance: (cars, n) m along the road from its start, with all rounds; NaN where a car was not there.
        gap: (cars, n) s behind the car that leads then: the time since it was at this place; NaN where it never was.
        passes: in the order of time.
    """

    time: Array
    distance: Array
    gap: Array
    passes: list[RacePass]


def trace_race(race: RecordedRace) -> RaceTrace:
    """Return the gaps and passes of the cars of one drive."""
    speed = np.max([np.nan_to_num(car.speed) for car in race.cars], axis=0)
    begin = race.time[np.argmax(speed > MOVING_SPEED)]
    time = np.arange(begin, race.time[-1], 1.0 / RATE)
    distance = np.array([_measure_distance(race, car, time) for car in race.cars])
    if race.line.closed:  # each begins within half a round of the first
        begins = np.array([next(iter(way[np.isfinite(way)]), math.nan) for way in distance])
        distance -= race.line.length * np.round((begins - begins[:1]) / race.line.length)[:, None]
    gap = _measure_gaps(time, distance)
    length = race.line.length if race.line.closed else math.inf
    return RaceTrace(time, distance, gap, sorted(_find_passes(time, distance, length)))


def _measure_distance(race: RecordedRace, car: CarMotion, time: Array) -> Array:
    """Return how far along the road a car was, m."""
    return project_points(race.line, *(np.interp(time, race.time, values) for values in (car.x, car.y)))[0]


def _measure_gaps(time: Array, distance: Array) -> Array:
    """Return s of each car behind the leader of each moment: who has come farthest, also where its drive has ended."""
    reached = np.fmax.accumulate(np.nan_to_num(distance, nan=-np.inf), axis=1)  # a spun car rolls back
    leads = np.argmax(reached, axis=0)
    finish = int(np.argmax(reached.max(axis=0) >= reached.max() - FINISH_ROOM))
    leads[finish:] = leads[finish]  # who rolls out farther has not won
    gap: Array = np.full(distance.shape, np.nan)
    for leader in np.unique(leads):
        rows, way = leads == leader, reached[leader]
        known = np.concatenate([[True], np.diff(way) > 0.0]) & np.isfinite(way)
        for car, its in enumerate(distance):
            gap[car, rows] = time[rows] - np.interp(its[rows], way[known], time[known], np.nan)
    return np.maximum(gap, 0.0)


def _find_passes(time: Array, distance: Array, length: float) -> Iterator[RacePass]:
    """Yield each change of two places that lasts: a length ahead, and for HELD_SECONDS not behind again."""
    held = int(HELD_SECONDS * RATE)
    for a, b in itertools.combinations(range(len(distance)), 2):
        ahead = distance[a] - distance[b]
        clear = np.flatnonzero(np.abs(ahead) >= CLEAR)
        order = np.sign(ahead[clear])
        last = order[0] if len(order) else 0.0
        for k in np.flatnonzero(np.diff(order)) + 1:
            row, side = clear[k], order[k]
            if side == last or np.any(ahead[row : row + held] * side <= 0.0):
                continue
            last = side
            row = int(np.flatnonzero(ahead[:row] * side <= 0.0)[-1])  # side by side
            car, passed = (a, b) if side > 0.0 else (b, a)
            yield RacePass(float(time[row]), float(distance[car, row] % length), car, passed)


def rank_cars(recordings: Sequence[Recording], trace: RaceTrace) -> list[int]:
    """Return the cars in their order at the end: by the finish of the most laps that one has, then by their way."""
    most = max(len(recording.laps) for recording in recordings)

    def key(car: int) -> tuple[float, float]:
        laps, known = recordings[car].laps, trace.distance[car][np.isfinite(trace.distance[car])]
        ended = laps[-1].end - recordings[car].race_times[0] if most and len(laps) == most else math.inf
        return ended, -known[-1] if len(known) else 0.0

    return sorted(range(len(recordings)), key=key)
