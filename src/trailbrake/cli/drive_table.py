"""The table of a drive on a terminal: speed, lap, time gained or lost, pedals, the state of the connection.

It is for 80 columns, and for terminals of any encoding: bars are drawn in ASCII where there is nothing better.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from trailbrake.cli.output import format_lap_time
from trailbrake.dashboard.page_messages import ConnectionHealth
from trailbrake.laps import LapRecord
from trailbrake.state import CarState, Controls
from trailbrake.units import KMH, RPM

if TYPE_CHECKING:
    from rich.table import Table

BAR_WIDTH = 16  # characters; even
_SILENT_S = 0.25  # without a sample, from which the drive brakes


class DriveFigures(NamedTuple):
    """What the table shows.

    Attributes:
        state, controls: of the newest sample.
        health: of the connection.
        delta: s lost to the best lap at this place; NaN where there is none.
        laps: the finished ones.
        lap: the number of the one under way; NaN: not known.
    """

    state: CarState
    controls: Controls
    health: ConnectionHealth
    delta: float
    laps: Sequence[LapRecord]
    lap: float


def describe_drive(figures: DriveFigures, *, ascii_only: bool) -> list[tuple[str, str, str, str]]:
    """Return the rows of the table: two names with their values each."""
    state, controls, health, laps = figures.state, figures.controls, figures.health, figures.laps
    valid = [lap.time_s for lap in laps if lap.valid]
    speed = _format_number(state.speed / KMH, "3.0f", " km/h")
    gear = "-" if state.gear is None else {-1: "R", 0: "N"}.get(state.gear, str(state.gear))
    engine = _format_number(state.engine_speed / RPM, "5.0f", " rpm")
    throttle, brake, steer = (
        own if math.isfinite(own) else given
        for own, given in (
            (state.throttle, controls.throttle), (state.brake, controls.brake), (state.steer, controls.steer)
        )
    )  # fmt: skip
    silent = _format_number(1e3 * health.silent, ".0f", " ms")
    if health.silent > _SILENT_S:
        silent += ", SILENT"
    number = f"lap {figures.lap:.0f}" if math.isfinite(figures.lap) else "lap"
    return [
        ("speed", speed, number, format_lap_time(health.lap_clock)),
        ("gear", f"{gear}  {engine}", "to best", _format_number(figures.delta, "+.3f", " s")),
        ("throttle", draw_bar(throttle, ascii_only=ascii_only), "last", _format_lap(laps[-1]) if laps else "-"),
        ("brake", draw_bar(brake, ascii_only=ascii_only), "best", format_lap_time(min(valid, default=None))),
        ("steer", draw_centred_bar(steer, ascii_only=ascii_only), "samples",
         f"{_format_number(health.received, '.0f', '')}, {_format_number(health.loop_rate, '.0f', '/s')}"),
        ("link", f"newest {silent} old", "trouble",
         f"lost {_format_number(health.lost, '.0f', '')}, silent {_format_number(health.stale, '.0f', '')}"
         + (f", restarts {health.resyncs:.0f}" if health.resyncs > 0.0 else "")),
    ]  # fmt: skip


def draw_bar(share: float, *, ascii_only: bool) -> str:
    """Return a bar of BAR_WIDTH characters for a share of 0 to 1, with its percentage."""
    if not math.isfinite(share):
        return "-"
    full, empty = ("#", ".") if ascii_only else ("█", "░")
    filled = round(BAR_WIDTH * min(max(share, 0.0), 1.0))
    return f"{full * filled}{empty * (BAR_WIDTH - filled)} {100.0 * share:3.0f} %"


def draw_centred_bar(value: float, *, ascii_only: bool) -> str:
    """Return a bar from the middle for a value of -1 to 1, positive left, with its percentage."""
    if not math.isfinite(value):
        return "-"
    full, empty = ("#", ".") if ascii_only else ("█", "░")
    half = BAR_WIDTH // 2
    filled = round(half * min(abs(value), 1.0))
    side = full * filled, empty * (half - filled)
    left, right = (side[1] + side[0], empty * half) if value > 0.0 else (empty * half, side[0] + side[1])
    return f"{left}{right} {abs(100.0 * value):3.0f} % {'left' if value > 0.0 else 'right' if value < 0.0 else ''}"


def build_table(rows: Sequence[tuple[str, str, str, str]]) -> "Table":
    """Return the rows as a table of 78 columns at most."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2, 0, 0))
    for width, style in ((8, "dim"), (28, ""), (7, "dim"), (29, "")):
        table.add_column(width=width, style=style, no_wrap=True, overflow="crop")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def _format_number(value: float, form: str, unit: str) -> str:
    return f"{value:{form}}{unit}" if math.isfinite(value) else "-"


def _format_lap(lap: LapRecord) -> str:
    return format_lap_time(lap.time_s) + ("" if lap.valid else " not valid")
