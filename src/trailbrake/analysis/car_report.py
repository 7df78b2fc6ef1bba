"""The report of a learned car: what was found, how sure it is, and the data behind it. One file, no network."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trailbrake.errors import UsageError
from trailbrake.identification.learned_car import LearnedCar
from trailbrake.pages.rendering import THEME, escape_html, render_page
from trailbrake.planning.envelope import compute_envelope

Array = NDArray[np.float64]

MAX_POINTS = 1500  # of a chart
_WIDTH, _HEIGHT, _MARGIN = 460, 270, 48  # pixels of a chart, and of its margin


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
        f"<tr><td>{escape_html(key)}</td><td>{value.value:.5g}</td>"
        f"<td>{value.interval[0]:.5g} to {value.interval[1]:.5g}</td>"
        f"<td>{value.source}</td><td>{escape_html(value.note)}</td></tr>"
        for key, value in learned.values.items()
    )
    missing = "".join(f"<li>{escape_html(text)}</li>" for text in learned.missing) or "<li>nothing</li>"
    page = render_page(
        "learning/car.html",
        styles=(THEME, "training/training.css"),
        title=escape_html(f"{learned.car.name}: learned car"),
        name=escape_html(learned.car.name),
        about=f"{learned.seconds:.0f} s of driving; what no drive tells is that of the class "
        f"{escape_html(learned.kind.name)}.",
        recordings=escape_html(", ".join(recordings)),
        charts="".join(_charts(learned)),
        rows=rows,
        missing=missing,
    )
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise UsageError("cannot write the report", where=str(path), got=error.strerror or str(error)) from error
    return path


def _charts(learned: LearnedCar) -> list[str]:
    charts = []
    if learned.tyres is not None:
        rows = learned.tyres.rows
        for axle, name in enumerate(("front", "rear")):
            angle = np.degrees(rows[:, axle])
            label = f"{name} axle: side force over load, by slip angle (deg)"
            charts.append(_chart(label, [("points", -angle, rows[:, 2 + axle])]))
        charts.append(_chart("force over weight: along, by across", [("points", rows[:, 2], rows[:, 5])]))
    if learned.powertrain is not None:
        power = learned.powertrain
        k = power.covered
        rpm, sigma = power.speeds[k] * 30.0 / math.pi, 1.96 * power.torque_sigma[k]
        lines = [
            ("line", rpm, power.torque[k]),
            ("faint", rpm, power.torque[k] - sigma),
            ("faint", rpm, power.torque[k] + sigma),
        ]
        charts.append(_chart("full-throttle torque over mass (N m/kg), by engine speed (rpm), with 95 %", lines))
    limits = compute_envelope(learned.car)
    charts.append(_chart("planned limits (m/s^2) by speed (m/s): across, braking, driving", [
        ("line", limits.speeds, limits.lateral), ("line", limits.speeds, limits.brake[:, 0]),
        ("faint", limits.speeds, limits.drive[:, 0]),
    ]))  # fmt: skip
    return charts


def _chart(title: str, series: Sequence[tuple[str, Array, Array]]) -> str:
    """Return a chart of points and lines; `series` is (kind, x, y) each."""
    finite = [(kind, x[np.isfinite(x) & np.isfinite(y)], y[np.isfinite(x) & np.isfinite(y)]) for kind, x, y in series]
    xs, ys = np.concatenate([x for _, x, _ in finite]), np.concatenate([y for _, _, y in finite])
    if not len(xs):
        return ""
    x0, x1, y0, y1 = float(xs.min()), float(xs.max()), float(ys.min()), float(ys.max())
    right, bottom = _WIDTH - 12, _HEIGHT - 24

    def px(values: Array) -> Array:
        return _MARGIN + (values - x0) / ((x1 - x0) or 1.0) * (right - _MARGIN)

    def py(values: Array) -> Array:
        return bottom - (values - y0) / ((y1 - y0) or 1.0) * (bottom - 12)

    parts = []
    for k in range(5):
        share = k / 4
        height, across = bottom - share * (bottom - 12), _MARGIN + share * (right - _MARGIN)
        parts.append(
            f'<line class="grid" x1="{_MARGIN}" x2="{right}" y1="{height:.1f}" y2="{height:.1f}"/>'
            f'<text x="{_MARGIN - 6}" y="{height + 4:.1f}" text-anchor="end">{y0 + share * (y1 - y0):.3g}</text>'
            f'<text x="{across:.1f}" y="{_HEIGHT - 6}" text-anchor="middle">{x0 + share * (x1 - x0):.3g}</text>'
        )
    for kind, x, y in finite:
        if kind == "points":
            chosen = np.linspace(0, len(x) - 1, min(len(x), MAX_POINTS)).astype(int)
            parts += [
                f'<circle cx="{a:.1f}" cy="{b:.1f}" r="1.5"/>'
                for a, b in zip(px(x[chosen]), py(y[chosen]), strict=True)
            ]
        else:
            points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(px(x), py(y), strict=True))
            parts.append(f'<polyline class="{"one" if kind == "line" else "two"}" points="{points}"/>')
    return (f'<figure><svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape_html(title)}">'
            f"{''.join(parts)}</svg><figcaption>{escape_html(title)}</figcaption></figure>")  # fmt: skip
