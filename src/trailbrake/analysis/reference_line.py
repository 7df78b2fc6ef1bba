"""Distance and lateral offset of a car along a line, for a whole lap at a time."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array

LOOK_AHEAD = 40.0  # m beyond the distance driven since the last point
_PROJECTION_STEPS = 6  # of Newton's method; it also walks to a neighbouring segment
MAX_OFFSET = 60.0  # m from the line, above which the whole line is searched


@dataclass(frozen=True)
class ReferenceLine:
    """A polyline with distances. `length` is that of the whole lap where it is closed."""

    x: Array
    y: Array
    s: Array
    closed: bool
    length: float


def make_line(x: Array, y: Array, closed: bool | None = None) -> ReferenceLine | None:
    """Return the line through the points, None if there are fewer than two different ones.

    Whether it is closed is guessed where `closed` is None: its ends meet within three of its steps.
    """
    keep = np.isfinite(x) & np.isfinite(y)
    keep[1:] &= (np.diff(x) != 0.0) | (np.diff(y) != 0.0)
    x, y = x[keep], y[keep]
    if len(x) < 2:
        return None
    steps = np.hypot(np.diff(x), np.diff(y))
    gap = float(np.hypot(x[0] - x[-1], y[0] - y[-1]))
    if closed is None:
        closed = len(x) > 3 and gap <= 3.0 * float(np.median(steps))
    if closed and gap > 0.0:
        x, y, steps = np.append(x, x[0]), np.append(y, y[0]), np.append(steps, gap)
    s = np.concatenate([[0.0], np.cumsum(steps)])
    return ReferenceLine(x, y, s, bool(closed), float(s[-1]))


def locate_points(line: ReferenceLine, x: Array, y: Array) -> tuple[Array, Array]:
    """Return distance along `line` and lateral offset (m, positive left of it) of consecutive points.

    The distance of a closed line grows beyond its length instead of jumping back. Each point is searched
    near the one before it, so that a track may cross itself.
    """
    nearest = _nearest_points(line, x, y)
    segments = len(line.s) - 1
    best_s, best_offset = np.zeros_like(x), np.full_like(x, np.inf)
    for shift in (-1, 0):
        i = nearest + shift
        i = i % segments if line.closed else np.clip(i, 0, segments - 1)
        dx, dy = line.x[i + 1] - line.x[i], line.y[i + 1] - line.y[i]
        size = line.s[i + 1] - line.s[i]
        px, py = x - line.x[i], y - line.y[i]
        share = np.clip((px * dx + py * dy) / size**2, 0.0, 1.0)
        side = np.sign(dx * py - dy * px)
        offset = np.where(side == 0.0, 1.0, side) * np.hypot(px - share * dx, py - share * dy)
        closer = np.abs(offset) < np.abs(best_offset)
        best_s = np.where(closer, line.s[i] + share * size, best_s)
        best_offset = np.where(closer, offset, best_offset)
    best_offset = np.where(np.isfinite(best_offset), best_offset, np.nan)
    if line.closed:
        best_s = np.unwrap(best_s, period=line.length)
    return best_s, best_offset


def project_points(line: ReferenceLine, x: Array, y: Array) -> tuple[Array, Array]:
    """Return distance along `line` and lateral offset (m, positive left of it), both continuous, of consecutive points.

    Between two points of the line its direction is interpolated, so that the distance has neither jumps nor dead zones
    beside a bend, as the perpendicular on a polyline has. A gate across the line at distance 0 is thereby the line's
    normal there. The distance of a closed line grows beyond its length instead of jumping back.
    """
    tangent_x, tangent_y = _point_tangents(line)
    segments = len(line.s) - 1
    nearest = _nearest_points(line, x, y)
    i = nearest % segments if line.closed else np.minimum(nearest, segments - 1)
    share = np.zeros_like(x)
    for _ in range(_PROJECTION_STEPS):
        size = line.s[i + 1] - line.s[i]
        dx, dy = (line.x[i + 1] - line.x[i]) / size, (line.y[i + 1] - line.y[i]) / size
        ux = tangent_x[i] + share * (tangent_x[i + 1] - tangent_x[i])
        uy = tangent_y[i] + share * (tangent_y[i + 1] - tangent_y[i])
        px, py = x - line.x[i] - share * size * dx, y - line.y[i] - share * size * dy
        # Newton's step for (point - foot) . tangent = 0.
        slope = (
            px * (tangent_x[i + 1] - tangent_x[i]) + py * (tangent_y[i + 1] - tangent_y[i]) - size * (dx * ux + dy * uy)
        )
        change = np.divide(-(px * ux + py * uy), slope, out=np.zeros_like(slope), where=np.abs(slope) > 1e-9)
        share = share + np.clip(np.nan_to_num(change), -1.0, 1.0)
        over, under = share > 1.0, share < 0.0
        if not line.closed:
            over, under = over & (i < segments - 1), under & (i > 0)
        i = (i + over.astype(np.int64) - under.astype(np.int64)) % segments
        share = share - over + under
    size = line.s[i + 1] - line.s[i]
    dx, dy = (line.x[i + 1] - line.x[i]) / size, (line.y[i + 1] - line.y[i]) / size
    px, py = x - line.x[i] - share * size * dx, y - line.y[i] - share * size * dy
    distance = line.s[i] + share * size
    distance = np.where(np.isfinite(x) & np.isfinite(y), distance, np.nan)
    if line.closed:
        known = np.isfinite(distance)
        distance[known] = np.unwrap(distance[known], period=line.length)
    return distance, dx * py - dy * px


def _point_tangents(line: ReferenceLine) -> tuple[Array, Array]:
    """Return the unit tangents at the points of `line`: along the chord of the neighbours."""
    steps_x, steps_y = np.diff(line.x), np.diff(line.y)
    size = np.hypot(steps_x, steps_y)
    steps_x, steps_y = steps_x / size, steps_y / size
    before_x, before_y = (steps_x[-1:], steps_y[-1:]) if line.closed else (steps_x[:1], steps_y[:1])
    after_x, after_y = (steps_x[:1], steps_y[:1]) if line.closed else (steps_x[-1:], steps_y[-1:])
    x = np.concatenate([before_x, steps_x]) + np.concatenate([steps_x, after_x])
    y = np.concatenate([before_y, steps_y]) + np.concatenate([steps_y, after_y])
    length = np.maximum(np.hypot(x, y), 1e-9)
    return x / length, y / length


def _nearest_points(line: ReferenceLine, x: Array, y: Array) -> NDArray[np.int64]:
    points = len(line.s) - 1 if line.closed else len(line.s)
    lx, ly = line.x[:points], line.y[:points]
    spacing = max(line.length / points, 1e-3)
    moved = np.hypot(np.diff(x, prepend=x[:1]), np.diff(y, prepend=y[:1]))
    found, last = np.zeros(len(x), dtype=np.int64), -1
    for k in range(len(x)):
        if not np.isfinite(x[k] + y[k]):
            found[k] = max(last, 0)
            continue
        if last >= 0 and np.isfinite(moved[k]):
            reach = int((LOOK_AHEAD + moved[k]) / spacing) + 1
            if 2 * reach + 1 < points:
                window = np.arange(last - reach, last + reach + 1)
                window = window % points if line.closed else np.clip(window, 0, points - 1)
                distance = np.hypot(lx[window] - x[k], ly[window] - y[k])
                i = int(np.argmin(distance))
                if distance[i] <= MAX_OFFSET:
                    last = found[k] = int(window[i])
                    continue
        last = found[k] = int(np.argmin(np.hypot(lx - x[k], ly - y[k])))
    return found


def driven_distance(x: Array, y: Array, speed: Array, time: Array) -> Array:
    """Return the distance driven (m): along the points, or from the speed where there are no positions."""
    steps = np.hypot(np.diff(x), np.diff(y))
    by_speed = 0.5 * (speed[1:] + speed[:-1]) * np.diff(time)
    steps = np.where(np.isfinite(steps), steps, by_speed)
    return np.concatenate([[0.0], np.cumsum(np.where(np.isfinite(steps), steps, 0.0))])
