"""Following points that lie ahead on a line: where the line goes, how it bends, and how fast it can be driven."""

import math
from collections.abc import Sequence
from itertools import pairwise

Point = tuple[float, float]


class Line:
    """A smooth curve through points in driving order (Catmull-Rom: each tangent along its neighbours' chord).

    Args:
        points: x, y (m), two or more; a point that repeats the one before it is left out.
    """

    def __init__(self, points: Sequence[Point]) -> None:
        kept = [points[0]]
        for point in points[1:]:
            if math.dist(point, kept[-1]) > 1e-3:
                kept.append(point)
        self._points = kept
        self._at = [0.0]  # m along the chords
        for before, after in pairwise(kept):
            self._at.append(self._at[-1] + math.dist(before, after))
        self._tangents = [self._tangent(k) for k in range(len(kept))]

    def _tangent(self, k: int) -> Point:
        i, j = max(k - 1, 0), min(k + 1, len(self._points) - 1)
        gap = self._at[j] - self._at[i]
        if gap == 0.0:
            return 0.0, 0.0
        (x0, y0), (x1, y1) = self._points[i], self._points[j]
        return (x1 - x0) / gap, (y1 - y0) / gap

    @property
    def length(self) -> float:
        """Length along the chords, m."""
        return self._at[-1]

    def at(self, way: float) -> Point:
        """Return x, y at `way` (m along the chords); straight on beyond the ends."""
        n = len(self._points)
        if n == 1:
            return self._points[0]
        k = min(max(sum(a <= way for a in self._at) - 1, 0), n - 2)
        gap = self._at[k + 1] - self._at[k]
        u = (way - self._at[k]) / gap
        if not 0.0 <= u <= 1.0:
            end = 0 if u < 0.0 else n - 1
            beyond = way - self._at[end]
            (x, y), (tx, ty) = self._points[end], self._tangents[end]
            return x + beyond * tx, y + beyond * ty
        a, b = (1.0 + 2.0 * u) * (1.0 - u) ** 2, u * u * (3.0 - 2.0 * u)
        c, d = gap * u * (1.0 - u) ** 2, gap * u * u * (u - 1.0)
        (x0, y0), (x1, y1) = self._points[k], self._points[k + 1]
        (s0, t0), (s1, t1) = self._tangents[k], self._tangents[k + 1]
        return a * x0 + b * x1 + c * s0 + d * s1, a * y0 + b * y1 + c * t0 + d * t1

    def nearest(self, x: float, y: float) -> float:
        """Return m along the chords of the place on them that is nearest to (x, y)."""
        best, way = math.inf, 0.0
        for k, ((x0, y0), (x1, y1)) in enumerate(pairwise(self._points)):
            gap = self._at[k + 1] - self._at[k]
            u = min(max(((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / gap**2, 0.0), 1.0)
            away = math.hypot(x0 + u * (x1 - x0) - x, y0 + u * (y1 - y0) - y)
            if away < best:
                best, way = away, self._at[k] + u * gap
        return way

    def bends(self) -> list[tuple[float, float]]:
        """Return m along the chords and curvature (1/m, positive to the left) at each point but the ends."""
        found = []
        for k in range(1, len(self._points) - 1):
            a, b, c = self._points[k - 1 : k + 2]
            twice = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
            sides = math.dist(a, b) * math.dist(b, c) * math.dist(a, c)
            found.append((self._at[k], 2.0 * twice / sides if sides else 0.0))
        return found


def curvature_to(x: float, y: float, yaw: float, aim: Point) -> float:
    """Return the curvature (1/m, positive to the left) of the arc from a car at x, y, yaw to a point (pure pursuit).

    Coulter, "Implementation of the pure pursuit path tracking algorithm", CMU-RI-TR-92-01, 1992.
    """
    dx, dy = aim[0] - x, aim[1] - y
    square = dx * dx + dy * dy
    return 2.0 * (dy * math.cos(yaw) - dx * math.sin(yaw)) / square if square else 0.0


def speed_for(bends: Sequence[tuple[float, float]], here: float, sideways: float, braking: float) -> float:
    """Return the speed (m/s) at `here` from which every bend ahead can still be braked for.

    Args:
        bends: as `Line.bends` returns.
        here: m along the same line.
        sideways: m/s^2 that bends may take.
        braking: m/s^2.
    """
    least = math.inf
    for at, bend in bends:
        square = sideways / max(abs(bend), 1e-9)
        least = min(least, math.sqrt(square + 2.0 * braking * max(at - here, 0.0)))
    return least
