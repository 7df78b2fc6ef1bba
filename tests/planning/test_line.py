import numpy as np
import pytest

from trailbrake.planning.line import EDGE_MARGIN, NO_RUNOFF, SPACING, WALL_MARGIN, centre_line, racing_line
from trailbrake.tracks.build import build
from trailbrake.tracks.layout import parse
from trailbrake.tracks.load import load
from trailbrake.tracks.road import Column

CIRCUITS = ("copperbowl", "hartmoor", "kartwerk", "pinegrove")
SLACK = 0.12  # m: the line is optimised at stations 2.5 m apart and may swing a little between them


def road_of(text):
    return build(parse(text, "test"), "test")


def gap(road, line):
    """Return the least distance (m) of the line to the left and to the right edge, asked of the road itself."""
    xy = line.table[:, [Column.X, Column.Y]]
    s, offset = road.locate_many(xy).T
    return (
        float((road.at(s, Column.WIDTH_LEFT) - offset).min()),
        float((road.at(s, Column.WIDTH_RIGHT) + offset).min()),
    )


@pytest.mark.parametrize("width", [1.8, 2.0])
@pytest.mark.parametrize("name", CIRCUITS)
def test_the_car_stays_inside_the_edges_with_its_margin(name, width):
    road = load(name).road
    line = racing_line(road, width)
    left, right = gap(road, line)
    walled = road.column(Column.RUNOFF_LEFT).max() < NO_RUNOFF
    keep = 0.5 * width + EDGE_MARGIN + (WALL_MARGIN if walled else 0.0)
    assert left > keep - SLACK
    assert right > keep - SLACK
    # It uses the road: somewhere it comes as near to the edge as it may.
    assert min(left, right) < keep + SLACK


@pytest.mark.parametrize("name", CIRCUITS)
def test_a_line_is_a_road_that_fits_its_own_geometry(name):
    road = load(name).road
    line = racing_line(road, 2.0)
    assert line.closed
    assert np.isfinite(line.table).all()
    assert line.spacing == pytest.approx(SPACING, rel=0.01)
    # yaw is where the points go, and curvature is how yaw changes.
    gone = np.roll(line.table[:, :2], -1, axis=0) - line.table[:, :2]
    middle = line.column(Column.YAW) + 0.5 * line.spacing * line.column(Column.CURVATURE)
    course = np.arctan2(gone[:, 1], gone[:, 0])
    assert np.abs(np.angle(np.exp(1j * (course - middle)))).max() < 0.02
    # its widths are the distances to the road's edges
    left = line.points(line.stations(), line.column(Column.WIDTH_LEFT))
    s, offset = road.locate_many(left[:, :2]).T
    assert np.median(np.abs(offset - road.at(s, Column.WIDTH_LEFT))) < 0.02
    # row 0 is abreast of the start line
    s0, _, _ = road.locate(*line.table[0, :2])
    assert min(s0, road.length - s0) < 3.0


def test_less_curvature_than_the_centreline_and_a_shorter_way():
    road = load("pinegrove").road
    centre, line = centre_line(road), racing_line(road, 2.0)
    bends = [float(np.sum(way.column(Column.CURVATURE) ** 2) * way.spacing) for way in (centre, line)]
    assert bends[1] < 0.7 * bends[0]
    assert line.length < centre.length
    assert np.abs(road.locate_many(centre.table[:, :2])[:, 1]).max() < 0.02


def test_more_weight_on_length_is_shorter():
    road = load("hartmoor").road
    lengths = [racing_line(road, 2.0, weight).length for weight in (0.0, 1e-3, 1e-2)]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] - lengths[-1] > 5.0


def test_a_road_narrower_than_the_margins_is_driven_in_its_middle():
    road = road_of(
        "width = 2.6\n[[segment]]\nstraight = 60\nadjust = true\n[[segment]]\nradius = 40\nturn = 180\n"
        "[[segment]]\nstraight = 120\nadjust = true\n[[segment]]\nradius = 40\nturn = 180\n[[segment]]\nstraight = 60\n"
    )
    line = racing_line(road, 2.0)
    assert np.abs(road.locate_many(line.table[:, :2])[:, 1]).max() < 0.15


def test_an_open_road_starts_and_ends_on_the_centreline():
    road = road_of("closed = false\n[[segment]]\nstraight = 100\n[[segment]]\nradius = 60\nturn = 90\n"
                   "[[segment]]\nstraight = 100\n")  # fmt: skip
    line = racing_line(road, 2.0)
    s, offset = road.locate_many(line.table[[0, -1], :2]).T
    assert not line.closed
    assert np.abs(offset).max() < 0.1
    assert s[0] < 0.1
    assert road.length - s[1] < 0.1
    assert np.abs(road.locate_many(line.table[:, :2])[:, 1]).max() > 2.0, "the bend is not cut"
    left, right = gap(road, line)
    assert min(left, right) > 1.0 + EDGE_MARGIN - SLACK
