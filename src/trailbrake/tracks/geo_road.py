"""Roads from lines of latitude and longitude: GPX and KML files, and tables without widths.

The longest line counts, with those that go on where it ends. Points nearer than MIN_STEP to the one before are left
out: receivers wander where they stand. What a lap has driven beyond its begin is cut off; a line that goes round more
than once is refused, for `trailbrake learn track` makes one road of several laps.
"""

import math
from collections.abc import Sequence

import numpy as np

from trailbrake.errors import DataError
from trailbrake.tracks.centreline_smoothing import MeasuredLine
from trailbrake.tracks.geo_lines import GeoLine
from trailbrake.tracks.geometry import Array, choose_origin, project_places
from trailbrake.tracks.measured_road import MAX_CLOSING_GAP, MeasuredPoints, is_circuit

ASSUMED_WIDTH = 8.0  # m from edge to edge
MIN_STEP = 1.5  # m
JOINED = 100.0  # m from the end of a line to the begin of the next one that goes on with it
NEAR_START, AWAY = 15.0, 100.0  # m: a line that has been away from its begin and is near it again goes round
MIN_POINTS, MAX_POINTS = 8, 30_000
MAX_GAP = 250.0  # m between neighbouring points
MIN_LENGTH, MAX_LENGTH = 60.0, 100_000.0  # m


def measure_geo_lines(lines: Sequence[GeoLine], where: str) -> MeasuredPoints:
    """Return the points of a road along lines of a file.

    Raises:
        DataError: too few points, a gap, or a line that goes round more than once.
    """
    origin = choose_origin(*np.concatenate([line[1:3] for line in lines], axis=1))
    chains = _join_lines([_project_line(line, origin) for line in lines])
    chain = max(chains, key=lambda each: float(np.hypot(*np.diff(each[:, :2], axis=0).T).sum()))
    notes = [f"east and north of {math.degrees(origin[0]):.1f}, {math.degrees(origin[1]):.1f} degrees"]
    if len(chains) > 1:
        notes.append(f"{len(chains) - 1} shorter lines of the file are left out")
    chain = _thin_points(chain)
    if not MIN_POINTS <= len(chain) <= MAX_POINTS:
        raise DataError("no number of points for a road", where=where, expected=f"{MIN_POINTS} to {MAX_POINTS}",
                        got=str(len(chain)))  # fmt: skip
    chain = _cut_round(chain, where)
    gaps = np.hypot(*np.diff(chain[:, :2], axis=0).T)
    k = int(gaps.argmax())
    if gaps[k] > MAX_GAP:
        raise DataError("gap in the line", where=f"{where}: point {k + 1}", expected=f"<= {MAX_GAP:g} m",
                        got=f"{gaps[k]:.0f} m to the next")  # fmt: skip
    if not MIN_LENGTH <= gaps.sum() <= MAX_LENGTH:
        raise DataError("no length of a road", where=where, expected=f"{MIN_LENGTH:g} .. {MAX_LENGTH:g} m",
                        got=f"{gaps.sum():.0f} m")  # fmt: skip
    x, y, height = chain.T.copy()
    closed = is_circuit(x, y)
    if closed and math.hypot(x[-1] - x[0], y[-1] - y[0]) < MIN_STEP:
        x, y, height = x[:-1], y[:-1], height[:-1]
    known = np.isfinite(height)
    notes.append(f"{len(x)} points, {float(gaps.mean()):.1f} m apart, {gaps[k]:.0f} m at most")
    notes += [f"width assumed, {ASSUMED_WIDTH:g} m", "heights averaged" if known.any() else "heights not known, flat"]
    filled = np.interp(np.arange(len(x)), np.flatnonzero(known), height[known]) if known.any() else None
    half = np.full(len(x), 0.5 * ASSUMED_WIDTH)
    return MeasuredPoints(MeasuredLine(x, y, half, half), filled, closed, tuple(notes))


def _project_line(line: GeoLine, origin: tuple[float, float]) -> Array:
    """Return x, y and height (n, 3) of a line, m."""
    return np.column_stack([*project_places(line.latitude, line.longitude, origin), line.height])


def _join_lines(lines: list[Array]) -> list[Array]:
    """Return lines of which each that begins near the end of the one before goes on with it."""
    joined = [lines[0]]
    for line in lines[1:]:
        if np.hypot(*(line[0, :2] - joined[-1][-1, :2])) < JOINED:
            joined[-1] = np.concatenate([joined[-1], line])
        else:
            joined.append(line)
    return joined


def _thin_points(points: Array) -> Array:
    keep = [0]
    for k, (x, y) in enumerate(points[:, :2].tolist()):
        if math.hypot(x - points[keep[-1], 0], y - points[keep[-1], 1]) >= MIN_STEP:
            keep.append(k)
    return points[keep]


def _cut_round(points: Array, where: str) -> Array:
    """Return a line without what it has driven beyond its begin; DataError where that is another round."""
    away = np.hypot(*(points[:, :2] - points[0, :2]).T)
    left = np.flatnonzero(away > AWAY)
    if not len(left):
        return points
    again = left[0] + np.flatnonzero(away[left[0] :] < NEAR_START)
    if not len(again):
        return points
    # The nearest of the points at which it is back for the first time.
    end = int(again[0] + np.argmin(away[again[0] : again[0] + 40]))
    ahead = points[min(2, len(points) - 1), :2] - points[0, :2]
    if float(ahead @ (points[end, :2] - points[end - 2, :2])) <= 0.0:
        return points  # it comes back the other way
    beyond = float(np.hypot(*np.diff(points[end:, :2], axis=0).T).sum())
    if beyond > AWAY + MAX_CLOSING_GAP:
        raise DataError("the line goes round more than once", where=where, expected="one lap",
                        got=f"{beyond:.0f} m more behind the first",
                        hint="trailbrake learn track --source FILE makes one road of several laps")  # fmt: skip
    return points[: end + 1]
