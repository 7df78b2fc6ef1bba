"""`plot_comparison`: a comparison of laps as a picture. Needs matplotlib, the extra `plot`."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from trailbrake.analysis.comparison import Comparison
from trailbrake.analysis.lap_table import format_lap_time
from trailbrake.errors import UsageError
from trailbrake.units import KMH

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#b0568c", "#a67500", "#3a8fc4", "#5c5c5c")  # those of the pages
SLOPE_REACH = 12.0  # m over which the time lost per metre is taken
_ROWS = (("speed", "km/h", 1.0 / KMH, 3.0), ("", "behind, s", 1.0, 1.4), ("throttle", "throttle, %", 100.0, 1.0),
         ("brake", "brake, %", 100.0, 1.0), ("steer", "steer, %", 100.0, 1.2), ("gear", "gear", 1.0, 0.9))  # fmt: skip


def plot_comparison(comparison: Comparison, out: str | Path) -> None:
    """Write the picture: charts over distance on the left, the map on the right. The suffix of `out` is its format.

    Raises:
        UsageError: matplotlib is missing, or the file cannot be written.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UsageError("a picture needs matplotlib", where="--png", hint='pip install "trailbrake[plot]"') from error
    figure = Figure(figsize=(15.0, 9.0), layout="constrained")
    grid = figure.add_gridspec(len(_ROWS), 2, width_ratios=(3.0, 2.0), height_ratios=[row[3] for row in _ROWS])
    first = None
    for k, (name, label, factor, _) in enumerate(_ROWS):
        axes = figure.add_subplot(grid[k, 0], sharex=first)
        first = first or axes
        _draw_chart(comparison, axes, name, label, factor)
        axes.tick_params(labelbottom=k == len(_ROWS) - 1)
    assert first is not None
    first.legend(loc="lower right", fontsize=8, framealpha=0.8)
    figure.axes[-1].set_xlabel(f"m along the {comparison.line.basis}")
    _draw_map(comparison, figure.add_subplot(grid[:, 1]))
    try:
        figure.savefig(out, dpi=110)
    except (OSError, ValueError) as error:  # ValueError: no such format
        raise UsageError("cannot write the picture", where=str(out), got=str(error)) from error


def _draw_chart(comparison: Comparison, axes: "Axes", name: str, label: str, factor: float) -> None:
    for corner in comparison.corners:
        if corner.number:
            axes.axvspan(corner.entry, corner.exit, color="0.94", lw=0)
    for i, lap in enumerate(comparison.laps):
        values = comparison.compute_delta(i) if not name else lap.interpolate(name, comparison.grid) * factor
        text = f"{comparison.name_lap(i)}, {format_lap_time(lap.time_s)}"
        axes.plot(comparison.grid, values, color=COLOURS[i % len(COLOURS)], lw=1.1, label=text)
    axes.set_ylabel(label)
    axes.grid(alpha=0.3)
    axes.margins(x=0.0)


def _draw_map(comparison: Comparison, axes: "Axes") -> None:
    """Draw the first lap beside the reference, coloured by the time that it loses per metre."""
    axes.set_aspect("equal")
    axes.axis("off")
    for drive in comparison.drives:
        road = drive.recording.road_map
        if road is not None:
            for edge in (road.left, road.right):
                points = np.vstack([edge, edge[:1]]) if road.closed else edge
                axes.plot(points[:, 0], points[:, 1], color="0.6", lw=0.7)
            break
    index = next(i for i in range(len(comparison.laps)) if i != comparison.reference)
    lap, grid = comparison.laps[index], comparison.grid
    x, y = lap.interpolate("x", grid), lap.interpolate("y", grid)
    if not np.isfinite(x).any():
        return
    reach = max(1, round(SLOPE_REACH / float(grid[1] - grid[0])))
    behind = comparison.compute_delta(index)
    rate = np.full(len(grid), np.nan)
    rate[reach:-reach] = (behind[2 * reach :] - behind[: -2 * reach]) / (2.0 * reach * float(grid[1] - grid[0]))
    known = np.abs(rate[np.isfinite(rate)])
    limit = max(float(np.quantile(known, 0.98)) if len(known) else 0.0, 1e-4)
    shown = axes.scatter(x, y, c=np.nan_to_num(rate), cmap="coolwarm", vmin=-limit, vmax=limit, s=6)
    axes.figure.colorbar(shown, ax=axes, shrink=0.4, label=f"{comparison.name_lap(index)}: time lost, s/m")
    for corner in comparison.corners:
        if corner.number:
            place = (float(lap.interpolate("x", corner.apex)), float(lap.interpolate("y", corner.apex)))
            axes.annotate(corner.label, place, xytext=(9, 9), textcoords="offset points", weight="bold")
