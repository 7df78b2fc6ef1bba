"""Coached sessions of one car and road as rows of a table, for the terminal and the page, and as a chart."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import numpy as np

from trailbrake.analysis.lap_table import format_lap_time
from trailbrake.coaching.coached_sessions import CoachedSession
from trailbrake.pages.rendering import escape_html, render_table
from trailbrake.pages.svg_chart import ChartFrame, find_range

SESSION_HEADS = ("session", "best", "sections", "limit", "worked on", "gained since s")


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
