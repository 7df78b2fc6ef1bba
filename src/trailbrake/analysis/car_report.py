"""The report of a learned car: what was found, how sure it is, and the data behind it. One file, no network."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trailbrake.identification.learned_car import LearnedCar
from trailbrake.pages.rendering import THEME, escape_html, render_framed_page, write_page_file
from trailbrake.pages.svg_chart import CHART_STYLE, ChartFrame, find_range
from trailbrake.planning.envelope import compute_envelope

Array = NDArray[np.float64]

MAX_POINTS = 1500  # of a chart


def write_car_report(path: Path, learned: LearnedCar, recordings: Sequence[str]) -> Path:
    """Write the report of a learned car.

    Args:
        path: of the file.
        learned: the car.
        recordings: that it was learned from.

    Raises:
        UsageError: it cannot be written.
    """
    rows = "".join(
        f'<tr><td class="words">{escape_html(key)}</td><td>{value.value:.4g}</td>'
        f"<td>{value.interval[0]:.4g} to {value.interval[1]:.4g}</td>"
        f'<td class="words">{escape_html(value.source)}</td><td class="words">{escape_html(value.note)}</td></tr>'
        for key, value in learned.values.items()
    )
    missing = "".join(f"<li>{escape_html(text)}</li>" for text in learned.missing) or "<li>nothing</li>"
    page = render_framed_page(
        "learning/car.html",
        styles=(THEME, CHART_STYLE),
        title=escape_html(f"{learned.car.name}: learned car"),
        name=escape_html(learned.car.name),
        about=f"{learned.seconds:.0f} s of driving; what no drive tells is that of the class "
        f"{escape_html(learned.kind.name)}.",
        recordings=escape_html(", ".join(recordings)),
        charts="".join(_charts(learned)),
        rows=rows,
        missing=missing,
    )
    return write_page_file(path, page)


def _charts(learned: LearnedCar) -> list[str]:
    charts = []
    if learned.tyres is not None:
        rows = learned.tyres.rows
        for axle, name in enumerate(("front", "rear")):
            angle = np.degrees(rows[:, axle])
            label = f"{name} axle: side force over load, by slip angle (deg)"
            charts.append(_draw_chart(label, [("points", -angle, rows[:, 2 + axle])]))
        charts.append(_draw_chart("force over weight: along, by across", [("points", rows[:, 2], rows[:, 5])]))
    if learned.powertrain is not None:
        power = learned.powertrain
        k = power.covered
        rpm, sigma = power.speeds[k] * 30.0 / math.pi, 1.96 * power.torque_sigma[k]
        lines = [
            ("one", rpm, power.torque[k]),
            ("two", rpm, power.torque[k] - sigma),
            ("two", rpm, power.torque[k] + sigma),
        ]
        charts.append(_draw_chart("full-throttle torque over mass (N m/kg), by engine speed (rpm), with 95 %", lines))
    limits = compute_envelope(learned.car)
    charts.append(_draw_chart("planned limits (m/s^2) by speed (m/s): across orange, braking blue, driving green", [
        ("one", limits.speeds, limits.lateral), ("two", limits.speeds, limits.brake[:, 0]),
        ("three", limits.speeds, limits.drive[:, 0]),
    ]))  # fmt: skip
    return charts


def _draw_chart(title: str, series: Sequence[tuple[str, Array, Array]]) -> str:
    """Return a chart of points and curves; `series` is (`points` or a style, x, y) each."""
    frame = ChartFrame(find_range(x for _, x, _ in series), find_range(y for _, _, y in series), height=270)
    parts = []
    for style, x, y in series:
        if style == "points":
            chosen = np.linspace(0, len(x) - 1, min(len(x), MAX_POINTS)).astype(int)
            parts.append(frame.draw_points(x[chosen], y[chosen]))
        else:
            parts.append(frame.draw_curve(style, x, y))
    return frame.draw_figure(title, *parts)
