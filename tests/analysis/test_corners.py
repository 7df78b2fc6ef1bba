import numpy as np
import pytest

from trailbrake.analysis.corners import (
    Corner,
    find_corners,
    find_recorded_track,
    measure_curvature,
    set_zones,
    title_corners,
)
from trailbrake.analysis.lap_location import CommonLine
from trailbrake.analysis.reference_line import make_line
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track_library import load_track


def road(*pieces, step=1.0):
    """Return s and the curvature of a road of (length, curvature) pieces."""
    values = np.concatenate([np.full(round(length / step), curvature) for length, curvature in pieces])
    return np.arange(len(values)) * step, values


def test_bends_of_both_signs_are_corners_and_kinks_are_not():
    s, curvature = road((100, 0), (60, 0.02), (100, 0), (60, -0.02), (80, 0), (8, 0.01), (80, 0))
    found = find_corners(s, curvature)
    assert [(c.name, c.sign) for c in found] == [("T1", 1.0), ("T2", -1.0)]
    assert (found[0].entry, found[0].exit) == (100.0, 159.0)
    assert found[0].entry <= found[0].apex <= found[0].exit


def test_a_double_apex_is_one_corner_and_a_chicane_two():
    s, curvature = road((50, 0), (40, 0.03), (10, 0.0), (40, 0.03), (50, 0), (30, 0.02), (5, 0), (30, -0.02), (50, 0))
    assert [c.sign for c in find_corners(s, curvature)] == [1.0, 1.0, -1.0]


def test_a_straight_has_no_corners():
    assert find_corners(*road((500, 0))) == []


@pytest.mark.parametrize("closed", [True, False])
def test_the_curvature_of_a_circle(closed):
    s = np.arange(0.0, 2 * np.pi * 80.0, 1.0)
    curvature = measure_curvature(s, 80.0 * np.cos(s / 80.0), 80.0 * np.sin(s / 80.0), closed, 12.0)
    inner = curvature if closed else curvature[15:-15]
    assert inner == pytest.approx(np.full(len(inner), 1 / 80.0), rel=0.1)


def test_zones_cover_the_lap():
    s, curvature = road((100, 0), (60, 0.02), (100, 0), (60, -0.02), (80, 0))
    zones = set_zones(find_corners(s, curvature), [70.0, 220.0], 400.0)
    assert [(z.name, z.start, z.end) for z in zones] == [
        ("start", 0.0, 70.0),
        ("T1", 70.0, 220.0),
        ("T2", 220.0, 400.0),
    ]
    assert [z.name for z in set_zones([], [], 400.0)] == ["start"]


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
