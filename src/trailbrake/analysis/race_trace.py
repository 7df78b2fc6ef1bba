"""`trace_race`: gaps and passes of the cars of one drive, out of their recordings."""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from trailbrake.analysis.race_motion import RecordedRace
from trailbrake.analysis.reference_line import Array, project_points
from trailbrake.record.recording_reader import Recording

RATE = 10.0  # Hz, of what is traced
CLEAR = 5.0  # m, about a car's length, by which a car that has passed is ahead
HELD_SECONDS = 2.0  # for which it stays ahead
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
    distance = np.array([_measure_distance(race, car, time) for car in range(len(race.cars))])
    gap = np.array([_measure_gaps(time, distance, car) for car in range(len(race.cars))])
    length = race.line.length if race.line.closed else math.inf
    return RaceTrace(time, distance, gap, sorted(_find_passes(time, distance, length)))


def _measure_distance(race: RecordedRace, number: int, time: Array) -> Array:
    """Return how far along the road a car was, m: within half a round of the first car at the start."""
    car, first = race.cars[number], race.cars[0]
    along, _ = project_points(race.line, car.x, car.y)
    if race.line.closed:
        here, there = (cars[np.isfinite(cars)] for cars in (along, project_points(race.line, first.x, first.y)[0]))
        if len(here) and len(there):
            along = along - race.line.length * round((here[0] - there[0]) / race.line.length)
    sampled: Array = np.interp(time, race.time, along)
    return sampled


def _measure_gaps(time: Array, distance: Array, car: int) -> Array:
    """Return s behind the leader of each moment."""
    gap: Array = np.full(len(time), np.nan)
    leads = np.argmax(np.nan_to_num(distance, nan=-np.inf), axis=0)
    for leader in np.unique(leads):
        rows = leads == leader
        way = np.maximum.accumulate(np.nan_to_num(distance[leader], nan=-np.inf))  # a spun car rolls back
        known = np.concatenate([[True], np.diff(way) > 0.0]) & np.isfinite(way)
        was_there = np.interp(distance[car, rows], way[known], time[known], np.nan)
        gap[rows] = time[rows] - was_there
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
