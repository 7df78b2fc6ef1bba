"""The corners of a road, and what each of them takes in a lap: lowest speed, time, time lost to the best lap."""

import math
from typing import Any, NamedTuple

import numpy as np

from trailbrake.dashboard.lap_path import LapPath
from trailbrake.tracks.kerbs import find_bends
from trailbrake.tracks.road import Road, RoadColumn


class CornerSpan(NamedTuple):
    """A stretch of road with one corner in it: its number from 1, where it begins and ends, and its apex, m."""

    number: int
    start: float
    end: float
    apex: float


def find_corner_spans(road: Road) -> list[CornerSpan]:
    """Return the corners of a closed road in driving order; each stretch reaches to the next one, so that they add up.

    A stretch begins halfway between the end of the bend before and its own bend, the first one at the start line.
    """
    if not road.closed:
        return []
    curvature, count = road.column(RoadColumn.CURVATURE), len(road.table)
    # A bend over the start line counts as the last one: laps end there.
    bends = sorted((first, min(last, count - 1)) for first, last in find_bends(curvature, road.spacing))
    apexes = [first + int(np.abs(curvature[first : last + 1]).argmax()) for first, last in bends]
    limits = [0.0]
    limits += [0.5 * (bends[i][1] + bends[i + 1][0]) * road.spacing for i in range(len(bends) - 1)]
    limits.append(road.length)
    return [CornerSpan(i + 1, limits[i], limits[i + 1], apex * road.spacing) for i, apex in enumerate(apexes)]


def compare_corners(spans: list[CornerSpan], lap: LapPath, best: LapPath | None) -> list[dict[str, Any]]:
    """Return for each corner its number, lowest speed (m/s), time (s) and time lost to `best` (s); None: not known."""
    rows = []
    for span in spans:
        took = _time_between(lap, span)
        lost = took - _time_between(best, span) if best is not None else math.nan
        slowest = lap.slowest_between(span.start, span.end)
        rows.append({
            "number": span.number, "apex_m": round(span.apex, 1), "slowest": _round_known(slowest),
            "time_s": _round_known(took), "lost_s": _round_known(lost),
        })  # fmt: skip
    return rows


def _time_between(lap: LapPath, span: CornerSpan) -> float:
    # The first and the last sample are up to one interval away from the line.
    travelled = lap.samples[:, 1]
    start, end = max(span.start, float(travelled[0])), min(span.end, float(travelled[-1]))
    if not (start - span.start < 20.0 and span.end - end < 20.0 and start < end):
        return math.nan
    begins = 0.0 if span.start == 0.0 else lap.clock_at(start)
    ends = lap.time_s if end < span.end else lap.clock_at(end)
    return ends - begins


def _round_known(value: float) -> float | None:
    return round(value, 3) if math.isfinite(value) else None
