"""`render_race`: the sections of a car's report on the cars that it drove among: order, gaps, passes, contacts."""

import html
from collections import Counter
from collections.abc import Sequence

import numpy as np

from trailbrake.analysis.lap_table import format_lap_time
from trailbrake.analysis.race_motion import open_race, read_race
from trailbrake.analysis.race_trace import RaceTrace, rank_cars, trace_race
from trailbrake.analysis.steward import judge_recordings
from trailbrake.errors import TrailbrakeError
from trailbrake.laps import find_best_lap
from trailbrake.pages.rendering import render_table
from trailbrake.pages.svg_chart import ChartFrame, find_range
from trailbrake.record.recording_reader import Recording

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
        best = find_best_lap(laps)
        gaps = trace.gap[car][np.isfinite(trace.gap[car])]
        cells = (
            str(place), str(car), str(recordings[car].about.get("driver") or ""), str(len(laps)),
            format_lap_time(None if best is None else laps[best].time_s), f"{gaps[-1]:.2f}" if len(gaps) else "-",
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
