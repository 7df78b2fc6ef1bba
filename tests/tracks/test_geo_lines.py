"""Lines of GPX and KML files: those of gpxpy and simplekml, and damaged ones."""

from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from helpers.lap_log_files import BEGUN, make_laps, place_degrees

from trailbrake.errors import DataError
from trailbrake.tracks.geo_lines import parse_geo_lines

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "lap_logs"
GPX = '<gpx xmlns="http://www.topografix.com/GPX/1/1">{}</gpx>'
KML = '<kml xmlns="http://www.opengis.net/kml/2.2"><Document>{}</Document></kml>'


@pytest.mark.parametrize("name", ["laps.gpx", "laps.kml"])
def test_timed_tracks_of_others(name):
    laps = make_laps(5.0, laps=2)
    (line,) = parse_geo_lines((GOLDEN / name).read_bytes(), name)
    latitude, longitude = place_degrees(laps)
    assert line.name == "Round the lake"
    assert np.degrees(line.latitude) == pytest.approx(latitude, abs=6e-9)
    assert np.degrees(line.longitude) == pytest.approx(longitude, abs=6e-9)
    assert line.height == pytest.approx(laps.z, abs=0.006)
    moments = [datetime.fromisoformat(text).timestamp() for text in line.moments]
    assert np.array(moments) - BEGUN.timestamp() == pytest.approx(laps.time, abs=6e-4)


def test_paths_routes_and_rings():
    (path,) = parse_geo_lines((GOLDEN / "road.kml").read_bytes(), "road.kml")
    assert path.moments == []
    assert np.isfinite(path.height).all()
    text = GPX.format('<rte><name>r</name><rtept lat="1" lon="2"/><rtept lat="1.5" lon="2.5"><ele>7</ele></rtept></rte>'
                      '<trk><trkseg><trkpt lat="3" lon="4"/></trkseg></trk>')  # fmt: skip
    (route,) = parse_geo_lines(text.encode(), "a.gpx")
    assert (route.name, np.degrees(route.longitude).tolist()) == ("r", pytest.approx([2.0, 2.5]))
    assert route.height[1] == 7.0
    text = KML.format("<Placemark><LinearRing><coordinates>\n 1,2 1,3,5\n</coordinates></LinearRing></Placemark>")
    (ring,) = parse_geo_lines(text.encode(), "a.kml")
    assert np.degrees(ring.latitude).tolist() == pytest.approx([2.0, 3.0])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<gpx", "not XML"),
        ("", "not XML"),
        ("<html/>", "neither GPX nor KML, got <html>"),
        (GPX.format(""), "no line in the GPX file, expected a track or a route"),
        (KML.format("<Placemark><Point/></Placemark>"), "no line in the KML file, expected a path"),
        (GPX.format('<rte><rtept lat="x" lon="2"/></rte>'), "no number in a place, got x"),
        (GPX.format('<rte><rtept lon="2"/></rte>'), "no number in a place, got nothing"),
        (GPX.format('<rte><rtept lat="99" lon="2"/><rtept lat="9" lon="2"/></rte>'), "no degrees"),
        (KML.format("<Placemark><LineString><coordinates>1 2</coordinates></LineString></Placemark>"), "no place"),
        ("<!DOCTYPE x [<!ENTITY a 'b'>]><gpx/>", "a document type in the XML"),
        ("<a>" * 100 + "</a>" * 100, "nested too deeply"),
    ],
)
def test_what_is_wrong_is_one_line(text, said):
    with pytest.raises(DataError, match=said) as caught:
        parse_geo_lines(text.encode(), "a.gpx")
    assert str(caught.value).startswith("a.gpx")
