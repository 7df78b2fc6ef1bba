"""From straights and arcs to a road: clothoids at the joints, circuits closed, heights and banking blended.

A clothoid is a ramp of curvature, linear in arc length. Centred on a joint between two segments it turns the road by
the same angle as the step that it replaces, so that the angles in the file stay exact and only positions change.
"""

import math

import numpy as np

from trailbrake.arrays import Array
from trailbrake.errors import DataError
from trailbrake.tracks.geometry import cosine_average, first_crossing
from trailbrake.tracks.kerbs import add_kerbs
from trailbrake.tracks.layout import LayoutSegment, TrackLayout
from trailbrake.tracks.road import Road
from trailbrake.tracks.track import NamedBend

_TRANSITION = 3.2  # m of clothoid per root metre of radius: 10 m at radius 10, 55 m at radius 300
_SHARE = 0.48  # of a segment's length, the most for the clothoid at either end
_SHORTEST = 10.0  # m, the least length of a straight after closing
_GAP = 1e-4  # m that may stay open: spread over the whole lap it is negligible
_GAUSS = ((-math.sqrt(0.6), 5.0 / 18.0), (0.0, 8.0 / 18.0), (math.sqrt(0.6), 5.0 / 18.0))
_STEP = 0.5  # m of each quadrature step; clothoids are so gentle that the error is below a micrometre


def _clothoid_lengths(layout: TrackLayout, lengths: list[float]) -> list[float]:
    # Length of the clothoid at the start of each segment, 0 where curvature does not change.
    ramps = [0.0] * len(lengths)
    for k in range(1, len(lengths)):
        before, after = layout.segments[k - 1], layout.segments[k]
        tightest = max(abs(before.curvature), abs(after.curvature))
        if before.curvature != after.curvature:
            wanted = after.transition or _TRANSITION / math.sqrt(tightest)
            ramps[k] = min(wanted, 2.0 * _SHARE * min(lengths[k - 1], lengths[k]))
    return ramps


def _curvature_profile(
    segments: list[LayoutSegment], lengths: list[float], ramps: list[float]
) -> tuple[Array, Array, Array]:
    # Curvature as a polyline over s: its knots (m), its values (1/m), and the change of heading (rad) up to each knot.
    s, knots, values = 0.0, [0.0], [segments[0].curvature]
    for k in range(1, len(segments)):
        s += lengths[k - 1]
        half = max(0.5 * ramps[k], 1e-6)
        knots += [s - half, s + half]
        values += [segments[k - 1].curvature, segments[k].curvature]
    knots.append(s + lengths[-1])
    values.append(segments[-1].curvature)
    knot, value = np.array(knots), np.array(values)
    turned = np.concatenate([[0.0], np.cumsum(0.5 * (value[1:] + value[:-1]) * np.diff(knot))])
    return knot, value, turned


def _heading_at(profile: tuple[Array, Array, Array], s: Array) -> Array:
    knot, value, turned = profile
    half_slope = 0.5 * (np.diff(value) / np.diff(knot))
    i = np.searchsorted(knot[1:-1], s, side="right")
    along = s - knot[i]
    heading: Array = turned[i] + along * (value[i] + half_slope[i] * along)
    return heading


def _integrate_points(profile: tuple[Array, Array, Array], s: Array) -> Array:
    # Points (n, 2) at the increasing stations s, from (0, 0) along +x: three-point Gauss quadrature over substeps.
    parts = max(1, math.ceil(float(np.diff(s).max()) / _STEP))
    fine = np.interp(np.arange((len(s) - 1) * parts + 1) / parts, np.arange(len(s)), s)
    half, middle = 0.5 * np.diff(fine), 0.5 * (fine[1:] + fine[:-1])
    steps = np.zeros((2, len(half)))
    for node, weight in _GAUSS:
        heading = _heading_at(profile, middle + node * half)
        share = weight * 2.0 * half
        steps[0] += share * np.cos(heading)
        steps[1] += share * np.sin(heading)
    places = np.zeros((len(s), 2))
    places[1:] = np.cumsum(steps, axis=1)[:, parts - 1 :: parts].T
    return places


def _close_circuit(layout: TrackLayout, where: str) -> list[float]:
    # The lengths with which the circuit closes: the smallest changes (least squares) of the straights marked `adjust`.
    segments = layout.segments
    turned = math.degrees(sum(segment.turn for segment in segments))
    if abs(abs(turned) - 360.0) > 1e-6:
        raise DataError(
            "the turns do not make a circuit", where=where, expected="a sum of +-360 deg", got=f"{turned:g}"
        )
    if segments[0].turn or segments[-1].turn:
        raise DataError("a circuit must begin and end on a straight", where=where, hint="split the start straight")
    lengths = [segment.length for segment in segments]
    free = [k for k, segment in enumerate(segments) if segment.adjust]
    heading = np.cumsum([0.0] + [segment.turn for segment in segments])[free]
    directions = np.vstack([np.cos(heading), np.sin(heading)])
    for _ in range(20):  # more than once, because a shorter straight may shorten the clothoids at its ends
        profile = _curvature_profile(segments, lengths, _clothoid_lengths(layout, lengths))
        end = _integrate_points(profile, np.linspace(0.0, sum(lengths), max(64, round(sum(lengths)))))[-1]
        if np.hypot(*end) < _GAP:
            return lengths
        changes = np.linalg.pinv(directions, rcond=1e-6) @ -end
        left_over = math.hypot(*(directions @ changes + end))
        if left_over > _GAP:
            got = f"a gap of {left_over:.2f} m whatever their length"
            wanted = "two straights with adjust = true, not parallel"
            raise DataError("cannot close the circuit", where=where, expected=wanted, got=got)
        for k, change in zip(free, changes, strict=True):
            lengths[k] += float(change)
            if lengths[k] < _SHORTEST:
                got = f"a straight of {lengths[k]:.1f} m here (it was {segments[k].length:g} m)"
                raise DataError("cannot close the circuit", where=segments[k].where, expected=">= 10 m", got=got)
    raise DataError("cannot close the circuit", where=where, expected="straights long enough for their clothoids")


def _step_values(values: list[float], ends: Array, s: Array) -> Array:
    return np.array(values)[np.minimum(np.searchsorted(ends, s, side="right"), len(values) - 1)]


def _height_profile(layout: TrackLayout, ends: Array, s: Array) -> Array:
    # Monotone cubic through the given heights (F. N. Fritsch, R. E. Carlson, Monotone piecewise cubic interpolation,
    # SIAM J. Numer. Anal. 17, 1980, slopes in the harmonic form of Fritsch and Butland): no humps between them.
    knots, heights = [0.0], [layout.z]
    for end, segment in zip(ends[:-1], layout.segments, strict=False):
        if segment.z is not None:
            knots.append(float(end))
            heights.append(segment.z)
    last = layout.segments[-1]
    if layout.closed and last.z not in (None, layout.z):
        raise DataError(
            "the circuit ends at another height", where=last.where, expected=f"{layout.z:g}", got=f"{last.z}"
        )
    knots.append(float(ends[-1]))
    heights.append(layout.z if layout.closed else heights[-1] if last.z is None else last.z)
    knot, height = np.array(knots), np.array(heights)
    gap = np.diff(knot)
    secant = np.diff(height) / gap
    slope = np.zeros(len(knot))  # level at the ends of an open road
    left, right, gap_left, gap_right = secant[:-1], secant[1:], gap[:-1], gap[1:]
    if layout.closed and len(gap) > 1:
        left, right, gap_left, gap_right = np.roll(secant, 1), secant, np.roll(gap, 1), gap
    weight_left, weight_right = 2.0 * gap_right + gap_left, gap_right + 2.0 * gap_left
    same = left * right > 0.0
    safe_left, safe_right = np.where(same, left, 1.0), np.where(same, right, 1.0)
    mean = (weight_left + weight_right) / (weight_left / safe_left + weight_right / safe_right)
    inner = np.where(same, mean, 0.0)
    if layout.closed and len(gap) > 1:
        slope[:-1], slope[-1] = inner, inner[0]
    else:
        slope[1:-1] = inner
    i = np.clip(np.searchsorted(knot, s, side="right") - 1, 0, len(gap) - 1)
    u = (s - knot[i]) / gap[i]
    v = 1.0 - u
    ends_part = (1.0 + 2.0 * u) * v * v * height[i] + u * u * (3.0 - 2.0 * u) * height[i + 1]
    result: Array = ends_part + u * v * gap[i] * (v * slope[i] - u * slope[i + 1])
    return result


def _grade_of_heights(z: Array, spacing: float, closed: bool) -> Array:
    if not closed:
        return np.gradient(z, spacing)
    result: Array = (np.roll(z, -1) - np.roll(z, 1)) / (2.0 * spacing)
    return result


def find_named_bends(layout: TrackLayout, where: str = "track") -> tuple[NamedBend, ...]:
    """Return the arcs of a layout that have names, in driving order.

    Raises:
        DataError: the circuit does not close.
    """
    ends = np.cumsum(_measure_segments(layout, where)).tolist()
    starts = [0.0, *ends[:-1]]
    return tuple(
        NamedBend(segment.name, start, end)
        for segment, start, end in zip(layout.segments, starts, ends, strict=True)
        if segment.name and segment.turn
    )


def _measure_segments(layout: TrackLayout, where: str) -> list[float]:
    # Lengths, m, with those that a circuit adjusts.
    return _close_circuit(layout, where) if layout.closed else [segment.length for segment in layout.segments]


def build_road(layout: TrackLayout, where: str = "track") -> Road:
    """Return the road of a layout.

    Args:
        layout: the checked file.
        where: names the file in errors.

    Returns:
        A road with continuous curvature whose first row is `layout.start`.

    Raises:
        DataError: the turns of a circuit do not sum to a full turn, its straights cannot close it, or it crosses
            itself.
    """
    segments = layout.segments
    lengths = _measure_segments(layout, where)
    ends = np.cumsum(lengths)
    total = float(ends[-1])
    intervals = max(32, round(total / layout.spacing))
    spacing = total / intervals
    every = np.linspace(0.0, total, intervals + 1)
    profile = _curvature_profile(segments, lengths, _clothoid_lengths(layout, lengths))
    places = _integrate_points(profile, every)
    if layout.closed:
        places -= np.linspace(0.0, 1.0, len(places))[:, None] * places[-1]  # what _GAP allows
        every, places = every[:-1], places[:-1]
    x0, y0, yaw0 = layout.start
    cos, sin = math.cos(yaw0), math.sin(yaw0)
    x = x0 + cos * places[:, 0] - sin * places[:, 1]
    y = y0 + sin * places[:, 0] + cos * places[:, 1]
    crossing = first_crossing(x, y, layout.closed, 1.001 * spacing)
    if crossing[0] >= 0:
        got = " and ".join(f"s = {k * spacing:.0f} m" for k in crossing)
        raise DataError("the road crosses itself", where=where, expected="a road without bridges", got=got)
    window = min(60.0, total / 25.0)  # m over which width and bank change, and heights are rounded

    def column(name: str, over: float) -> Array:
        return cosine_average(
            _step_values([getattr(segment, name) for segment in segments], ends, every), over, spacing, layout.closed
        )

    z = cosine_average(_height_profile(layout, ends, every), window, spacing, layout.closed)
    half = 0.5 * column("width", window)
    road = Road.from_columns(
        spacing, layout.closed, x, y, yaw0 + _heading_at(profile, every), np.interp(every, profile[0], profile[1]),
        z=z, grade=_grade_of_heights(z, spacing, layout.closed), bank=column("bank", window), width_left=half,
        width_right=half, runoff_left=layout.runoff, runoff_right=layout.runoff, grip=column("grip", 5.0),
    )  # fmt: skip
    return add_kerbs(road) if layout.kerbs else road
