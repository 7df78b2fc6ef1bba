import numpy as np
import pytest

from trailbrake.planning.minimum_curvature import (
    NO_RUNOFF,
    ROW_SPACING,
    WALL_MARGIN,
    Centreline,
    DiscretePath,
    minimise_curvature,
    plan_racing_line,
)
from trailbrake.planning.path_margins import EDGE_MARGIN
from trailbrake.planning.path_room import make_inside_room
from trailbrake.planning.quadratic_program import Bounds
from trailbrake.tracks.layout import parse_layout
from trailbrake.tracks.road import RoadColumn
from trailbrake.tracks.road_builder import build_road
from trailbrake.tracks.track_library import load_track

CIRCUITS = ("copperbowl", "hartmoor", "kartwerk", "pinegrove")
SLACK = 0.12  # m: the line is optimised at stations 2.5 m apart and may swing a little between them


def road_of(text):
    return build_road(parse_layout(text, "test"), "test")


def gap(road, line):
    """Return the least distance (m) of the line to the left and to the right edge, asked of the road itself."""
    xy = line.table[:, [RoadColumn.X, RoadColumn.Y]]
    s, offset = road.locate_many(xy).T
    return (
        float((road.column_at(s, RoadColumn.WIDTH_LEFT) - offset).min()),
        float((road.column_at(s, RoadColumn.WIDTH_RIGHT) + offset).min()),
    )


@pytest.mark.parametrize("width", [1.8, 2.0])
@pytest.mark.parametrize("name", CIRCUITS)
def test_the_car_stays_inside_the_edges_with_its_margin(name, width):
    road = load_track(name).road
    line = plan_racing_line(road, make_inside_room(width))
    left, right = gap(road, line)
    walled = road.column(RoadColumn.RUNOFF_LEFT).max() < NO_RUNOFF
    keep = 0.5 * width + EDGE_MARGIN + (WALL_MARGIN if walled else 0.0)
    assert left > keep - SLACK
    assert right > keep - SLACK
    # It uses the road: somewhere it comes as near to the edge as it may.
    assert min(left, right) < keep + SLACK


@pytest.mark.parametrize("name", CIRCUITS)
def test_a_line_is_a_road_that_fits_its_own_geometry(name):
    road = load_track(name).road
    line = plan_racing_line(road, make_inside_room(2.0))
    assert line.closed
    assert np.isfinite(line.table).all()
    assert line.spacing == pytest.approx(ROW_SPACING, rel=0.01)
    # yaw is where the points go, and curvature is how yaw changes.
    gone = np.roll(line.table[:, :2], -1, axis=0) - line.table[:, :2]
    middle = line.column(RoadColumn.YAW) + 0.5 * line.spacing * line.column(RoadColumn.CURVATURE)
    course = np.arctan2(gone[:, 1], gone[:, 0])
    assert np.abs(np.angle(np.exp(1j * (course - middle)))).max() < 0.02
    # its widths are the distances to the road's edges
    left = line.points(line.stations(), line.column(RoadColumn.WIDTH_LEFT))
    s, offset = road.locate_many(left[:, :2]).T
    assert np.median(np.abs(offset - road.column_at(s, RoadColumn.WIDTH_LEFT))) < 0.02
    # row 0 is abreast of the start line
    s0, _, _ = road.locate(*line.table[0, :2])
    assert min(s0, road.length - s0) < 3.0


def test_less_curvature_than_the_centreline_and_a_shorter_way():
    road = load_track("pinegrove").road
    line = plan_racing_line(road, make_inside_room(2.0))
    bends = [float(np.sum(way.column(RoadColumn.CURVATURE) ** 2) * way.spacing) for way in (road, line)]
    assert bends[1] < 0.7 * bends[0]
    assert line.length < road.length


def test_more_weight_on_length_is_shorter():
    road = load_track("hartmoor").road
    lengths = [plan_racing_line(road, make_inside_room(2.0), weight).length for weight in (0.0, 1e-3, 1e-2)]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] - lengths[-1] > 5.0


def test_a_road_narrower_than_the_margins_is_driven_in_its_middle():
    road = road_of(
        "width = 2.6\n[[segment]]\nstraight = 60\nadjust = true\n[[segment]]\nradius = 40\nturn = 180\n"
        "[[segment]]\nstraight = 120\nadjust = true\n[[segment]]\nradius = 40\nturn = 180\n[[segment]]\nstraight = 60\n"
    )
    line = plan_racing_line(road, make_inside_room(2.0))
    assert np.abs(road.locate_many(line.table[:, :2])[:, 1]).max() < 0.15


def test_an_open_road_starts_and_ends_on_the_centreline():
    road = road_of("closed = false\n[[segment]]\nstraight = 100\n[[segment]]\nradius = 60\nturn = 90\n"
                   "[[segment]]\nstraight = 100\n")  # fmt: skip
    line = plan_racing_line(road, make_inside_room(2.0))
    s, offset = road.locate_many(line.table[[0, -1], :2]).T
    assert not line.closed
    assert np.abs(offset).max() < 0.1
    assert s[0] < 0.1
    assert road.length - s[1] < 0.1
    assert np.abs(road.locate_many(line.table[:, :2])[:, 1]).max() > 2.0, "the bend is not cut"
    left, right = gap(road, line)
    assert min(left, right) > 1.0 + EDGE_MARGIN - SLACK


def _stadium(radius: float, straight: float, step: float) -> tuple[np.ndarray, ...]:
    length = 2.0 * straight + 2.0 * np.pi * radius
    s = np.arange(0.0, length, length / round(length / step))
    x, y, yaw = np.empty_like(s), np.empty_like(s), np.empty_like(s)
    for i, at in enumerate(s):
        half, rest = divmod(at, length / 2.0)
        sign = 1.0 if half == 0 else -1.0
        if rest < straight:
            px, py, angle = rest - straight / 2.0, -radius, 0.0
        else:
            angle = (rest - straight) / radius
            px, py = straight / 2.0 + radius * np.sin(angle), -radius * np.cos(angle)
        x[i], y[i], yaw[i] = sign * px, sign * py, angle + (0.0 if half == 0 else np.pi)
    return x, y, -np.sin(yaw), np.cos(yaw)


def test_ring_is_driven_on_its_outside() -> None:
    angle = np.linspace(0.0, 2.0 * np.pi, 120, endpoint=False)
    x, y = 60.0 * np.cos(angle), 60.0 * np.sin(angle)
    # Normals point to the left of travel, the centre. The least curvature is on the outer edge.
    offset = minimise_curvature(
        Centreline(x, y, -np.cos(angle), -np.sin(angle), True), Bounds(x * 0.0 - 4.0, x * 0.0 + 4.0)
    )
    assert np.allclose(offset, -4.0, atol=0.05)


def test_bends_are_cut_and_the_line_stays_on_the_road() -> None:
    x, y, nx, ny = _stadium(40.0, 200.0, 2.5)
    bound = np.full(len(x), 4.5)
    offset = minimise_curvature(Centreline(x, y, nx, ny, True), Bounds(-bound, bound))
    assert np.abs(offset).max() <= 4.5
    driven = DiscretePath.from_points(x + offset * nx, y + offset * ny, True)
    assert driven.bending_cost(0.0) < 0.85 * DiscretePath.from_points(x, y, True).bending_cost(0.0)
    assert offset.min() < -3.0  # a bend is entered from its outside


def test_length_weight_takes_hairpins_tighter() -> None:
    x, y, nx, ny = _stadium(40.0, 200.0, 2.5)
    bound = np.full(len(x), 4.5)
    apex = round(len(x) * (200.0 + np.pi * 20.0) / (400.0 + 2.0 * np.pi * 40.0))
    wide = minimise_curvature(Centreline(x, y, nx, ny, True), Bounds(-bound, bound))
    short = minimise_curvature(Centreline(x, y, nx, ny, True), Bounds(-bound, bound), 1e-3)
    assert short[apex] > 4.0 > wide[apex]
    lengths = [DiscretePath.from_points(x + o * nx, y + o * ny, True).length.sum() for o in (wide, short)]
    assert lengths[1] < lengths[0]


def test_open_straight_needs_no_offset() -> None:
    x = np.linspace(0.0, 300.0, 121)
    zero, one, bound = np.zeros(121), np.ones(121), np.full(121, 3.0)
    offset = minimise_curvature(Centreline(x, zero, zero, one, False), Bounds(-bound, bound))
    assert np.abs(offset).max() < 1e-3
