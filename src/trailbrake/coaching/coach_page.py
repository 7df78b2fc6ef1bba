"""`write_coach_page`: what to change, the laps and the limit, as one HTML file and as JSON values.

The charts and maps are those of a comparison, with the limit lap as the reference. Texts that came with recordings are
escaped here or set as text by the script, never as markup.
"""

import itertools
import json
import math
import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from trailbrake.analysis.comparison import Comparison, DriveChoice
from trailbrake.analysis.comparison_page import (
    CORNER_FIGURES,
    SCRIPTS,
    describe_figures,
    known_or_none,
    make_chart_data,
    make_figure_cell,
)
from trailbrake.analysis.lap_location import LocatedLap
from trailbrake.analysis.lap_table import format_lap_time
from trailbrake.analysis.report import DECIMALS, write_page
from trailbrake.coaching.coach_session import CoachReport, CornerGap
from trailbrake.coaching.coached_sessions import CoachedSession, render_sessions
from trailbrake.coaching.corner_findings import Habit
from trailbrake.json_types import JsonObject
from trailbrake.pages.rendering import REPORT_STYLES, escape_html, escape_script, render_page, render_table
from trailbrake.pages.svg_chart import ChartFrame, find_range
from trailbrake.units import KMH, G

MOST_LAPS = 3  # of the person in the charts: the best, and the newest; the limit lap then has a colour of its own
ROWS_SHOWN = 5  # corners of the table
MOST_POINTS = 1500  # of accelerations
SPEED_BAND = 0.15  # share of a speed, within which accelerations belong to its envelope
MOST_CHANCE = 0.99  # that is stated
_HEADS = ("corner", "behind the limit s", "what the limit lap does otherwise", "behind your best s", "brake at m",
          "turn in m", "slowest km/h", "throttle m", "exit km/h")  # fmt: skip


def write_coach_page(report: CoachReport, out: Path, sessions: Sequence[CoachedSession] = ()) -> Path:
    """Write the page to `out` and return where it is.

    Args:
        report: with laps.
        out: the page.
        sessions: of this car and road, oldest first, for the trend.

    Raises:
        UsageError: `out` cannot be written, or is one of the recordings.
    """
    for drive in report.chosen.drives:
        drive.recording.check_output(out, "page")
    write_page(render_coach_page(report, sessions), out, "coach's page")
    return out


def render_coach_page(report: CoachReport, sessions: Sequence[CoachedSession] = ()) -> str:
    """Return the page of a report with laps; arguments are those of `write_coach_page`."""
    data = json.dumps(make_chart_data(_make_comparison(report)), separators=(",", ":"), allow_nan=False)
    about = report.chosen.drives[0].recording.about
    place = " on ".join(str(about[name]) for name in ("car", "track") if about.get(name))
    return render_page(
        "compare/compare.html",
        styles=(*REPORT_STYLES, "compare/compare.css", "coach/coach.css"),
        scripts=SCRIPTS,
        title=escape_html(f"Your laps: {place}" if place else "Your laps"),
        subtitle=escape_html(f"clean laps: {len(report.chosen.laps)}, recordings: {len(report.chosen.drives)};"
                             f" distances along the {report.chosen.line.basis}"),
        summary=f"<section class='findings'>{_findings_html(report)}</section>"
        f"<section class='times'>{_times_html(report)}</section>",
        corners=_corners_html(report),
        diagram=_envelope_html(report),
        details=_replay_html(report)
        + render_sessions(sessions)
        + _laps_html(report)
        + "".join(f"<p class='note'>{escape_html(note)}</p>" for note in report.notes),
        data=escape_script(data),
    )  # fmt: skip


def describe_report(report: CoachReport) -> JsonObject:
    """Return the report as JSON values: m, s, m/s; what is not known is None."""
    limit, place = report.limit, report.place
    return {
        "laps": [
            {"recording": str(report.chosen.drives[lap.source].recording.path), "number": lap.number,
             "time_s": lap.time_s}
            for lap in report.chosen.laps
        ],
        "unused": [
            {"label": unused.label, "number": unused.number, "reason": unused.reason} for unused in report.chosen.unused
        ],
        "best_s": known_or_none(report.best_s),
        "ideal_s": known_or_none(report.ideal_s),
        "spread_s": known_or_none(report.spread_s),
        "grip_share": known_or_none(report.share),
        "track": None if place is None else place.place.track,
        "car": None if place is None else place.place.car,
        "limit": None if limit is None else {
            "time_s": limit.time_s, "least_s": limit.least_s, "most_s": limit.most_s, "made_by": limit.made_by,
        },
        "findings": [_describe_finding(finding) for finding in report.findings],
        "corners": [
            {"name": gap.corner.name, "start_m": gap.corner.start, "apex_m": gap.corner.apex, "end_m": gap.corner.end,
             "to_best_s": known_or_none(gap.to_best_s), "to_limit_s": known_or_none(gap.to_limit_s),
             "advice": gap.advice, "own": describe_figures(gap.own), "best": describe_figures(gap.best),
             "limit": None if gap.limit is None else describe_figures(gap.limit)}
            for gap in report.gaps
        ],
        "notes": list(report.notes),
    }  # fmt: skip


def _describe_finding(finding: Habit) -> JsonObject:
    return {
        "kind": finding.kind, "corner": None if finding.corner is None else finding.corner.name,
        "cost_s": finding.cost_s, "error_s": finding.error_s, "chance": finding.chance, "advice": finding.advice,
        "evidence": finding.evidence, "own": None if finding.own is None else describe_figures(finding.own),
        "expected": None if finding.expected is None else describe_figures(finding.expected),
    }  # fmt: skip


def _make_comparison(report: CoachReport) -> Comparison:
    """Return the laps of the charts as a comparison; the reference is the limit lap, else the best lap."""
    best = report.best_lap
    newest = [lap for lap in report.chosen.laps if lap is not best][-(MOST_LAPS - 1) :]
    laps, drives = [best, *newest], list(report.chosen.drives)
    words = zip(*(re.findall("[^_ ]*[_ ]+", drive.label) for drive in drives), strict=False)
    shared = "".join(word[0] for word in itertools.takewhile(lambda each: len(set(each)) == 1, words))
    drives = [replace(drive, label=drive.label.removeprefix(shared) if len(drives) > 1 else "you") for drive in drives]
    if report.limit is not None:
        limit = replace(report.limit.lap, source=len(drives), number=0)
        if not report.limit.is_driven:
            limit = replace(limit, channels={name: limit.channels[name] for name in limit.channels if name != "brake"})
        laps.append(limit)
        drives.append(DriveChoice(drives[0].recording, "limit of your car"))
    step = max(round(report.chosen.line.length / 4000.0, 1), 0.1)
    return Comparison(
        drives=tuple(drives), line=report.chosen.line, corners=report.corners, laps=tuple(map(_fill_channels, laps)),
        reference=len(laps) - 1 if report.limit is not None else 0, losses=(), consistency=(),
        theoretical_s=report.ideal_s, notes=(),
        grid=np.arange(int(report.chosen.line.length / step) + 1, dtype=np.float64) * step,
    )  # fmt: skip


def _fill_channels(lap: LocatedLap) -> LocatedLap:
    """Return a lap with every channel of the charts; a planned one has few."""
    return replace(lap, channels=dict.fromkeys(DECIMALS, np.full(len(lap.s), math.nan)) | lap.channels)


def _findings_html(report: CoachReport) -> str:
    if not report.findings:
        return f"<article><h2>No habit stands out</h2>{_pace_html(report)}</article>"
    parts = []
    for number, finding in enumerate(report.findings):
        place = finding.corner.name if finding.corner is not None else "everywhere"
        head = f"Change this first: {place}" if number == 0 else f"Then: {place}"
        basis = "Beside your better laps" if finding.kind == "mistakes" else "Beside your usual pace"
        parts.append(
            f"<article><h2>{escape_html(head)}</h2><p class='advice'>{escape_html(finding.advice)}</p>"
            f"<p class='chance'>{basis} it costs {finding.cost_s:.2f} s a lap (give or take"
            f" {finding.error_s:.2f} s); the chance that it costs you time at all is"
            f" {min(finding.chance, MOST_CHANCE):.0%}.</p>"
            f"<p class='evidence'>{escape_html(finding.evidence)}</p></article>"
        )
    return "".join(parts)


def _pace_html(report: CoachReport) -> str:
    """Return what is lost without a habit: how much, how sure that is, and where most of it."""
    limit, bends = report.limit, [gap for gap in report.gaps if gap.corner.number]
    same = "<p>No corner costs more than the others do at your pace.</p>"
    if limit is None or not math.isfinite(report.share) or not bends:
        return f"{same}<p>The table below says where you have been quicker.</p>"
    lost, least, most = (report.best_s - time for time in (limit.time_s, limit.most_s, limit.least_s))
    doubt = f", or {least:.2f} to {most:.2f} s with a chance of 95 %" * (least < most)
    dearest = max(bends, key=lambda gap: gap.to_limit_s)
    return (
        f"{same}<p>What your best lap loses to the limit is your pace everywhere, at {report.share:.0%} of the car's"
        f" grip: {lost:.2f} s{doubt}.</p>"
        f"<p class='advice'>{escape_html(f'Most in {dearest.corner.name}: {dearest.advice}')}</p>"
    )


def _times_html(report: CoachReport) -> str:
    rows = [("your best lap", format_lap_time(report.best_s), ""),
            ("your best sections together", format_lap_time(report.ideal_s), "")]  # fmt: skip
    if (limit := report.limit) is not None:
        rows.append(("your car at its limit", format_lap_time(limit.time_s),
                     f"{limit.describe_interval()}; {limit.made_by}"))  # fmt: skip
    if math.isfinite(report.share) and report.limit is not None:
        rows.append(("grip that you use in most corners", f"{report.share:.0%}", ""))
    cells = (f"<div><dt>{name}</dt><dd>{value}</dd><small>{escape_html(more)}</small></div>"
             for name, value, more in rows)  # fmt: skip
    return f"<dl>{''.join(cells)}</dl>"


def _corners_html(report: CoachReport) -> str:
    ranked = sorted(report.gaps, key=lambda gap: -(gap.to_limit_s if math.isfinite(gap.to_limit_s) else gap.to_best_s))
    other, slower = (("the limit", "your car's limit") if report.limit is not None else
                     ("your best", "your best there"))  # fmt: skip
    later = "A later aim: w" if report.findings and report.limit is not None else "W"
    head = f"<h2>{later}here your usual lap is slower than {slower}</h2>"
    read = (f"Usual: the median of your laps. In brackets: yours less that of {other}, -10 at the brake is 10 m too"
            f" early; none: the same; (-): {other} has none. Throttle: where it is opened again.")  # fmt: skip
    rows = [_corner_row(gap) for gap in ranked]
    heads = _HEADS if report.limit is not None else (_HEADS[0], *_HEADS[3:])
    first, rest = (f"<div class='scroll'>{render_table(heads, part)}</div>"
                   for part in (rows[:ROWS_SHOWN], rows[ROWS_SHOWN:]))  # fmt: skip
    more = f"<details><summary>{len(rows) - ROWS_SHOWN} corners more</summary>{rest}</details>"
    return f"{head}<p>{read}</p>{first}" + more * (len(rows) > ROWS_SHOWN)


def _corner_row(gap: CornerGap) -> str:
    other = gap.limit if gap.limit is not None else gap.best
    to_limit = (
        []
        if gap.limit is None
        else [f"<td class='loss'>{gap.to_limit_s:+.2f}</td>", f"<td class='advice'>{escape_html(gap.advice)}</td>"]
    )
    cells = [
        f"<th scope='row'>{escape_html(gap.corner.name)}</th>", *to_limit,
        f"<td data-head='{_HEADS[3]}'>{gap.to_best_s:+.2f}</td>",
        *(make_figure_cell(head, getattr(gap.own, name), getattr(other, name), factor)
          for head, (name, factor) in zip(_HEADS[4:], CORNER_FIGURES, strict=True)),
    ]  # fmt: skip
    return f"<tr data-index='0' data-corner='{gap.corner.number}' tabindex='0'>{''.join(cells)}</tr>"


def _replay_html(report: CoachReport) -> str:
    """Return how to see the best lap beside the limit car in three dimensions; "" without one."""
    if report.limit is None:
        return ""
    name = shlex.quote(str(report.chosen.drives[report.best_lap.source].recording.path))
    return ("<p class='screen'>In three dimensions, beside the limit car:"
            f" <code>trailbrake replay {escape_html(name)} --watch --open --coach</code></p>")  # fmt: skip


def _laps_html(report: CoachReport) -> str:
    rows = [
        f"<tr><th scope='row'>{escape_html(report.chosen.drives[lap.source].label)}, lap {lap.number}</th>"
        f"<td>{format_lap_time(lap.time_s)}</td><td>used</td></tr>"
        for lap in report.chosen.laps
    ]
    for unused in report.chosen.unused:
        lap = f", lap {unused.number}" if unused.number else ""
        rows.append(f"<tr><th scope='row'>{escape_html(unused.label + lap)}</th><td>-</td>"
                    f"<td>not used: {escape_html(unused.reason)}</td></tr>")  # fmt: skip
    return f"<details><summary>Laps used and not used</summary>{render_table(('lap', 'time', ''), rows)}</details>"


def _envelope_html(report: CoachReport) -> str:
    """Return the accelerations of the used laps beside the car's envelope, at the median cornering speed."""
    if report.place is None:
        return ""
    limits = report.place.place.course.envelope
    rows = [np.column_stack([lap.channels[name] for name in ("speed", "acceleration_y", "acceleration_x")])
            for lap in report.chosen.laps]  # fmt: skip
    points = np.concatenate(rows)
    points = points[np.isfinite(points).all(axis=1)]
    bends = points[np.abs(points[:, 1]) > 0.3 * np.abs(points[:, 1]).max(initial=0.0)]
    if not len(bends):
        return ""
    speed = float(np.median(bends[:, 0]))
    near = points[np.abs(points[:, 0] / speed - 1.0) < SPEED_BAND]
    near = near[:: max(len(near) // MOST_POINTS, 1)] / G
    at = int(np.argmin(np.abs(limits.speeds - speed)))
    side = np.linspace(0.0, 1.0, limits.brake.shape[1]) * limits.lateral[at] / G
    aside = np.concatenate([side, side[::-1], -side, -side[::-1]])
    along = np.concatenate([limits.drive[at], -limits.brake[at][::-1], -limits.brake[at], limits.drive[at][::-1]]) / G
    frame = ChartFrame(find_range([aside, near[:, 1]]), find_range([along, near[:, 2]]))
    title = f"your accelerations in g near {speed / KMH:.0f} km/h, forward is up; the curve is what your car can do"
    drawn = frame.draw_figure(title, frame.draw_points(near[:, 1], near[:, 2]), frame.draw_curve("one", aside, along))
    return f"<div class='envelope'>{drawn}</div>"
