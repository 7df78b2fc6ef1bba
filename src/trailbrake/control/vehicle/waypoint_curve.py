"""A curve through waypoints: its points, its curvature, the steering towards it, and a speed for its bends."""

import math
from collections.abc import Sequence
from itertools import pairwise

Point = tuple[float, float]


class WaypointCurve:
    """A smooth curve through points in driving order (Catmull-Rom: each tangent along its neighbours' chord).

    Args:
        points: x, y (m), two or more; repeated points are omitted.
    """

    def __init__(self, points: Sequence[Point]) -> None:
        kept = [points[0]]
        for point in points[1:]:
            if math.dist(point, kept[-1]) > 1e-3:
                kept.append(point)
        self._points = kept
        self._distances = [0.0]  # m along the chords
        for before, after in pairwise(kept):
            self._distances.append(self._distances[-1] + math.dist(before, after))
        self._tangents = [self._chord_tangent(k) for k in range(len(kept))]

    def _chord_tangent(self, k: int) -> Point:
        i, j = max(k - 1, 0), min(k + 1, len(self._points) - 1)
        gap = self._distances[j] - self._distances[i]
        if gap == 0.0:
            return 0.0, 0.0
        (x0, y0), (x1, y1) = self._points[i], self._points[j]
        return (x1 - x0) / gap, (y1 - y0) / gap

    @property
    def length(self) -> float:
        """Length along the chords, m."""
        return self._distances[-1]

    def point_at(self, distance: float) -> Point:
        """Return x, y at `way` (m along the chords); straight on beyond the ends."""
        n = len(self._points)
        if n == 1:
            return self._points[0]
        k = min(max(sum(a <= distance for a in self._distances) - 1, 0), n - 2)
        gap = self._distances[k + 1] - self._distances[k]
        u = (distance - self._distances[k]) / gap
        if not 0.0 <= u <= 1.0:
            end = 0 if u < 0.0 else n - 1
            beyond = distance - self._distances[end]
            (x, y), (tx, ty) = self._points[end], self._tangents[end]
            return x + beyond * tx, y + beyond * ty
        a, b = (1.0 + 2.0 * u) * (1.0 - u) ** 2, u * u * (3.0 - 2.0 * u)
        c, d = gap * u * (1.0 - u) ** 2, gap * u * u * (u - 1.0)
        (x0, y0), (x1, y1) = self._points[k], self._points[k + 1]
        (s0, t0), (s1, t1) = self._tangents[k], self._tangents[k + 1]
        return a * x0 + b * x1 + c * s0 + d * s1, a * y0 + b * y1 + c * t0 + d * t1

    def nearest_distance(self, x: float, y: float) -> float:
        """Return m along the chords of the place on them that is nearest to (x, y)."""
        best, way = math.inf, 0.0
        for k, ((x0, y0), (x1, y1)) in enumerate(pairwise(self._points)):
            gap = self._distances[k + 1] - self._distances[k]
            u = min(max(((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / gap**2, 0.0), 1.0)
            away = math.hypot(x0 + u * (x1 - x0) - x, y0 + u * (y1 - y0) - y)
            if away < best:
                best, way = away, self._distances[k] + u * gap
        return way

    def point_curvatures(self) -> list[tuple[float, float]]:
        """Return m along the chords and curvature (1/m, positive to the left) at each point but the ends."""
        found = []
        for k in range(1, len(self._points) - 1):
            a, b, c = self._points[k - 1 : k + 2]
            twice = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
            sides = math.dist(a, b) * math.dist(b, c) * math.dist(a, c)
            found.append((self._distances[k], 2.0 * twice / sides if sides else 0.0))
        return found


def pursuit_curvature(x: float, y: float, yaw: float, aim: Point) -> float:
    """Return the curvature (1/m, positive to the left) of the arc from a car at x, y, yaw to a point (pure pursuit).

    Coulter, "Implementation of the pure pursuit path tracking algorithm", CMU-RI-TR-92-01, 1992.
    """
    dx, dy = aim[0] - x, aim[1] - y
    square = dx * dx + dy * dy
    return 2.0 * (dy * math.cos(yaw) - dx * math.sin(yaw)) / square if square else 0.0


def braking_speed_limit(
    curvatures: Sequence[tuple[float, float]], here: float, lateral_acceleration: float, deceleration: float
) -> float:
    """Return the highest speed (m/s) at `here` that still allows to brake for every bend ahead.

    Args:
        curvatures: as `WaypointCurve.point_curvatures` returns.
        here: m along the same curve.
        lateral_acceleration: m/s^2, limit in bends.
        deceleration: m/s^2.
    """
    least = math.inf
    for at, bend in curvatures:
        square = lateral_acceleration / max(abs(bend), 1e-9)
        least = min(least, math.sqrt(square + 2.0 * deceleration * max(at - here, 0.0)))
    return least
