"""Plane geometry for making roads: splines through points, crossings, moving averages."""

import math

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array
from trailbrake.kernels import jit

Plane = NDArray[np.complex128]  # points of the ground plane as x + iy

_SWEEPS = 60  # each at least halves the error of the slopes: after 60 it is below rounding


def chord_gaps(points: Plane, drift: complex = 0j) -> Array:
    """Return the distance (n,) from each point to the next, and from the last to the first plus `drift` (m)."""
    # With Python's complex numbers: sums of NumPy's scalars end the process under wine, where we test for Windows.
    lengths: Array = np.abs(np.append(points[1:], complex(points[0]) + drift) - points)
    return lengths


def chord_lengths(points: Plane, drift: complex = 0j) -> Array:
    """Return the distance (n + 1,) along the closed polygon through `points` (n,), from 0 to its length, m.

    With a `drift` the polygon ends at the first point plus `drift`.
    """
    return np.concatenate([[0.0], np.cumsum(chord_gaps(points, drift))])


def spline_slopes(knots: Array, values: Plane) -> Plane:
    """Return the slopes (n,) at the knots of the periodic cubic spline through `values` (n,) at `knots` (n + 1,).

    The tridiagonal system of a C2 spline is diagonally dominant by a factor of two, so plain sweeps converge.
    """
    step = np.diff(knots)
    before = np.roll(step, 1)
    secant = (np.roll(values, -1) - values) / step
    right = 3.0 * (before * secant + step * np.roll(secant, 1))
    slope = secant.astype(np.complex128)
    for _ in range(_SWEEPS):
        slope = (right - step * np.roll(slope, 1) - before * np.roll(slope, -1)) / (2.0 * (step + before))
    return slope


def hermite_curve(knots: Array, values: Plane, slopes: Plane, at: Array) -> Plane:
    """Return the periodic cubic Hermite curve through `values` with `slopes` (n,) at `knots` (n + 1,), at `at`."""
    i = np.clip(np.searchsorted(knots, at, side="right") - 1, 0, len(values) - 1)
    j = (i + 1) % len(values)
    step = knots[i + 1] - knots[i]
    u = (at - knots[i]) / step
    v = 1.0 - u
    ends = (1.0 + 2.0 * u) * v * v * values[i] + u * u * (3.0 - 2.0 * u) * values[j]
    result: Plane = ends + u * v * step * (v * slopes[i] - u * slopes[j])
    return result


def menger_curvature(points: Plane) -> Array:
    """Return the curvature (n,), 1/m, of the circle through each point of a closed polygon and its neighbours."""
    before, after = points - np.roll(points, 1), np.roll(points, -1) - points
    across = before + after
    product = np.abs(before) * np.abs(after) * np.abs(across)
    result: Array = 2.0 * (np.conj(before) * after).imag / np.maximum(product, 1e-12)
    return result


def cosine_average(values: Array, window: float, spacing: float, closed: bool) -> Array:
    """Return `values` (n,) averaged under a raised cosine of width `window` (m), so that steps become ramps."""
    half = int(min(0.5 * window / spacing, (len(values) - 1) // 2))
    if half < 1 or np.ptp(values) == 0.0:
        return values
    weights = np.hanning(2 * half + 3)[1:-1]
    padded = np.pad(values, half, mode="wrap" if closed else "edge")
    return np.convolve(padded, weights / weights.sum(), mode="valid")


@jit
def first_crossing(x: Array, y: Array, closed: bool, longest: float) -> tuple[int, int]:
    """Return the first pair of segments i < j of a polygon that cross or touch, or (-1, -1).

    Args:
        x: (n,) m. Segment k runs from point k to the next, for a closed polygon the last one to point 0.
        y: (n,) m.
        closed: whether the polygon is closed.
        longest: m, at least the length of every segment: the search skips segments too close along the line to reach
            across.
    """
    n = x.shape[0]
    segments = n if closed else n - 1
    for i in range(segments):
        ax, ay = x[i], y[i]
        bx, by = x[(i + 1) % n], y[(i + 1) % n]
        j = i + 2
        while j < segments:
            if closed and i == 0 and j == segments - 1:
                break
            cx, cy = x[j], y[j]
            gap = math.sqrt((cx - ax) ** 2 + (cy - ay) ** 2) - 2.0 * longest
            if gap > longest:
                j += int(gap / longest)
                continue
            dx, dy = x[(j + 1) % n], y[(j + 1) % n]
            c = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
            d = (bx - ax) * (dy - ay) - (by - ay) * (dx - ax)
            a = (dx - cx) * (ay - cy) - (dy - cy) * (ax - cx)
            b = (dx - cx) * (by - cy) - (dy - cy) * (bx - cx)
            apart = max(ax, bx) < min(cx, dx) or max(cx, dx) < min(ax, bx)
            apart = apart or max(ay, by) < min(cy, dy) or max(cy, dy) < min(ay, by)
            if not apart and c * d <= 0.0 and a * b <= 0.0:
                return i, j
            j += 1
    return -1, -1


_ORIGIN_STEP = math.radians(0.1)  # rad between the origins of planes
_EQUATOR, _FLATTENING = 6_378_137.0, 1.0 / 298.257223563  # m, of WGS 84


def choose_origin(latitude: Array, longitude: Array) -> tuple[float, float]:
    """Return the origin of the plane for places (rad): the tenth of a degree nearest to their middle.

    So files of one place have the same plane, wherever they begin.
    """
    middle = float(np.median(latitude)), float(np.median(longitude))
    return round(middle[0] / _ORIGIN_STEP) * _ORIGIN_STEP, round(middle[1] / _ORIGIN_STEP) * _ORIGIN_STEP


def project_places(latitude: Array, longitude: Array, origin: tuple[float, float]) -> tuple[Array, Array]:
    """Return x and y, m east and north of `origin`, of places on the WGS 84 ellipsoid.

    A transverse Mercator projection whose central meridian goes through the origin: within 50 km of it, distances and
    angles are right to 1e-4 (J. P. Snyder, Map Projections: A Working Manual, 1987, equations 3-21 and 8-9 to 8-13).

    Args:
        latitude: (n,) rad.
        longitude: (n,) rad.
        origin: latitude and longitude, rad.
    """
    square = _FLATTENING * (2.0 - _FLATTENING)
    fourth = square * square

    def meridian(angle: Array) -> Array:
        """Return the distance from the equator, m."""
        return _EQUATOR * ((1.0 - square / 4.0 - 3.0 * fourth / 64.0) * angle
                           - (3.0 * square / 8.0 + 3.0 * fourth / 32.0) * np.sin(2.0 * angle)
                           + 15.0 * fourth / 256.0 * np.sin(4.0 * angle))  # fmt: skip

    cosine, tangent = np.cos(latitude), np.tan(latitude)
    radius = _EQUATOR / np.sqrt(1.0 - square * np.sin(latitude) ** 2)
    # Over the date line too.
    arc = ((longitude - origin[1] + math.pi) % (2.0 * math.pi) - math.pi) * cosine
    bulge = square / (1.0 - square) * cosine**2
    x = radius * arc * (1.0 + arc**2 / 6.0 * (1.0 - tangent**2 + bulge))
    return x, meridian(latitude) - meridian(np.array(origin[0])) + radius * tangent * arc**2 / 2.0
