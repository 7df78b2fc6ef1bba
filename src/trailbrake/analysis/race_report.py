"""`render_race`: the sections of a car's report on the cars that it drove among: order, gaps, passes, contacts."""

import html
import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from trailbrake.analysis.lap_table import format_lap_time
from trailbrake.analysis.race_motion import CarMotion, RecordedRace, open_race, read_race
from trailbrake.analysis.reference_line import project_points
from trailbrake.analysis.steward import judge_recordings
from trailbrake.arrays import Array
from trailbrake.errors import TrailbrakeError
from trailbrake.pages.rendering import render_table
from trailbrake.pages.svg_chart import ChartFrame, find_range
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


LABEL_HEIGHT = 12.0  # pixels between the numbers of cars beside their curves
PASSES_SHOWN = 200


def render_race(recording: Recording) -> str:
    """Return the sections of the report of one car; "" where no other car was recorded, or without road and positions.

    The texts of recordings are not used as markup.
    """
    try:
        recordings = open_race(recording)
        if len(recordings) < 2:
            return ""
        number = recordings.index(recording)
        trace = trace_race(read_race(recordings))
        touched = np.nanmax(recording.state["contacts"], initial=0.0) > 0.0
        contacts = _render_contacts(number, recordings) if touched else ""
    except TrailbrakeError:  # a report of one car is a report all the same
        return ""
    return _render_order(number, recordings, trace) + _render_passes(number, trace) + contacts


def _render_order(number: int, recordings: Sequence[Recording], trace: RaceTrace) -> str:
    """Return the cars in their order at the end, and their gaps over time."""
    passed, lost = (Counter(cars) for cars in ((it.car for it in trace.passes), (it.passed for it in trace.passes)))
    rows = []
    for place, car in enumerate(rank_cars(recordings, trace), 1):
        laps = recordings[car].laps
        best = min((lap.time_s for lap in laps if lap.valid), default=None)
        gaps = trace.gap[car][np.isfinite(trace.gap[car])]
        cells = (
            str(place), str(car), str(recordings[car].about.get("driver") or ""), str(len(laps)),
            format_lap_time(best), f"{gaps[-1]:.2f}" if len(gaps) else "-",
            str(passed[car]), str(lost[car]),
        )  # fmt: skip
        row = "".join(f"<td>{html.escape(cell)}</td>" for cell in cells)
        rows.append(f"<tr class='focus'>{row}</tr>" if car == number else f"<tr>{row}</tr>")
    heads = ("place", "car", "driver", "laps", "best lap", "gap s", "passed", "was passed")
    table = render_table(heads, rows)
    return f"<section class='race'><h2>Race</h2><div class='laps'>{table}</div>{_draw_gaps(number, trace)}</section>"


def _draw_gaps(number: int, trace: RaceTrace) -> str:
    time = trace.time - trace.time[0]
    frame = ChartFrame((0.0, float(time[-1])), find_range([-trace.gap, np.zeros(1)]), 760, 300)
    cars = [car for car in range(len(trace.gap)) if car != number and np.isfinite(trace.gap[car]).any()] + [number]
    curves = "".join(frame.draw_curve("one" if car == number else "other", time, -trace.gap[car]) for car in cars)
    labels, below = "", 0.0
    ends = sorted((-trace.gap[car][np.isfinite(trace.gap[car])][-1:].sum(), car) for car in cars)
    for end, car in reversed(ends):
        below = max(float(frame.place_y(end)) + 4.0, below + LABEL_HEIGHT)
        labels += f'<text x="{frame.place_x(time[-1]) + 2:.1f}" y="{below:.1f}">{car}</text>'
    title = f"seconds to the leader, over seconds since the start; car {number} in colour"
    return frame.draw_figure(title, curves, labels)


def _render_passes(number: int, trace: RaceTrace) -> str:
    if not trace.passes:
        return "<section class='events'><h2>Passes</h2><p>No car passed another.</p></section>"
    rows = [
        f"<tr{' class=focus' * (number in (it.car, it.passed))}><td>{it.time_s:.1f}</td><td>{it.s_m:.0f}</td>"
        f"<td>car {it.car} passes car {it.passed}</td></tr>" for it in trace.passes[:PASSES_SHOWN]
    ]  # fmt: skip
    if len(trace.passes) > PASSES_SHOWN:
        rows.append(f"<tr><td></td><td></td><td>and {len(trace.passes) - PASSES_SHOWN} more</td></tr>")
    table = render_table(("time s", "m along the road", "pass"), rows)
    return f"<section class='events'><h2>Passes</h2>{table}</section>"


def _render_contacts(number: int, recordings: Sequence[Recording]) -> str:
    """Return the contacts of a car with their verdicts."""
    lines = [
        f"<tr><td>{contact.time_s:.2f}</td><td>{html.escape(contact.describe().partition(': ')[2])}</td></tr>"
        for contact in judge_recordings(recordings) if number in (contact.first, contact.second)
    ]  # fmt: skip
    table = render_table(("time s", "verdict and evidence"), lines)
    return f"<section class='events'><h2>Contacts</h2>{table}</section>" if lines else ""
