"""Lines of latitude, longitude and height in GPX and KML files: tracks, routes and paths, with times if they have them.

Source: the schema of GPX 1.1 (trk, trkseg, trkpt, rte, rtept, ele, time), that of KML 2.3 (LineString, LinearRing,
gx:Track).
"""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from trailbrake.errors import DataError
from trailbrake.tracks.geometry import Array
from trailbrake.user_files import parse_xml

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MAX_BYTES = 200_000_000  # of a file
SUFFIXES = (".gpx", ".kml")
_Point = tuple[float, float, float]  # latitude and longitude (degrees), height (m), NaN where it is not known
_Found = tuple[str, list[_Point], list[str]]  # a line's name, points, and moments as the file writes them


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
