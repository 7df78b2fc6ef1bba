"""`CellResult`: what came out of a cell, and the figures of its laps and of many cells. Pure."""

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import msgspec

from trailbrake.driving.road_monitor import RoadMonitor
from trailbrake.json_types import JsonObject

Outcome = Literal["clean", "off", "crash", "error"]


class CellLap(msgspec.Struct, frozen=True):
    """A finished lap.

    Attributes:
        number: 1, 2, ...
        time_s: s from line to line.
        valid: whether it counts.
        reason: why it does not, "" if it does.
        off_track_s: s with more than two wheels off the road.
        contacts: with walls.
    """

    number: int
    time_s: Annotated[float, msgspec.Meta(gt=0.0)]
    valid: bool
    reason: str = ""
    off_track_s: float = 0.0
    contacts: int = 0


class CellResult(msgspec.Struct, frozen=True, kw_only=True):
    """What came out of a cell, by the world's own account.

    Attributes:
        outcome: clean = all laps driven and valid; off = all laps driven, some do not count; crash = a contact, a car
            that got stuck, or a drive that the driver did not finish; error = no result: it is driven again next time.
        ended: "" = all laps driven; else why it ended.
        laps: the finished laps.
        closed: whether the road is a circuit.
        time_s: s of simulator time.
        distance_m: m along the road.
        mean_progress_mps: m/s, `distance_m` over the time since the car first moved; None where it never did.
        off_track_count: times that more than two wheels left the road.
        off_track_s: s with more than two wheels off the road.
        stuck_s: s in which the car made no headway.
        contacts: with walls.
        predicted_s: s, the planned flying lap for what the driver believes; None without a plan.
        recording: file name of the recording, "" without one.
        steps: samples of the wire that the driver answered.
        processor_s: s of processor time, planning included.
        wall_s: s of wall time.
    """

    outcome: Outcome
    ended: str = ""
    laps: tuple[CellLap, ...] = ()
    closed: bool = True
    time_s: float = 0.0
    distance_m: float = 0.0
    mean_progress_mps: float | None = None
    off_track_count: int = 0
    off_track_s: float = 0.0
    stuck_s: float = 0.0
    contacts: int = 0
    predicted_s: float | None = None
    recording: str = ""
    steps: int = 0
    processor_s: float = 0.0
    wall_s: float = 0.0


def build_result(monitor: RoadMonitor, ended: str, predicted_s: float) -> CellResult:
    """Return the result of a drive.

    Args:
        monitor: of the world's own states.
        ended: why the drive ended, "" = all laps driven.
        predicted_s: planned flying lap, s; NaN without a plan.
    """
    laps = tuple(
        CellLap(lap.number, lap.time_s, lap.valid, lap.invalid_reason, lap.off_track_s, lap.contacts)
        for lap in monitor.laps
    )
    outcome: Outcome = "clean"
    if ended or monitor.contacts:
        outcome = "crash"
    elif not all(lap.valid for lap in laps):
        outcome = "off"
    way, driven = monitor.distance, monitor.clock - monitor.moved_at
    return CellResult(
        outcome=outcome, ended=ended, laps=laps, closed=not monitor.is_open_road, time_s=monitor.elapsed,
        distance_m=way, mean_progress_mps=way / driven if driven > 0.0 else None,
        off_track_count=monitor.off_track_count, off_track_s=monitor.off_track_s, stuck_s=monitor.stuck_s,
        contacts=int(monitor.contacts), predicted_s=None if math.isnan(predicted_s) else predicted_s,
        steps=monitor.states,
    )  # fmt: skip


def failed_result(reason: str, wall_s: float = 0.0) -> CellResult:
    """Return the result of a cell that could not be driven."""
    return CellResult(outcome="error", ended=reason, wall_s=wall_s)


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
        rows: with `keys`, `outcome`, and the numbers `ratio`, `time_lost_s` and `mean_progress_mps` (None = none).
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
                for name in ("ratio", "speed_ratio", "time_lost_s", "mean_progress_mps")
            },
        }
        for group in groups.values()
    ]


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else math.nan
