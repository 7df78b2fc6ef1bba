"""The report of a learned car: what was found, how sure it is, and the data behind it. One file, no network."""

from collections.abc import Sequence
from itertools import starmap
from pathlib import Path
from typing import Annotated, get_args, get_origin, get_type_hints

import numpy as np
from msgspec import Meta

from trailbrake.cars.params import CarParams
from trailbrake.cars.section import Section
from trailbrake.learning.car_plots import POINTS, CarPlot, Series, make_car_plots
from trailbrake.learning.identification.drive_table import DriveTable
from trailbrake.learning.identification.learned_car import LearnedCar
from trailbrake.learning.identification.learned_value import LearnedValue
from trailbrake.pages.rendering import THEME, escape_html, render_framed_page, write_page_file
from trailbrake.pages.svg_chart import CHART_STYLE, ChartFrame, find_range

MAX_POINTS = 1500  # of a chart
OUTLIERS = (0.05, 0.95)  # quantiles, within which most points of a chart are
NO_KEYS = {"brakes.force_over_mass": "m/s^2"}  # numbers of learned cars that no car file has


def find_unit(key: str) -> str:
    """Return the unit of a number by its key (`body.mass`, `engine.torque.4785`); "" for ratios and unknown keys."""
    section, _, rest = key.partition(".")
    kind = get_type_hints(CarParams).get(section)
    if key in NO_KEYS or not isinstance(kind, type) or not issubclass(kind, Section):
        return NO_KEYS.get(key, "")
    hint = get_type_hints(kind, include_extras=True).get(rest.partition(".")[0])
    if get_origin(hint) is not Annotated:
        return ""
    texts = [meta.description for meta in get_args(hint)[1:] if isinstance(meta, Meta) and meta.description]
    unit = texts[0].partition(",")[0] if texts else ""
    return "" if unit == "1" else unit


def write_car_report(path: Path, table: DriveTable, learned: LearnedCar, recordings: Sequence[str]) -> Path:
    """Write the report of a learned car.

    Args:
        path: of the file.
        table: of the drives that it was learned from.
        learned: the car.
        recordings: that it was learned from.

    Raises:
        UsageError: it cannot be written.
    """
    missing = "".join(f"<li>{escape_html(text)}</li>" for text in learned.missing) or "<li>nothing</li>"
    page = render_framed_page(
        "learning/car.html",
        styles=(THEME, CHART_STYLE),
        title=escape_html(f"{learned.car.name}: learned car"),
        name=escape_html(learned.car.name),
        about=f"{learned.seconds:.0f} s of driving; what no drive tells is that of the class "
        f"{escape_html(learned.kind.name)}.",
        recordings=escape_html(", ".join(recordings)),
        charts="".join(map(_draw_plot, make_car_plots(table, learned))),
        rows="".join(starmap(_draw_number, learned.values.items())),
        missing=missing,
    )
    return write_page_file(path, page)


def _draw_plot(plot: CarPlot) -> str:
    """Return a chart of the points and curves of a plot, without the few points that lie far from all others."""
    shown = [_leave_out_outliers(series) if series.style == POINTS else series for series in plot.series]
    frame = ChartFrame(find_range(series.x for series in shown), find_range(series.y for series in shown), height=270)
    parts = []
    for style, x, y in shown:
        if style == POINTS:
            chosen = np.linspace(0, len(x) - 1, min(len(x), MAX_POINTS)).astype(int)
            parts.append(frame.draw_points(x[chosen], y[chosen]))
        else:
            parts.append(frame.draw_curve(style, x, y))
    return frame.draw_figure(plot.title, *parts)


def _leave_out_outliers(series: Series) -> Series:
    """Return finite points without those beyond the quantiles of OUTLIERS by more than the distance between these."""
    known = np.isfinite(series.y)
    if not known.any():
        return Series(series.style, series.x[known], series.y[known])
    low, high = np.quantile(series.y[known], OUTLIERS)
    near = np.abs(series.y - 0.5 * (low + high)) <= 1.5 * (high - low)
    return Series(series.style, series.x[near], series.y[near])


def _draw_number(key: str, value: LearnedValue) -> str:
    """Return the row of a number in the table."""
    low, high = map(_format_number, value.interval)
    return (
        f'<tr><td class="words">{escape_html(key)}</td><td>{_format_number(value.value)}</td><td>{low} to {high}</td>'
        f'<td class="words">{escape_html(find_unit(key))}</td><td class="words">{escape_html(value.source)}</td>'
        f'<td class="words">{escape_html(value.note)}</td></tr>'
    )


def _format_number(value: float) -> str:
    """Return a number with four digits, without a power of ten where it is large."""
    return f"{value:.0f}" if abs(value) >= 1000.0 else f"{value:.4g}"
