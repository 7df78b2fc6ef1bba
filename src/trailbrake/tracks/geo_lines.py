"""Lines of latitude, longitude and height in GPX and KML files: tracks, routes and paths, with times if they have them.

Source: the schema of GPX 1.1 (trk, trkseg, trkpt, rte, rtept, ele, time), that of KML 2.3 (LineString, LinearRing,
gx:Track).
"""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from trailbrake.errors import DataError
from trailbrake.tracks.geometry import Array
from trailbrake.units import parse_iso_time
from trailbrake.user_files import parse_xml

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MAX_BYTES = 200_000_000  # of a file
SUFFIXES = (".gpx", ".kml")
_Point = tuple[
    float, float, float, float
]  # latitude and longitude (degrees), height (m), time (s), NaN where not known


class GeoLine(NamedTuple):
    """A line of a file.

    Attributes:
        name: of it, "" for none.
        latitude, longitude: (n,) rad.
        height: (n,) m; NaN where it is not known.
        time: (n,) s since 1970; NaN where it is not known.
    """

    name: str
    latitude: Array
    longitude: Array
    height: Array
    time: Array


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
    lines = [_make_line(name, points, where) for name, points in found if len(points) > 1]
    if not lines:
        wanted = "a track or a route" if kind == "gpx" else "a path (LineString, LinearRing or gx:Track)"
        raise DataError(f"no line in the {kind.upper()} file", where=where, expected=wanted)
    return lines


def _plain_tag(element: "Element") -> str:
    return element.tag.rpartition("}")[2]


def _find_text(element: "Element", tag: str) -> str:
    return next(((child.text or "").strip() for child in element if _plain_tag(child) == tag), "")


def _list_gpx_lines(root: "Element", where: str) -> Iterator[tuple[str, list[_Point]]]:
    for line in root.iter():
        tag = _plain_tag(line)
        if tag == "rte":
            yield _find_text(line, "name"), [_read_gpx_point(p, where) for p in line if _plain_tag(p) == "rtept"]
        elif tag == "trk":
            for part in line:
                if _plain_tag(part) == "trkseg":
                    points = [_read_gpx_point(point, where) for point in part if _plain_tag(point) == "trkpt"]
                    yield _find_text(line, "name"), points


def _read_gpx_point(point: "Element", where: str) -> _Point:
    place = [_parse_number(point.get(name, ""), where) for name in ("lat", "lon")]
    height = _find_text(point, "ele")
    return (
        place[0],
        place[1],
        _parse_number(height, where) if height else math.nan,
        parse_iso_time(_find_text(point, "time")),
    )


def _list_kml_lines(root: "Element", where: str) -> Iterator[tuple[str, list[_Point]]]:
    for mark in root.iter():
        if _plain_tag(mark) != "Placemark":
            continue
        for line in mark.iter():
            tag = _plain_tag(line)
            if tag in ("LineString", "LinearRing"):
                texts = _find_text(line, "coordinates").split()
                yield _find_text(mark, "name"), [_read_kml_point(text.split(","), math.nan, where) for text in texts]
            elif tag == "Track":
                times = [parse_iso_time((part.text or "").strip()) for part in line if _plain_tag(part) == "when"]
                texts = [(part.text or "") for part in line if _plain_tag(part) == "coord"]
                times += [math.nan] * (len(texts) - len(times))
                yield (
                    _find_text(mark, "name"),
                    [_read_kml_point(text.split(), time, where) for text, time in zip(texts, times, strict=False)],
                )


def _read_kml_point(cells: list[str], time: float, where: str) -> _Point:
    numbers = [_parse_number(cell, where) for cell in cells]
    if len(numbers) not in (2, 3):
        raise DataError(
            "no place", where=where, expected="longitude, latitude and perhaps a height", got=",".join(cells)
        )
    return numbers[1], numbers[0], numbers[2] if len(numbers) == 3 else math.nan, time


def _parse_number(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not abs(value) < 1e6:
        raise DataError("no number in a place", where=where, got=text[:40] or "nothing")
    return value


def _make_line(name: str, points: list[_Point], where: str) -> GeoLine:
    latitude, longitude, height, time = np.array(points, np.float64).T.copy()
    if (np.abs(latitude) > 90.0).any() or (np.abs(longitude) > 180.0).any():
        raise DataError("no degrees of latitude and longitude", where=where, expected="within 90 and 180",
                        got=f"{np.abs(latitude).max():g}, {np.abs(longitude).max():g}")  # fmt: skip
    return GeoLine(name, np.radians(latitude), np.radians(longitude), height, time)
