"""Figures of laps, and of many cells: pure functions of numbers."""

import math
import statistics
from collections.abc import Mapping, Sequence

from trailbrake.evaluate.cell_result import CellLap, CellResult
from trailbrake.json_types import JsonObject


def list_timed_laps(result: CellResult, laps: int) -> list[CellLap]:
    """Return the laps that are compared: flying ones; the one from rest where no other was to be driven.

    Args:
        result: of the cell.
        laps: that the cell was to drive.
    """
    if not result.closed or laps == 1:
        return list(result.laps)
    return [lap for lap in result.laps if lap.number > 1]


def find_best_time(laps: Sequence[CellLap]) -> float:
    """Return the time of the best valid lap, s; NaN without one."""
    return min((lap.time_s for lap in laps if lap.valid), default=math.nan)


def list_best_ratios(laps: Sequence[CellLap], reference_s: float) -> list[float]:
    """Return the best valid time among the first 1, 2, ... laps, over `reference_s`; NaN before there is one."""
    return [find_best_time(laps[: count + 1]) / reference_s for count in range(len(laps))]


def compute_time_lost(laps: Sequence[CellLap], baseline: Sequence[CellLap]) -> float:
    """Return the time (s) by which laps took longer in all than those of `baseline`; NaN where one has more of them."""
    if not laps or len(laps) != len(baseline):  # laps that a crash has prevented are no time gained
        return math.nan
    return sum(lap.time_s for lap in laps) - sum(lap.time_s for lap in baseline)


def summarize_values(values: Sequence[float]) -> JsonObject:
    """Return count, median, mean, least and most of the finite numbers among `values`; NaN where there are none."""
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return {"count": 0, "median": math.nan, "mean": math.nan, "least": math.nan, "most": math.nan}
    return {
        "count": len(finite), "median": statistics.median(finite), "mean": statistics.fmean(finite),
        "least": min(finite), "most": max(finite),
    }  # fmt: skip


def summarize_rows(rows: Sequence[Mapping[str, object]], keys: Sequence[str]) -> list[JsonObject]:
    """Return a summary of each group of rows that are equal in `keys`, in the order of their first rows.

    Args:
        rows: with `keys`, `outcome`, and the numbers `ratio`, `time_lost_s` and `mean_speed_mps` (None = none).
        keys: names of values.
    """
    groups: dict[str, list[Mapping[str, object]]] = {}
    for row in rows:
        groups.setdefault(repr([row[key] for key in keys]), []).append(row)
    return [
        {
            **{key: group[0][key] for key in keys},
            "cells": len(group),
            **{name: sum(row["outcome"] == name for row in group) for name in ("clean", "off", "crash", "error")},
            **{
                name: summarize_values([_number(row[name]) for row in group])
                for name in ("ratio", "speed_ratio", "time_lost_s", "mean_speed_mps")
            },
        }
        for group in groups.values()
    ]


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else math.nan
