"""From noisy points round a circuit to a road that can be driven: resampled, smoothed, its edges left in place.

The points are joined by a periodic cubic spline, sampled densely at equal steps, and smoothed by a third-order
Whittaker smoother (E. T. Whittaker, On a new method of graduation, 1922; P. H. C. Eilers, A perfect smoother, 2003:
least squares plus a penalty on the third derivative). On a closed line it is exactly a filter 1 / (1 + (w f)^6) over
spatial frequency f: features much longer than w pass untouched, those much shorter vanish, and no phase is added. w is
the longest of a ladder that leaves the road where it is: smoothing the smoothed line again, which has no noise left,
may move it by `BIAS` at most. So a clean file is hardly touched and hairpins keep their apex.
"""

import numpy as np
from numpy.typing import NDArray

from trailbrake.errors import DataError
from trailbrake.tracks.geometry import Array, Plane, chord_lengths, hermite, menger_curvature, spline_slopes
from trailbrake.tracks.kerbs import add_kerbs
from trailbrake.tracks.road import Column, Road
from trailbrake.tracks.track import CurvatureReport

SPACING = 1.5  # m between rows of the road
BIAS = 0.12  # m, how far smoothing may move a line that has no noise
MIN_RADIUS = 3.0  # m, of the smoothed centreline; the smallest cars turn within about 4
_DENSE = 0.5  # m between samples of the filtered line
_WAVELENGTHS = (60.0, 50.0, 42.0, 35.0, 30.0, 26.0, 23.0, 20.0, 17.0, 15.0, 13.0, 11.0)  # m, w of the filter
MOST_SHIFT = 10.0  # m from a point of the file to the road's centreline: less than a road is wide
_FOLD = 0.9  # an edge keeps this share of the way to the centre of its bend


def _choose(spectrum: Plane, frequency: Array) -> Plane:
    # The spectrum, filtered as hard as BIAS allows.
    for wavelength in _WAVELENGTHS:
        keep = 1.0 / (1.0 + (wavelength * frequency) ** 6)
        if np.abs(np.fft.ifft(spectrum * keep * (1.0 - keep))).max() <= BIAS:
            break
    result: Plane = spectrum * keep
    return result


def _line(points: Plane, where: str) -> tuple[float, Plane, Array, Array, Plane]:
    # Smooth a closed line. Returns spacing, the rows' points, yaw and curvature, and the dense unsmoothed line.
    knots = chord_lengths(points)
    count = max(64, round(knots[-1] / _DENSE))
    slopes = spline_slopes(knots, points)
    raw = hermite(knots, points, slopes, np.linspace(0.0, knots[-1], count, endpoint=False))
    along = chord_lengths(raw)  # again, now that the bulge between the points counts
    even = np.interp(np.linspace(0.0, along[-1], count, endpoint=False), along, np.linspace(0.0, knots[-1], count + 1))
    raw = hermite(knots, points, slopes, even)
    frequency = np.fft.fftfreq(count, along[-1] / count)
    spectrum = _choose(np.fft.fft(raw), frequency)
    turn = 2j * np.pi * frequency
    line, first, second = np.fft.ifft(spectrum), np.fft.ifft(spectrum * turn), np.fft.ifft(spectrum * turn**2)
    speed = np.abs(first)
    yaw = np.unwrap(np.angle(np.append(first, first[0])))
    if speed.min() < 0.2 or abs(abs(yaw[-1] - yaw[0]) - 2.0 * np.pi) > 0.1:
        raise DataError("the centreline folds back on itself", where=where, expected="one simple loop")
    curvature = (np.conj(first) * second).imag / speed**3
    k = int(np.abs(curvature).argmax())
    if abs(curvature[k]) * MIN_RADIUS > 1.0:
        got = f"{1.0 / abs(curvature[k]):.1f} m at about x {line[k].real:.1f}, y {line[k].imag:.1f}"
        raise DataError("a bend too tight for a car", where=where, expected=f"radius >= {MIN_RADIUS:g} m", got=got)
    step = along[-1] / count
    bend = (curvature * step) ** 2
    arc = np.concatenate([[0.0], np.cumsum(np.abs(np.roll(line, -1) - line) * (1.0 + bend / 24.0))])  # chord to arc
    rows = max(32, round(arc[-1] / SPACING))
    s = np.arange(rows) * (arc[-1] / rows)
    place = hermite(arc, line, first / speed, s)
    return arc[-1] / rows, place, np.interp(s, arc, yaw), np.interp(s, arc, np.append(curvature, curvature[0])), raw


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _roughness(curvature: Array, gaps: Array | float) -> float:
    return _rms((np.roll(curvature, -1) - curvature) / gaps)


def smooth(
    x: Array, y: Array, right: Array, left: Array, runoff: float, where: str = "track"
) -> tuple[Road, CurvatureReport]:
    """Make a closed road of points in driving order.

    Args:
        x: (n,) world X of the points, m. The road's x and y are these, unmoved but for the smoothing.
        y: (n,) world Y, m.
        right: (n,) distance from the point to the right edge, m.
        left: (n,) distance to the left edge, m.
        runoff: m from either edge to the wall.
        where: names the file in errors.

    Returns:
        The road, s = 0 beside the first point, and what smoothing did to it. Widths are those of the file less the
        sideways shift of the centreline, so the edges stay where the file has them.

    Raises:
        DataError: the smoothed line is not one simple loop, bends tighter than any car can, or is far from the points.
    """
    points = x + 1j * y
    spacing, place, yaw, curvature, raw = _line(points, where)
    road = Road.from_columns(
        spacing, True, place.real, place.imag, yaw, curvature,
        width_left=float(left.max()), width_right=float(right.max()), runoff_left=runoff, runoff_right=runoff,
    )  # fmt: skip
    knots = chord_lengths(points)
    share = np.linspace(0.0, knots[-1], len(raw), endpoint=False)
    found = road.locate_many(np.column_stack([raw.real, raw.imag]), 0)
    stations = road.stations()
    folded: NDArray[np.bool_] = np.zeros(len(stations), np.bool_)
    for column, width, side in ((Column.WIDTH_LEFT, left, 1.0), (Column.WIDTH_RIGHT, right, -1.0)):
        edge = np.interp(share, knots, np.append(width, width[0])) + side * found[:, 1]
        edge = np.interp(stations, found[:, 0], edge, period=road.length)
        limit = _FOLD / np.maximum(side * curvature, 1e-9)
        folded |= edge > limit
        road.table[:, column] = np.clip(edge, 0.0, limit)
    add_kerbs(road)
    shift = road.locate_many(np.column_stack([x, y]), 0)[:, 1]
    before = menger_curvature(points)
    report = CurvatureReport(
        points=len(x),
        max_shift=float(np.abs(shift).max()),
        rms_shift=_rms(shift),
        max_curvature_before=float(np.abs(before).max()),
        max_curvature_after=float(np.abs(curvature).max()),
        roughness_before=_roughness(before, np.diff(knots)),
        roughness_after=_roughness(curvature, spacing),
        folded=int(folded.sum()),
    )
    if report.max_shift > MOST_SHIFT:
        raise DataError(
            "the points are no line that a road can follow", where=where,
            expected=f"a smooth line within {MOST_SHIFT:g} m of every point", got=f"{report.max_shift:.1f} m off",
            hint="are the points in order, and close enough together where the road bends?",
        )  # fmt: skip
    return road, report
