"""Sessions that were coached, each kept as one file beside the recordings: what was worked on, and what it gained.

As rows of a table, for the terminal and the page, and as a chart.
"""

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from trailbrake.analysis.comparison import DriveChoice, measure_zones
from trailbrake.analysis.corners import Corner
from trailbrake.analysis.lap_table import format_lap_time
from trailbrake.analysis.reference_line import ReferenceLine, locate_points
from trailbrake.arrays import Array
from trailbrake.campaign.case_run import CaseStore, fingerprint_case
from trailbrake.coaching.coach_session import CoachReport
from trailbrake.coaching.target_laps import TargetLaps, make_target_laps
from trailbrake.config import recordings_folder
from trailbrake.errors import UsageError
from trailbrake.pages.rendering import escape_html, render_table
from trailbrake.pages.svg_chart import ChartFrame, find_range

NEAR = 30.0  # m from the line of the laps, within which a place is on their road
ID_FORM = "%Y-%m-%dT%H:%M:%S"
SESSION_HEADS = ("session", "best", "sections", "limit", "worked on", "gained since s")
LEAST_LAPS = 2  # of a session, for the uncertainty of its usual time


class WorkedOn(msgspec.Struct, frozen=True):
    """The first finding of a session.

    Attributes:
        corner: its name; "" for the whole lap.
        advice: what to change.
        cost_s, error_s: s a lap, and the standard error of it.
        chance: that it is there, 0..1.
        start, end: x, y (m, world) between which it costs that; empty where there are no positions.
        usual_s, usual_error_s: s that the median lap took there, and the standard error of it; None with too few laps.
    """

    corner: str
    advice: str
    cost_s: float
    error_s: float
    chance: float
    start: list[float]
    end: list[float]
    usual_s: float | None
    usual_error_s: float | None


class Gain(msgspec.Struct, frozen=True):
    """What was gained where an earlier session was to be worked on.

    Attributes:
        before: id of that session.
        gained_s, error_s: s by which the usual time fell, and the standard error of it.
    """

    before: str
    gained_s: float
    error_s: float


class CoachedSession(msgspec.Struct, frozen=True):
    """A session. Times in s; None is not known.

    Attributes:
        id: when its newest recording was begun, YYYY-MM-DDTHH:MM:SS.
        car, track: as recorded; "" where they are not known.
        recordings: names and dates.
        laps: that were used.
        best_s, ideal_s: the best lap, and the best sections together.
        limit_s, least_s, most_s: the limit lap, and its interval.
        grip_share: share of the car's grip that was used.
        worked_on: the first finding; None where no habit stood out.
        gain: of the work that the session before had named.
        target: the laps to drive against; None without a road.
    """

    id: str
    car: str
    track: str
    recordings: list[str]
    laps: int
    best_s: float
    ideal_s: float
    limit_s: float | None
    least_s: float | None
    most_s: float | None
    grip_share: float | None
    worked_on: WorkedOn | None
    gain: Gain | None
    target: TargetLaps | None

    def __post_init__(self) -> None:
        """Raise ValueError where the id is no date: a file may be damaged."""
        if datetime.strptime(self.id, ID_FORM).isoformat() != self.id:
            raise ValueError("CoachedSession.id: expected YYYY-MM-DDTHH:MM:SS")


class Usual(NamedTuple):
    """The usual time between two places, s, and its standard error; None with too few laps."""

    time_s: float | None = None
    error_s: float | None = None


def sessions_folder() -> Path:
    """Return the folder of kept sessions, which may not be there."""
    return recordings_folder() / "coached"


def open_session_store() -> CaseStore[CoachedSession]:
    """Return the store of kept sessions: beside the recordings, since no recording can make them again once it is gone.

    Raises:
        UsageError: the folder cannot be made.
    """
    return CaseStore(sessions_folder(), CoachedSession, any_source=True)


def list_sessions() -> list[CoachedSession]:
    """Return the kept sessions, oldest first; files that are none are left out."""
    if not sessions_folder().is_dir():
        return []
    return sorted(open_session_store().list_results(), key=lambda session: session.id)


def choose_sessions(sessions: Sequence[CoachedSession], name: str) -> list[CoachedSession]:
    """Return the sessions that have target laps, newest first; `name`: only the newest whose id begins so, "" all.

    Raises:
        UsageError: no id begins with `name`, or that session has no target laps.
    """
    found = [session for session in reversed(sessions) if session.id.startswith(name) or name == "last"]
    able = [session for session in found if session.target is not None]
    if not name:
        return able
    if not able:
        problem = "this session has no limit lap and no road" if found else "no such coached session"
        raise UsageError(problem, where=name, hint="trailbrake coach --history lists them")
    return able[:1]


def keep_session(report: CoachReport) -> list[CoachedSession]:
    """Keep a report with laps; return the sessions of its car and road, oldest first, itself the last.

    Raises:
        UsageError: it cannot be written.
    """
    drives, limit = report.chosen.drives, report.limit
    about = drives[0].recording.about
    names = sorted(f"{drive.recording.path.name} {_find_date(drive)}" for drive in drives)
    car, track = (str(about.get(name) or "") for name in ("car", "track"))
    date = max(map(_find_date, drives))
    before = [each for each in list_sessions() if (each.car, each.track) == (car, track) and each.id < date]
    before = [each for each in before if each.recordings != names and _is_on_road(report, each)]
    session = CoachedSession(
        date, car, track, names, len(report.chosen.laps), report.best_s, report.ideal_s,
        limit_s=None if limit is None else limit.time_s,
        least_s=None if limit is None else limit.least_s,
        most_s=None if limit is None else limit.most_s,
        grip_share=report.share if math.isfinite(report.share) else None,
        worked_on=_describe_work(report),
        gain=_measure_gain(report, before),
        target=make_target_laps(report),
    )  # fmt: skip
    open_session_store().store_result(fingerprint_case(names), names, session)
    return [*before, session]


def _find_date(drive: DriveChoice) -> str:
    """Return when a recording was begun, YYYY-MM-DDTHH:MM:SS: as it says, else when its file was last changed."""
    with suppress(ValueError):
        return datetime.fromisoformat(str(drive.recording.about.get("started"))).isoformat()[:19]
    return datetime.fromtimestamp(drive.recording.path.stat().st_mtime).isoformat()[:19]


def _is_on_road(report: CoachReport, session: CoachedSession) -> bool:
    """Return whether what a session was to work on lies on the road of a report."""
    work, line = session.worked_on, report.chosen.line.line
    if line is None or work is None or not work.start:
        return bool(session.track)
    return max(abs(_locate_point(line, point)[1]) for point in (work.start, work.end)) <= NEAR


def _locate_point(line: ReferenceLine, point: Sequence[float]) -> tuple[float, float]:
    """Return the distance along a line, and the offset from it, of x, y (m)."""
    s, offset = locate_points(line, *np.array(point).reshape(2, 1))
    return float(s[0]), float(offset[0])


def _describe_work(report: CoachReport) -> WorkedOn | None:
    if not report.findings:
        return None
    finding, line = report.findings[0], report.chosen.line
    start, end = (0.0, line.length) if finding.corner is None else (finding.corner.start, finding.corner.end)
    places = [
        [] if line.line is None
        else [round(float(np.interp(at, line.line.s, values)), 2) for values in (line.line.x, line.line.y)]
        for at in (start, end)
    ]  # fmt: skip
    usual = _measure_usual(report, range(len(report.chosen.drives)), start, end) or Usual()
    return WorkedOn(
        "" if finding.corner is None else finding.corner.name, finding.advice, finding.cost_s, finding.error_s,
        finding.chance, places[0], places[1], usual.time_s, usual.error_s,
    )  # fmt: skip


def _measure_usual(report: CoachReport, sources: Iterable[int], start: float, end: float) -> Usual | None:
    """Return the median time (s) between two places of the laps of some recordings, with its standard error."""
    laps = [lap for lap in report.chosen.laps if lap.source in sources]
    times: Array = measure_zones(laps, [Corner(0, 0.0, start, start, end, start, end)])[:, 0]
    times = times[np.isfinite(times)]
    if len(times) < LEAST_LAPS:
        return None
    return Usual(float(np.median(times)), 1.25 * float(times.std(ddof=1)) / math.sqrt(len(times)))


def _measure_gain(report: CoachReport, before: Sequence[CoachedSession]) -> Gain | None:
    """Return what the laps since the newest session before have gained; None where it, or they, say nothing."""
    last, line = (before[-1] if before else None), report.chosen.line.line
    if last is None or line is None or last.worked_on is None or not last.worked_on.start:
        return None
    work, drives = last.worked_on, report.chosen.drives
    new = [k for k, drive in enumerate(drives) if f"{drive.recording.path.name} {_find_date(drive)}"
           not in last.recordings]  # fmt: skip
    start, end = (0.0, line.length)
    if work.corner:
        start, end = (_locate_point(line, point)[0] for point in (work.start, work.end))
    usual = _measure_usual(report, new, start, end if end > start else end + line.length)
    if usual is None or usual.time_s is None or work.usual_s is None:
        return None
    return Gain(last.id, work.usual_s - usual.time_s, math.hypot(usual.error_s or 0.0, work.usual_error_s or 0.0))


def list_session_rows(sessions: Sequence[CoachedSession]) -> list[tuple[str, ...]]:
    """Return a row of SESSION_HEADS for each session, oldest first; what a later one has gained stands in its row."""
    gains = {session.gain.before: session.gain for session in sessions if session.gain is not None}
    rows = []
    for session in sessions:
        work, gain = session.worked_on, gains.get(session.id)
        times = (session.best_s, session.ideal_s, session.limit_s)
        rows.append((
            session.id[:16], *map(format_lap_time, times),
            "no habit" if work is None else f"{work.corner or 'everywhere'}, {work.cost_s:.2f} s",
            "-" if gain is None else f"{gain.gained_s:+.2f} \u00b1 {gain.error_s:.2f}",
        ))  # fmt: skip
    return rows


def render_sessions(sessions: Sequence[CoachedSession]) -> str:
    """Return the sessions as a part of the page: a chart of the times, and the table; "" with fewer than two."""
    if len(sessions) < 2:
        return ""
    dates = [datetime.fromisoformat(session.id) for session in sessions]
    days = np.array([(date - dates[0]) / timedelta(days=1) for date in dates])
    curves = [np.array([getattr(session, name) for session in sessions], float)
              for name in ("limit_s", "ideal_s", "best_s")]  # fmt: skip
    frame = ChartFrame(find_range([days]), find_range(curves))
    drawn = frame.draw_figure(
        "s, over days: your best lap (orange), your best sections together (blue), the limit (grey)",
        *(frame.draw_curve(style, days, curve) + frame.draw_points(days, curve)
          for style, curve in zip(("three", "two", "one"), curves, strict=True)),
    )  # fmt: skip
    rows = [f"<tr><th scope='row'>{escape_html(first)}</th>"
            + "".join(f"<td>{escape_html(cell)}</td>" for cell in cells) + "</tr>"
            for first, *cells in list_session_rows(sessions)]  # fmt: skip
    return (f"<section class='sessions'><h2>Your sessions</h2><div class='envelope'>{drawn}</div>"
            f"<div class='wide'>{render_table(SESSION_HEADS, rows)}</div></section>")  # fmt: skip
