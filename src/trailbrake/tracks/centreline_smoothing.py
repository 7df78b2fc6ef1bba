"""From measured points along a road to a smooth road: resampled, smoothed, with its edges left in place.

A periodic cubic spline joins the points. Sampled densely at equal steps, it is smoothed by a third-order Whittaker
smoother (E. T. Whittaker, On a new method of graduation, 1922; P. H. C. Eilers, A perfect smoother, 2003: least squares
plus a penalty on the third derivative). On a closed line that is exactly a filter 1 / (1 + (w f)^6) over spatial
frequency f: it passes features much longer than w, removes those much shorter, and adds no phase. w is the longest of
`_WAVELENGTHS` that leaves the road in place: smoothing the smoothed line again, which has no noise left, may move it by
`MAX_BIAS` at most. So a clean file hardly changes, and hairpins keep their apex.

An open road is half of a periodic line; the other half is its image, rotated by half a turn about its end.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array
from trailbrake.errors import DataError
from trailbrake.tracks.geometry import (
    Plane,
    chord_gaps,
    chord_lengths,
    first_crossing,
    hermite_curve,
    menger_curvature,
    spline_slopes,
)
from trailbrake.tracks.kerbs import add_kerbs
from trailbrake.tracks.road import Road, RoadColumn
from trailbrake.tracks.track import CurvatureReport

SPACING = 1.5  # m between rows of the road
MAX_BIAS = 0.12  # m, the most that smoothing may move a line without noise
MIN_RADIUS = 3.0  # m, of the smoothed centreline; the smallest cars need about 4
_DENSE = 0.5  # m between samples of the filtered line
_WAVELENGTHS = (60.0, 50.0, 42.0, 35.0, 30.0, 26.0, 23.0, 20.0, 17.0, 15.0, 13.0, 11.0)  # m, w of the filter
MAX_SHIFT = 10.0  # m from a point of the file to the road's centreline: less than a road is wide
_MAX_EDGE_SHARE = 0.9  # the largest share of the distance to the centre of its bend at which an edge may lie


def _filter_spectrum(spectrum: Plane, frequency: Array) -> Plane:
    # The spectrum under the strongest filter that MAX_BIAS allows.
    for wavelength in _WAVELENGTHS:
        keep = 1.0 / (1.0 + (wavelength * frequency) ** 6)
        if np.abs(np.fft.ifft(spectrum * keep * (1.0 - keep))).max() <= MAX_BIAS:
            break
    result: Plane = spectrum * keep
    return result


class _LinePeriod(NamedTuple):
    """One period of a line.

    Attributes:
        points: (n,) along it.
        drift: from a point to the same point of the next period: 0 round a circuit.
        turns: full turns of its direction.
        parts: number of equal parts; a row lies at the start of each.
    """

    points: Plane
    drift: complex
    turns: int
    parts: int


class _SmoothedLine(NamedTuple):
    """The rows of a period at equal steps, and the dense line before smoothing."""

    spacing: float
    place: Plane
    yaw: Array
    curvature: Array
    raw: Plane


def _smooth_line(period: _LinePeriod, where: str) -> _SmoothedLine:
    # A drift along a straight line passes every filter unchanged: it is taken off the line and added again behind.
    points, drift, turns, parts = period
    knots = chord_lengths(points, drift)
    count = parts * max(64, round(knots[-1] / (parts * _DENSE)))
    waves = points - drift * (knots[:-1] / knots[-1])
    slopes = spline_slopes(knots, waves)
    at = np.linspace(0.0, knots[-1], count + 1)
    raw = hermite_curve(knots, waves, slopes, at[:-1]) + drift * (at[:-1] / knots[-1])
    along = chord_lengths(raw, drift)  # again, with the arcs between the points
    even = np.interp(np.linspace(0.0, along[-1], count, endpoint=False), along, at)
    raw = hermite_curve(knots, waves, slopes, even) + drift * (even / knots[-1])
    frequency = np.fft.fftfreq(count, along[-1] / count)
    drifted = drift * (np.arange(count) / count)
    spectrum = _filter_spectrum(np.fft.fft(raw - drifted), frequency)
    turn = 2j * np.pi * frequency
    line, first, second = np.fft.ifft(spectrum), np.fft.ifft(spectrum * turn), np.fft.ifft(spectrum * turn**2)
    line, first = line + drifted, first + drift / along[-1]
    speed = np.abs(first)
    yaw = np.unwrap(np.angle(np.append(first, first[0])))
    if speed.min() < 0.2 or abs(abs(yaw[-1] - yaw[0]) - 2.0 * np.pi * turns) > 0.1:
        wanted = "one simple loop" if turns else "a road that leads on"
        raise DataError("the centreline folds back on itself", where=where, expected=wanted)
    curvature = (np.conj(first) * second).imag / speed**3
    k = int(np.abs(curvature).argmax())
    if abs(curvature[k]) * MIN_RADIUS > 1.0:
        got = f"{1.0 / abs(curvature[k]):.1f} m at about x {line[k].real:.1f}, y {line[k].imag:.1f}"
        raise DataError("a bend too tight for a car", where=where, expected=f"radius >= {MIN_RADIUS:g} m", got=got)
    bend = (curvature * (along[-1] / count)) ** 2
    arc = np.concatenate([[0.0], np.cumsum(chord_gaps(line, drift) * (1.0 + bend / 24.0))])  # chord to arc
    rows = parts * max(32, round(arc[-1] / (parts * SPACING)))
    s = np.arange(rows) * (arc[-1] / rows)
    waves, slopes = line - drift * (arc[:-1] / arc[-1]), first / speed - drift / arc[-1]
    place = hermite_curve(arc, waves, slopes, s) + drift * (s / arc[-1])
    turning = np.append(curvature, curvature[0])
    return _SmoothedLine(arc[-1] / rows, place, np.interp(s, arc, yaw), np.interp(s, arc, turning), raw)


def _root_mean_square(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))


class MeasuredLine(NamedTuple):
    """Points along a road, in driving order.

    Attributes:
        x, y: (n,) m, world.
        right, left: (n,) m from the point to the right and to the left edge.
    """

    x: Array
    y: Array
    right: Array
    left: Array


def smooth_circuit(measured: MeasuredLine, runoff: float, where: str = "track") -> tuple[Road, CurvatureReport]:
    """Return a closed road through points round a loop, and what smoothing changed.

    Args:
        measured: the points.
        runoff: m from either edge to the wall.
        where: names the file in errors.

    Returns:
        The road, with s = 0 beside the first point, and the report. Widths are those of the points minus the sideways
        shift of the centreline, so that the edges stay in place.

    Raises:
        DataError: the smoothed line is not one simple loop, bends tighter than any car can, or is far from the points.
    """
    x, y, right, left = measured
    period = _LinePeriod(x + 1j * y, 0j, turns=1, parts=1)
    line, knots = _smooth_line(period, where), chord_lengths(period.points)
    road = _road_from_line(line, True, runoff)
    share = np.linspace(0.0, knots[-1], len(line.raw), endpoint=False)
    folded = _set_edges(
        road, line.raw, *(np.interp(share, knots, np.append(width, width[0])) for width in (left, right))
    )  # fmt: skip
    add_kerbs(road)
    before = menger_curvature(period.points)
    report = _curvature_report(road, period.points, np.append(before, before[0]), np.diff(knots), folded)
    _check_shift(report, where)
    return road, report


def smooth_open_road(measured: MeasuredLine, runoff: float, where: str = "track") -> tuple[Road, CurvatureReport]:
    """Return an open road through points, and what smoothing changed; arguments and result as of `smooth_circuit`.

    The road begins at the first point, ends at the last and is straight at both, since the other half of the periodic
    line is its image there.

    Raises:
        DataError: as `smooth_circuit`; or the road crosses itself.
    """
    x, y, right, left = measured
    points = x + 1j * y
    first, last = complex(points[0]), complex(points[-1])  # Python's own, as in `chords`
    there_and_on = np.append(points, 2.0 * last - points[-2:0:-1])
    period = _LinePeriod(there_and_on, 2.0 * (last - first), turns=0, parts=2)
    whole = _smooth_line(period, where)
    half = len(whole.place) // 2 + 1
    line = _SmoothedLine(whole.spacing, whole.place[:half], whole.yaw[:half], whole.curvature[:half],
                 whole.raw[: len(whole.raw) // 2 + 1])  # fmt: skip
    i, j = first_crossing(line.place.real.copy(), line.place.imag.copy(), False, 1.001 * line.spacing)
    if i >= 0:
        got = f"s = {i * line.spacing:.0f} m and s = {j * line.spacing:.0f} m"
        raise DataError("the road crosses itself", where=where, expected="a road without bridges", got=got)
    road, knots = _road_from_line(line, False, runoff), chord_lengths(points)[:-1]
    share = np.linspace(0.0, knots[-1], len(line.raw))
    folded = _set_edges(road, line.raw, *(np.interp(share, knots, width) for width in (left, right)))
    before = menger_curvature(points)[1:-1]
    report = _curvature_report(road, points, before, np.diff(knots[1:-1]), folded)
    _check_shift(report, where)
    return road, report


def _road_from_line(line: _SmoothedLine, closed: bool, runoff: float) -> Road:
    return Road.from_columns(
        line.spacing, closed, line.place.real, line.place.imag, line.yaw, line.curvature, runoff_left=runoff,
        runoff_right=runoff,
    )  # fmt: skip


def _set_edges(road: Road, raw: Plane, left: Array, right: Array) -> int:
    # Put the road's edges `left` and `right` (n,) m from the line `raw` (n,); return the number of rows where one
    # folded.
    found = road.locate_many(np.column_stack([raw.real, raw.imag]), 0)
    order = np.argsort(found[:, 0], kind="stable")
    s, stations, curvature = found[order, 0], road.stations(), road.column(RoadColumn.CURVATURE)
    folded: NDArray[np.bool_] = np.zeros(len(stations), np.bool_)
    for column, width, side in ((RoadColumn.WIDTH_LEFT, left, 1.0), (RoadColumn.WIDTH_RIGHT, right, -1.0)):
        edge = (width + side * found[:, 1])[order]
        edge = np.interp(stations, s, edge, period=road.length if road.closed else None)
        limit = _MAX_EDGE_SHARE / np.maximum(side * curvature, 1e-9)
        folded |= edge > limit
        road.table[:, column] = np.clip(edge, 0.0, limit)
    return int(folded.sum())


def _curvature_report(road: Road, points: Plane, before: Array, gaps: Array, folded: int) -> CurvatureReport:
    # `before`: curvature of the points, `gaps` m apart; for a circuit with the first one again at the end.
    shift = road.locate_many(np.column_stack([points.real, points.imag]), 0)[:, 1]
    after = road.column(RoadColumn.CURVATURE)
    around = np.append(after, after[0]) if road.closed else after
    return CurvatureReport(
        points=len(points),
        max_shift=float(np.abs(shift).max()),
        rms_shift=_root_mean_square(shift),
        max_curvature_before=float(np.abs(before).max()),
        max_curvature_after=float(np.abs(after).max()),
        roughness_before=_root_mean_square(np.diff(before) / gaps),
        roughness_after=_root_mean_square(np.diff(around) / road.spacing),
        folded=folded,
    )


def _check_shift(report: CurvatureReport, where: str) -> None:
    if report.max_shift > MAX_SHIFT:
        raise DataError(
            "the points are no line that a road can follow", where=where,
            expected=f"a smooth line within {MAX_SHIFT:g} m of every point", got=f"{report.max_shift:.1f} m off",
            hint="are the points in order, and close enough together where the road bends?",
        )  # fmt: skip
