"""The corners of a road, and what each of them takes in a lap: lowest speed, time, time lost to the best lap."""

import itertools
import math
from typing import Any, NamedTuple

from trailbrake.analysis.corners import find_corners
from trailbrake.dashboard.lap_path import LapPath
from trailbrake.tracks.road import Road, RoadColumn


class CornerSpan(NamedTuple):
    """A stretch of road with one corner in it: its number from 1, where it begins and ends, and its apex, m."""

    number: int
    start: float
    end: float
    apex: float


def find_corner_spans(road: Road) -> list[CornerSpan]:
    """Return the corners of a closed road in driving order; each stretch reaches to the next one, so that they add up.

    A stretch begins halfway between the end of the bend before and its own bend, the first one at the start line. The
    corners are those of `trailbrake compare`, found on the road's own curvature.
    """
    if not road.closed:
        return []
    corners = find_corners(road.stations(), road.column(RoadColumn.CURVATURE))
    limits = [0.0]
    limits += [0.5 * (one.exit + following.entry) for one, following in itertools.pairwise(corners)]
    limits.append(road.length)
    return [CornerSpan(one.number, limits[i], limits[i + 1], one.apex) for i, one in enumerate(corners)]


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
