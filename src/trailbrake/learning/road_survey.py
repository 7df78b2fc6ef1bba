"""A road from a slow drive along it: positions, and the place across the road where the simulator supplies it.

With the offset y = h e of the car, e its place across (1 at the left edge) and h half the road's width, the curvature
of the path changes by y''' more than the road's does. A road changes its own in some places only, at the ends of its
bends: so h is the median of the ratios, weighted by e''', wherever a car weaves. The centreline is the path less h e,
smoothed by local cubics, which leave clothoids as they are (Savitzky and Golay, Smoothing and differentiation of data,
Analytical Chemistry 36, 1964).
"""

import itertools
import math
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array
from trailbrake.driving.goals import MIN_ALIGNMENT
from trailbrake.errors import DataError
from trailbrake.planning.spline import resample_path
from trailbrake.tracks.road import Road
from trailbrake.tracks.road_columns import RoadColumn

ComplexPath = NDArray[np.complex128]
Mask = NDArray[np.bool_]
Numbers = TypeVar("Numbers", Array, ComplexPath)

PATH_STEP = 0.5  # m between the points that the path is resampled to
KNOT_INTERVAL = 6  # points from one knot of the centreline's spline to the next
ROW_SPACING = 1.5  # m between the road's rows
SMOOTHING = 12.0  # m, half the window of the local cubics for the centreline ...
HEIGHT_SMOOTHING = 20.0  # m, ... and for its height
WINDOW_WAVES = 4.0  # waves in a window in which the width is found ...
USUAL_WEIGHT = 0.2  # ... in which the width of the whole road counts as much as this share of it
WAVE_SMOOTHING = 0.25  # waves, half the window of the local cubics for changes of curvature
MIN_WEAVE = 0.02  # half roads: a smaller weave is no measure of the width
HALF_WIDTH_LIMITS = (1.5, 15.0)  # m, half widths that a road may have
MIN_LENGTH = 100.0  # m, shortest road
CLOSING_DISTANCE = 15.0  # m from a place that was driven, below which the car is back there
COARSE_STEP = 5.0  # m between the points by which rounds are found
MAX_STEP_UP = 4.0  # m between their heights: a bridge is another place
MAX_DETOUR = 200.0  # m of all later rounds that may lie beside the first one
ALIGNMENTS = 4
JOINING_LENGTH = 100.0  # m to either side of a circuit's ends over which they are brought together
EDGE_WINDOW = 20.0  # m of road over which the outermost place of all drives is an edge
MOST_BESIDE = 8.0  # m from the middle of a road at which a car is still on it, and not in the pits


@dataclass(frozen=True)
class SurveyedRoad:
    """The result of a survey.

    Attributes:
        road: the road.
        known_share: share of its length over which the width could be estimated.
        half_width: m, median of the estimates, or the given one.
    """

    road: Road
    known_share: float
    half_width: float


def survey_road(
    x: Array, y: Array, z: Array, place: Array, *, width: float, wave: float, runoff: float = 2.5
) -> SurveyedRoad:
    """Return the road along a drive: of a circuit one round, the mean of all whole rounds.

    What was driven before the car was first on its circuit is left out.

    Args:
        x: (n,) m, world, in driving order.
        y: (n,) m, world.
        z: (n,) m, world, height of the car above or below the road, always the same.
        place: (n,) place across the road, 1 at the left edge, -1 at the right; NaN or constant where not known.
        width: m, edge to edge, used where `place` does not weave.
        wave: m, the length of one weave of the drive.
        runoff: m beyond the edges to a possible wall: unknown, so little is assumed.

    Raises:
        DataError: too short a drive, one that stands or jumps, or rounds of different roads.
    """
    path, height, across = _resample_drive(x, y, z, place)
    rounds = _find_rounds(path, height)
    closed = bool(rounds)
    if closed:
        first, last = rounds[0].start, rounds[-1].stop
        path, height, across = path[first:last], height[first:last], across[first:last]
        rounds = [slice(each.start - first, each.stop - first) for each in rounds]
    known = np.where(np.isfinite(across), across, 0.0)
    half, live = estimate_half_widths(path, known, wave, closed=closed)
    usual = float(np.median(half[live])) if live.any() else 0.5 * width
    half = smooth_polynomial(np.where(live, half, usual), wave, 1)
    centre = _find_centre(path, np.where(live, known * half, 0.0))
    if len(rounds) > 1:
        centre, height, half = _average_rounds(centre, height, half, rounds)
    if closed:
        centre = _join_ends(centre)
    centre, height = (
        smooth_polynomial(smooth_polynomial(centre, SMOOTHING, 3), SMOOTHING, 3),
        smooth_polynomial(height, HEIGHT_SMOOTHING, 2),
    )
    knots = centre[::KNOT_INTERVAL]
    px, py, yaw, curvature, spacing = resample_path(knots.real.copy(), knots.imag.copy(), closed, ROW_SPACING)
    rise, edge = sample_rows(np.column_stack([height, half]), centre, (len(px), spacing), closed=closed).T
    road = Road.from_columns(
        spacing, closed, px, py, yaw, curvature, z=rise, grade=find_grade(rise, spacing, closed=closed),
        width_left=edge, width_right=edge, runoff_left=runoff, runoff_right=runoff,
    )  # fmt: skip
    return SurveyedRoad(road, float(live.mean()), usual)


def sample_rows(values: Array, centre: ComplexPath, rows: tuple[int, float], *, closed: bool) -> Array:
    """Return `values` (n, k) at points (n,) of a path as (rows, k) at the rows of its road: their number and m apart.

    The way from the last point of a circuit to the first is a straight slope.
    """
    s = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(centre)))])
    period = float(s[-1] + abs(centre[0] - centre[-1])) if closed else None
    at = np.arange(rows[0]) * rows[1]
    return np.column_stack([np.interp(at, s, column, period=period) for column in values.T])


def find_grade(rise: Array, spacing: float, *, closed: bool) -> Array:
    """Return the slopes of heights (m) `spacing` m apart."""
    return np.gradient(np.pad(rise, 1, mode="wrap"), spacing)[1:-1] if closed else np.gradient(rise, spacing)


def widen_to_places(road: Road, places: Array, half_car: float) -> float:
    """Move the edges of a road outward to where cars have been, and return the share of its length that is wider.

    Args:
        road: whose table is changed.
        places: (n, 2) m, world, x and y of cars on it; those further from its middle than MOST_BESIDE were beside it.
        half_car: m from the middle of a car to the outer side of its wheels.
    """
    found = road.locate_many(places[np.isfinite(places).all(axis=1)])
    beside = np.abs(found[:, 1]) <= MOST_BESIDE
    rows = np.clip((found[beside, 0] / road.spacing).astype(int), 0, len(road.table) - 1)
    reach = int(0.5 * EDGE_WINDOW / road.spacing)
    wider = np.zeros(len(road.table), np.bool_)
    for column, sign in ((RoadColumn.WIDTH_LEFT, 1.0), (RoadColumn.WIDTH_RIGHT, -1.0)):
        edge = np.zeros(len(road.table))
        np.maximum.at(edge, rows, sign * found[beside, 1] + half_car)
        padded = np.pad(edge, 2 * reach, mode="wrap" if road.closed else "edge")
        largest = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1).max(axis=1)
        smooth = np.convolve(largest, np.full(2 * reach + 1, 1.0 / (2 * reach + 1)), "valid")
        wider |= smooth > road.column(column)
        road.table[:, column] = np.maximum(road.column(column), smooth)
    return float(wider.mean())


def _resample_drive(x: Array, y: Array, z: Array, place: Array) -> tuple[ComplexPath, Array, Array]:
    """Return position (complex), height and place at points STEP apart along the path."""
    good = np.isfinite(x) & np.isfinite(y) & np.isfinite(z)
    points = (x + 1j * y)[good]
    moved = np.abs(np.diff(points, prepend=points[:1]))
    if len(points) and moved.max() > CLOSING_DISTANCE:
        raise DataError(
            "the drive jumps", where="survey", expected="one drive along a road", got=f"{moved.max():.0f} m"
        )
    keep = moved > 0.01
    if len(keep):
        keep[0] = True
    points, height, across = points[keep], z[good][keep], place[good][keep]
    s = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(points)))]) if len(points) else np.zeros(1)
    if s[-1] < MIN_LENGTH:
        raise DataError(
            "too short a drive for a map", where="survey", expected=f"{MIN_LENGTH:g} m", got=f"{s[-1]:.0f} m"
        )
    at = np.arange(0.0, s[-1], PATH_STEP)
    path: ComplexPath = np.interp(at, s, points.real) + 1j * np.interp(at, s, points.imag)
    return path, np.interp(at, s, height), np.interp(at, s, across)


def _find_rounds(path: ComplexPath, height: Array) -> list[slice]:
    """Return the whole rounds of a circuit in a drive, the first one without its end that was driven twice.

    A round ends where the car is back at a place, in the same direction and at the same height. None: an open road.

    Raises:
        DataError: what was driven after the first round is another road.
    """
    step = int(COARSE_STEP / PATH_STEP)
    coarse, level = path[::step], height[::step]
    course = _unit_tangent(coarse)
    least = int(MIN_LENGTH / COARSE_STEP)

    def find_return(start: int, since: int) -> int:
        """Return the index of the path at which the car is back at the coarse point `start`; -1: nowhere."""
        near = np.abs(coarse[since:] - coarse[start]) < CLOSING_DISTANCE
        near &= (course[since:] * np.conj(course[start])).real > MIN_ALIGNMENT
        near &= ~(np.abs(level[since:] - level[start]) > MAX_STEP_UP)
        if not near.any():
            return -1
        middle = (since + int(np.argmax(near))) * step
        reach = slice(max(middle - step, 0), middle + int(3.0 * CLOSING_DISTANCE / PATH_STEP))
        return reach.start + int(np.argmin(np.abs(path[reach] - coarse[start])))

    begin = next((k for k in range(len(coarse) - least) if find_return(k, k + least) >= 0), None)
    if begin is None:
        return []
    if (
        begin and find_return(begin + least, begin + 2 * least) >= 0
    ):  # there the car is on the circuit, no more beside it
        begin += least
    ends = [find_return(begin, begin + least) + 1]
    base, length = coarse[begin : ends[0] // step], ends[0] - begin * step
    later = coarse[-(-ends[0] // step) :]
    away = np.array([np.abs(base - point).min() for point in later])
    if (away > CLOSING_DISTANCE).sum() * COARSE_STEP > MAX_DETOUR:
        raise DataError("the rounds are not of one road", where="survey", expected=f"{length * PATH_STEP:.0f} m each",
                        got=f"{away.max():.0f} m beside it", hint="record one layout")  # fmt: skip
    while (end := find_return(begin, (ends[-1] + int(0.7 * length)) // step)) >= 0:
        ends.append(end + 1)
    twice = int(CLOSING_DISTANCE / PATH_STEP)
    return [slice(begin * step, ends[0] - twice), *(slice(a, b) for a, b in itertools.pairwise(ends))]


def _average_rounds(
    centre: ComplexPath, height: Array, half: Array, rounds: list[slice]
) -> tuple[ComplexPath, Array, Array]:
    """Return centre, height and half width at the points of the first round: means of those beside them."""
    base = centre[rounds[0]]
    across = np.conj(_unit_tangent(base))
    columns = np.stack([centre.real, centre.imag, height, half])
    total = columns[:, rounds[0]].copy()
    for each in rounds[1:]:
        index = np.arange(each.start, each.stop)
        at = np.linspace(each.start, each.stop - 1, len(base))
        for _ in range(ALIGNMENTS):  # until the points lie across from those of the first round
            x, y = (np.interp(at, index, columns[axis, each]) for axis in (0, 1))
            at = at - ((x + 1j * y - base) * across).real / PATH_STEP
        total += [np.interp(at, index, values) for values in columns[:, each]]
    total /= len(rounds)
    return total[0] + 1j * total[1], total[2], total[3]


def _join_ends(centre: ComplexPath) -> ComplexPath:
    """Return a circuit's centre that leads on into its begin: the car was further to one side there than at the end.

    The chord over the way that is left out makes equal angles with both ends, of an arc too; half of the difference is
    how far they miss each other.
    """
    tangent = _unit_tangent(smooth_polynomial(centre, SMOOTHING, 3))
    chord = centre[0] - centre[-1]
    aside = 0.5 * abs(chord) * float(np.angle(chord / tangent[-1]) - np.angle(tangent[0] / chord))
    reach = min(int(JOINING_LENGTH / PATH_STEP), len(centre) // 4)
    shift = 0.25j * aside * (1.0 + np.cos(np.linspace(0.0, math.pi, reach)))
    joined = centre.copy()
    joined[:reach] -= shift * tangent[:reach]
    joined[-reach:] += shift[::-1] * tangent[-reach:]
    return joined


def estimate_half_widths(path: ComplexPath, place: Array, wave: float, *, closed: bool) -> tuple[Array, Mask]:
    """Return half the road's width (m) along a weaving path, (n,), and where it is known.

    Args:
        path: (n,) x + iy, points PATH_STEP apart.
        place: (n,) place across the road.
        wave: m, length of one weave.
        closed: whether the path's end leads on into its begin.
    """
    short, reach = WAVE_SMOOTHING * wave, int(0.5 * WINDOW_WAVES * wave / PATH_STEP)
    at = np.arange(0, len(path), max(int(0.25 * wave / PATH_STEP), 1))

    def change_curvature(heading: Array) -> Array:
        return np.gradient(smooth_polynomial(np.gradient(heading, PATH_STEP), 0.5 * short, 2), PATH_STEP)

    def cut_windows(values: Array) -> Array:
        padded = np.pad(values, reach, mode="wrap") if closed else np.pad(values, reach)
        return np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1)[at]

    weight = change_curvature(np.gradient(smooth_polynomial(place, short, 3), PATH_STEP))
    weights = cut_windows(np.abs(weight))
    half = np.zeros(len(path))
    for turn in range(3):  # the direction across is that of the centreline; the first finds one width of all
        centre = smooth_polynomial(_find_centre(path, half * place), short, 3)
        missing = change_curvature(np.unwrap(np.angle(_unit_tangent(centre))))
        ratio = np.divide(missing, weight, out=np.zeros_like(weight), where=weight != 0.0)
        more = np.full(len(at), _find_median(ratio[None], np.abs(weight)[None])[0])
        if turn:
            usual = np.full(len(at), USUAL_WEIGHT * float(weights.sum(axis=1).mean()))
            more = _find_median(np.column_stack([cut_windows(ratio), more]), np.column_stack([weights, usual]))
        half = half + smooth_polynomial(np.interp(np.arange(len(path)), at, more), wave, 1)
        half = np.clip(half, *HALF_WIDTH_LIMITS)
    least = MIN_WEAVE * (2.0 * math.pi / wave) ** 3 * 2.0 / math.pi  # mean of e''' of such a weave
    live = np.interp(np.arange(len(path)), at, weights.mean(axis=1)) > least
    return half, live & (half > HALF_WIDTH_LIMITS[0]) & (half < HALF_WIDTH_LIMITS[1])


def _find_median(values: Array, weights: Array) -> Array:
    """Return the weighted medians (n,) of the rows of `values` (n, k)."""
    order = np.argsort(values, axis=1)
    total = np.cumsum(np.take_along_axis(weights, order, axis=1), axis=1)
    middle = np.argmax(total >= 0.5 * total[:, -1:], axis=1)
    return np.asarray(values[np.arange(len(values)), order[np.arange(len(values)), middle]])


def _find_centre(path: ComplexPath, offset: Array) -> ComplexPath:
    """Return the centreline of a path that is `offset` (n,) m to the left of it, at right angles to the centreline."""
    centre = path
    for _ in range(3):
        centre = path - 1j * offset * _unit_tangent(smooth_polynomial(centre, SMOOTHING, 3))
    return centre


def _unit_tangent(path: ComplexPath) -> ComplexPath:
    slope = np.gradient(path)
    unit: ComplexPath = slope / np.maximum(np.abs(slope), 1e-9)
    return unit


def smooth_polynomial(values: Numbers, half: float, order: int) -> Numbers:
    """Return `values` smoothed by local polynomials of `order` over windows of 2 `half` (m)."""
    reach = int(half / PATH_STEP)
    if reach < order or len(values) <= 2 * reach + 1:
        return values
    t = np.arange(-reach, reach + 1) / reach
    basis = np.vander(t, order + 1, increasing=True)
    projector = basis @ np.linalg.pinv(basis)  # row k: the fitted value at the window's point k
    inner = np.convolve(values, projector[reach][::-1], mode="valid")
    first, last = projector[:reach] @ values[: 2 * reach + 1], projector[reach + 1 :] @ values[-2 * reach - 1 :]
    return np.concatenate([first, inner, last])
