"""Lines of latitude, longitude and height in GPX and KML files: tracks, routes and paths, with times if they have them.

Source: the schema of GPX 1.1 (trk, trkseg, trkpt, rte, rtept, ele, time), that of KML 2.3 (LineString, LinearRing,
gx:Track).

Roads from lines of latitude and longitude: GPX and KML files, and tables without widths.

The longest line counts, with those that go on where it ends. Points nearer than SAME_POINT to the one before are left
out: receivers wander where they stand. What a lap has driven beyond its begin is cut off; a line that goes round more
than once is refused, for `trailbrake learn track` makes one road of several laps.
"""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from trailbrake.arrays import Array
from trailbrake.errors import DataError
from trailbrake.tracks.centreline_smoothing import MeasuredLine
from trailbrake.tracks.geometry import choose_origin, project_places
from trailbrake.tracks.measured_road import MAX_CLOSING_GAP, SAME_POINT, MeasuredPoints, is_circuit
from trailbrake.user_files import parse_xml

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MAX_BYTES = 200_000_000  # of a file
SUFFIXES = (".gpx", ".kml")
_Point = tuple[float, float, float]  # latitude and longitude (degrees), height (m), NaN where it is not known
_Found = tuple[str, list[_Point], list[str]]  # a line's name, points, and moments as the file writes them
ASSUMED_WIDTH = 8.0  # m from edge to edge
JOINED = 100.0  # m from the end of a line to the begin of the next one that goes on with it
NEAR_START, AWAY = 15.0, 100.0  # m: a line that has been away from its begin and is near it again goes round
MIN_POINTS, MAX_POINTS = 8, 30_000
MAX_GAP = 250.0  # m between neighbouring points
MIN_LENGTH, MAX_LENGTH = 60.0, 100_000.0  # m


class GeoLine(NamedTuple):
    """A line of a file.

    Attributes:
        name: of it, "" for none.
        latitude, longitude: (n,) rad.
        height: (n,) m; NaN where it is not known.
        moments: n texts of ISO 8601, "" where one is not known; or none.
    """

    name: str
    latitude: Array
    longitude: Array
    height: Array
    moments: Sequence[str] = ()


def parse_geo_lines(data: bytes, where: str) -> list[GeoLine]:
    """Return the lines with two points or more in the bytes of a GPX or KML file.

    Raises:
        DataError: it is neither, has no such line, or a point is none.
    """
    root = parse_xml(data, where)
    kind = _plain_tag(root)
    if kind not in ("gpx", "kml"):
        raise DataError("neither GPX nor KML", where=where, got=f"<{kind}>"[:60])
    found = _list_gpx_lines(root, where) if kind == "gpx" else _list_kml_lines(root, where)
    lines = [_make_line(each, where) for each in found if len(each[1]) > 1]
    if not lines:
        wanted = "a track or a route" if kind == "gpx" else "a path (LineString, LinearRing or gx:Track)"
        raise DataError(f"no line in the {kind.upper()} file", where=where, expected=wanted)
    return lines


def _plain_tag(element: "Element") -> str:
    return element.tag.rpartition("}")[2]


def _find_text(element: "Element", tag: str) -> str:
    return next(((child.text or "").strip() for child in element if _plain_tag(child) == tag), "")


def _list_gpx_lines(root: "Element", where: str) -> Iterator[_Found]:
    for line in root.iter():
        tag = _plain_tag(line)
        parts = [line] if tag == "rte" else [part for part in line if _plain_tag(part) == "trkseg"] * (tag == "trk")
        for part in parts:
            points = [point for point in part if _plain_tag(point) in ("rtept", "trkpt")]
            moments = [_find_text(point, "time") for point in points]
            yield _find_text(line, "name"), [_read_gpx_point(point, where) for point in points], moments


def _read_gpx_point(point: "Element", where: str) -> _Point:
    place = [_parse_number(point.get(name, ""), where) for name in ("lat", "lon")]
    height = _find_text(point, "ele")
    return place[0], place[1], _parse_number(height, where) if height else math.nan


def _list_kml_lines(root: "Element", where: str) -> Iterator[_Found]:
    for mark in root.iter():
        if _plain_tag(mark) != "Placemark":
            continue
        for line in mark.iter():
            tag = _plain_tag(line)
            if tag in ("LineString", "LinearRing"):
                texts = _find_text(line, "coordinates").split()
                yield _find_text(mark, "name"), [_read_kml_point(text.split(","), where) for text in texts], []
            elif tag == "Track":
                moments = [(part.text or "").strip() for part in line if _plain_tag(part) == "when"]
                texts = [(part.text or "") for part in line if _plain_tag(part) == "coord"]
                moments = [*moments, *[""] * (len(texts) - len(moments))][: len(texts)]
                yield _find_text(mark, "name"), [_read_kml_point(text.split(), where) for text in texts], moments


def _read_kml_point(cells: list[str], where: str) -> _Point:
    numbers = [_parse_number(cell, where) for cell in cells]
    if len(numbers) not in (2, 3):
        raise DataError(
            "no place", where=where, expected="longitude, latitude and perhaps a height", got=",".join(cells)
        )
    return numbers[1], numbers[0], numbers[2] if len(numbers) == 3 else math.nan


def _parse_number(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not abs(value) < 1e6:
        raise DataError("no number in a place", where=where, got=text[:40] or "nothing")
    return value


def _make_line(found: _Found, where: str) -> GeoLine:
    name, points, moments = found
    latitude, longitude, height = np.array(points, np.float64).T.copy()
    if (np.abs(latitude) > 90.0).any() or (np.abs(longitude) > 180.0).any():
        raise DataError("no degrees of latitude and longitude", where=where, expected="within 90 and 180",
                        got=f"{np.abs(latitude).max():g}, {np.abs(longitude).max():g}")  # fmt: skip
    return GeoLine(name, np.radians(latitude), np.radians(longitude), height, moments)


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
    if closed and math.hypot(x[-1] - x[0], y[-1] - y[0]) < SAME_POINT:
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
        if math.hypot(x - points[keep[-1], 0], y - points[keep[-1], 1]) >= SAME_POINT:
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
