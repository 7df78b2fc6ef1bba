"""`TargetLaps`: what a person drives against, by place: the own best lap, the best sections together, the limit lap."""

import itertools
import math
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from trailbrake.arrays import Array
from trailbrake.coaching.coach_session import CoachReport, CornerGap
from trailbrake.coaching.corner_findings import LEAST_COST
from trailbrake.coaching.ghost_laps import coach_folder

STEP = 5.0  # m between places
MOST_PLACES = 3000
FURTHEST = 1e7  # m and s


class TargetCorner(msgspec.Struct, frozen=True):
    """A corner of the target laps.

    Attributes:
        name: for people.
        start, apex, end: m along the line: its zone, and where it is sharpest.
        hint: what to change there, in a few words; "" for nothing.
        brakes: m along the line, by the lap that begins to brake there: "best" in that zone, "limit".
    """

    name: str
    start: float
    apex: float
    end: float
    hint: str
    brakes: dict[str, float]


class TargetLaps(msgspec.Struct, frozen=True):
    """The laps, at the same places of one line.

    Attributes:
        track: name or file of the road.
        width_known: whether the road's edges were measured.
        s: (n,) m along the line.
        x, y: (n,) m, world, of the line.
        times: (n,) s since the line was passed, by lap: "best", "ideal", and "limit" where there is one.
        limit_path: (n, 2) x, y of the limit lap; empty without one.
        corners: in driving order, without the stretch before the first.
        limiter: rad/s, engine speed of the limiter, as the wire supplied it; None where it did not.
    """

    track: str
    width_known: bool
    s: list[float]
    x: list[float]
    y: list[float]
    times: dict[str, list[float]]
    limit_path: list[tuple[float, float]]
    corners: list[TargetCorner]
    limiter: float | None

    def __post_init__(self) -> None:
        """Raise ValueError for lists of another length: a file may be damaged."""
        lengths = {len(each) for each in (self.s, self.x, self.y, *self.times.values())}
        lengths.add(len(self.limit_path) if "limit" in self.times else len(self.s))
        if len(lengths) > 1 or len(self.s) < 2 or not {"best", "ideal"} <= self.times.keys():
            raise ValueError("TargetLaps: expected as many times and points as places, two or more")
        numbers = [*self.s, *self.x, *self.y, *itertools.chain.from_iterable((*self.times.values(), *self.limit_path))]
        if max(map(abs, numbers)) > FURTHEST:
            raise ValueError("TargetLaps: expected places and times of a road")


def join_best_sections(times: Array, borders: Sequence[int]) -> Array:
    """Return the times of the best sections together.

    Args:
        times: (laps, n) s at places of one road; a lap with NaN in a section is no best there.
        borders: rising indices of places, from the first to the last, between which a section is.

    Returns:
        (n,) s, NaN from the first section on that no lap has.
    """
    joined = np.full(times.shape[1], math.nan)
    clock = float(np.nanmin(times[:, borders[0]], initial=math.inf))
    for first, last in itertools.pairwise(borders):
        took = times[:, last] - times[:, first]
        if not np.isfinite(took).any():
            break
        best = times[int(np.nanargmin(took)), first : last + 1]
        joined[first : last + 1] = clock + best - best[0]
        clock = float(joined[last])
    return joined


def make_target_laps(report: CoachReport) -> TargetLaps | None:
    """Return the target laps of a report; None without a road or positions."""
    line, place, limit = report.chosen.line.line, report.place, report.limit
    if line is None or place is None:
        return None
    count = min(max(math.ceil(line.length / STEP), 2), MOST_PLACES)
    s = np.linspace(0.0, line.length, count + 1)
    laps = np.array([lap.interpolate("time", s) for lap in report.chosen.laps])
    marks = np.array([0.0, *(corner.end for corner in report.corners)])
    borders = np.unique(np.searchsorted(s, marks).clip(0, count)).tolist()
    times = {"best": report.best_lap.interpolate("time", s), "ideal": join_best_sections(laps, borders)}
    path = np.empty((0, 2))
    if limit is not None:
        times["limit"] = limit.lap.interpolate("time", s)
        path = np.column_stack([limit.lap.interpolate(name, s) for name in ("x", "y")])
    if not all(np.isfinite(each).all() for each in (*times.values(), path)):
        return None
    speeds = np.concatenate([drive.recording.state["max_engine_speed"][:1] for drive in report.chosen.drives])
    return TargetLaps(
        place.place.track,
        width_known=Path(place.place.track).parent != coach_folder(),
        s=np.round(s, 2).tolist(),
        x=np.round(np.interp(s, line.s, line.x), 2).tolist(),
        y=np.round(np.interp(s, line.s, line.y), 2).tolist(),
        times={name: np.round(each, 3).tolist() for name, each in times.items()},
        limit_path=[(x, y) for x, y in np.round(path, 2).tolist()],
        corners=[_make_corner(report, gap) for gap in report.gaps if gap.corner.number],
        limiter=float(speeds[0]) if len(speeds) and np.isfinite(speeds).all() else None,
    )


def _make_corner(report: CoachReport, gap: CornerGap) -> TargetCorner:
    corner = gap.corner
    found = (finding.advice for finding in report.findings if finding.corner == corner)
    advice = next(found, gap.advice if gap.to_limit_s >= LEAST_COST else "")
    points = {"best": gap.best.brake_point, "limit": math.nan if gap.limit is None else gap.limit.brake_point}
    return TargetCorner(corner.name, corner.start, corner.apex, corner.end, advice.partition(":")[0],
                        {name: point for name, point in points.items() if math.isfinite(point)})  # fmt: skip
