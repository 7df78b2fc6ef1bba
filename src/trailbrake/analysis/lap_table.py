"""A comparison of laps: the best one, the best sectors, and their sum."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from trailbrake.laps import LapRecord, find_best_lap

_LONGEST_S = 1e9  # s, 31 years: a file may say anything


@dataclass(frozen=True)
class LapRow:
    """One line of the table. `gap` is the time behind the best lap, s."""

    number: int
    time_s: float
    valid: bool
    invalid_reason: str
    sectors: tuple[float, ...]
    gap: float


@dataclass(frozen=True)
class LapTable:
    """The laps of a drive.

    Attributes:
        rows: the laps in the order they were driven.
        best: index of the best lap in `rows`, None without laps. Valid laps only, unless there are none.
        sector_best: index in `rows` of the valid lap with the best time of each sector; () without one.
        theoretical_s: the best sectors together, NaN without sectors.
    """

    rows: tuple[LapRow, ...]
    best: int | None
    sector_best: tuple[int, ...]
    theoretical_s: float


def compare_laps(laps: Sequence[LapRecord]) -> LapTable:
    """Compare `laps`. Sectors count where the lap has as many of them as the best lap."""
    sectors = [tuple(lap.sectors_s) for lap in laps]
    best = find_best_lap(laps)
    if best is None:
        return LapTable((), None, (), math.nan)
    known = [i for i, lap in enumerate(laps) if lap.valid and len(sectors[i]) == len(sectors[best])]
    sector_best = tuple(min(known, key=lambda i: sectors[i][k]) for k in range(len(sectors[best]) if known else 0))
    together = sum(sectors[i][k] for k, i in enumerate(sector_best)) if sector_best else math.nan
    rows = tuple(
        LapRow(lap.number, lap.time_s, lap.valid, lap.invalid_reason, sectors[i], lap.time_s - laps[best].time_s)
        for i, lap in enumerate(laps)
    )
    return LapTable(rows, best, sector_best, together)


def format_lap_time(seconds: float | None) -> str:
    """Return a lap time as text: 1:23.456, or 23.456 below a minute; - for None, NaN and what no drive takes."""
    if seconds is None or not abs(seconds) < _LONGEST_S:
        return "-"
    thousandths = round(abs(seconds) * 1000)
    minutes, rest = divmod(thousandths, 60_000)
    sign = "-" if seconds < 0 and thousandths else ""
    return f"{sign}{minutes}:{rest / 1000:06.3f}" if minutes else f"{sign}{rest / 1000:.3f}"


def format_number(value: float | None, form: str, unit: str = "") -> str:
    """Return a number in a format with its unit; - where there is none."""
    return "-" if value is None or not math.isfinite(value) else f"{value:{form}}{unit}"


def format_ratio(value: float) -> str:
    """Return a ratio of times as a difference in percent."""
    return format_number(100.0 * (value - 1.0), "+.2f", " %")
