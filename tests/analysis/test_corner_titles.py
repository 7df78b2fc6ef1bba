import numpy as np
import pytest

from trailbrake.analysis.corner_titles import find_recorded_track, title_corners
from trailbrake.analysis.corners import Corner, find_corners
from trailbrake.analysis.lap_location import CommonLine
from trailbrake.analysis.reference_line import make_line
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track_library import load_track


def line_of(road):
    line = make_line(road.column(RoadColumn.X), road.column(RoadColumn.Y), road.closed)
    return CommonLine(line, line.length, "centre line", True)


@pytest.fixture
def pinegrove():
    return load_track("pinegrove")


def test_corners_of_a_library_track_have_its_names(pinegrove):
    road = pinegrove.road
    corners = find_corners(road.stations(), road.column(RoadColumn.CURVATURE))
    titled = title_corners(corners, line_of(road), pinegrove)
    known = [bend.name for bend in pinegrove.bends]
    assert [corner.title for corner in titled] == known
    assert len(known) == 9
    assert "Start straight" not in known
    assert titled[0].name == f"T1 {known[0]}"


def test_a_place_elsewhere_and_a_track_without_names_have_no_titles(pinegrove):
    corners = [Corner(0, 0.0, 0.0, 5.0, 9.0), Corner(1, 1.0, 100.0, 120.0, 140.0)]
    angle = np.linspace(0.0, 2.0 * np.pi, 200, endpoint=False)
    far = make_line(5000.0 + 100.0 * np.cos(angle), 100.0 * np.sin(angle), True)
    for line, track in (
        (CommonLine(far, far.length, "centre line", True), pinegrove),
        (CommonLine(None, 500.0, "distance driven", False), pinegrove),
        (line_of(pinegrove.road), load_track("gen:1")),
        (line_of(pinegrove.road), None),
    ):
        assert [corner.name for corner in title_corners(corners, line, track)] == ["start", "T1"]


def test_tracks_of_the_library_alone_are_looked_up(tmp_path):
    assert find_recorded_track("pinegrove@wet").name == "pinegrove"
    for name in ("gen:1", str(tmp_path / "mine.csv"), None, 3, ""):
        assert find_recorded_track(name) is None
