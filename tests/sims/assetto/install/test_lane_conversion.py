"""The game's line <-> our roads, by closed forms: a circle, a banked, climbing oval and a hill climb."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trailbrake.cars.car_library import load_car
from trailbrake.errors import DataError
from trailbrake.sims.assetto.install import lane_conversion
from trailbrake.sims.assetto.install.fast_lane import EXTRA, POINT, FastLane, decode_fast_lane, encode_fast_lane
from trailbrake.sims.assetto.install.lane_conversion import find_ground_height, write_files
from trailbrake.sims.assetto.wire import acpmf
from trailbrake.tracks.road import Road, RoadColumn
from trailbrake.tracks.track import Track
from trailbrake.tracks.track_library import load_track

RADIUS = 100.0
STATIC = acpmf.Static(track="serpent_pass", car_model="gt3")


def circle(n=400, *, left=4.0, right=7.0, bank=0.0, gap=0.0, sign=1.0):
    """A line round the origin, counter-clockwise in our frame: game z is our x, game x our y, game y up."""
    points, extras = np.zeros(n, POINT), np.zeros(n, EXTRA)
    angle = sign * (2.0 * math.pi - gap) * np.arange(n) / n
    points["place"] = np.column_stack([RADIUS * np.sin(angle), 3.0 + np.sin(angle), RADIUS * np.cos(angle)])
    extras["side_left"], extras["side_right"] = left, right
    # Nose along the tangent; in the game's frame left = (forward.z, 0, -forward.x).
    forward = sign * np.column_stack([np.cos(angle), np.zeros(n), -np.sin(angle)])
    side = np.column_stack([forward[:, 2], np.zeros(n), -forward[:, 0]])
    extras["forward"] = forward
    extras["normal"] = np.array([0.0, math.cos(bank), 0.0]) - math.sin(bank) * side  # right side down
    return FastLane(points, extras)


def test_a_circle_is_a_circle():
    track = lane_conversion.track_from_lane(circle(), "ring", "ring.ai")
    made = track.road
    assert made.closed
    assert made.length == pytest.approx(2.0 * math.pi * RADIUS, rel=1e-3)
    assert made.point(0.0)[:2] == pytest.approx((RADIUS, 0.0), abs=0.1)  # s = 0 at the first point
    quarter = made.point(0.25 * made.length)
    assert quarter[:2] == pytest.approx((0.0, RADIUS), abs=0.2)
    assert quarter[2] == pytest.approx(4.0, abs=0.02)  # the height 3 + sin(angle)
    assert made.column(RoadColumn.CURVATURE) == pytest.approx(1.0 / RADIUS, rel=0.02)  # turning left
    assert made.column(RoadColumn.WIDTH_LEFT) == pytest.approx(4.0, abs=0.1)
    assert made.column(RoadColumn.WIDTH_RIGHT) == pytest.approx(7.0, abs=0.1)
    assert made.column_at([0.0], RoadColumn.GRADE)[0] == pytest.approx(1.0 / RADIUS, rel=0.02)


def test_the_other_way_round_the_sides_change():
    made = lane_conversion.track_from_lane(circle(sign=-1.0), "ring", "ring.ai").road
    assert made.column(RoadColumn.CURVATURE) == pytest.approx(-1.0 / RADIUS, rel=0.02)
    left, _ = made.edge_lines()
    assert np.hypot(left[:, 0], left[:, 1]) == pytest.approx(RADIUS + 4.0, abs=0.1)  # left is outside now


def test_banking_is_read_off_the_normals():
    assert lane_conversion.track_from_lane(circle(bank=0.1), "r", "r.ai").road.column(RoadColumn.BANK) == pytest.approx(
        0.1, abs=1e-3
    )
    lane = circle(bank=0.1)
    lane.extras["normal"] = 0.0  # a file that leaves them out
    assert lane_conversion.track_from_lane(lane, "r", "r.ai").road.column(RoadColumn.BANK) == pytest.approx(
        0.0, abs=1e-9
    )


def test_widths_that_cannot_be_are_bounded():
    lane = circle()
    lane.extras["side_left"][10:200] = -3.0
    lane.extras["side_right"][10:200] = 5000.0
    made = lane_conversion.track_from_lane(lane, "r", "r.ai").road
    assert made.column(RoadColumn.WIDTH_LEFT).min() == pytest.approx(lane_conversion.MIN_EDGE_DISTANCE, abs=0.15)
    assert made.column(RoadColumn.WIDTH_RIGHT).max() == pytest.approx(lane_conversion.MAX_EDGE_DISTANCE, abs=0.15)


def test_points_without_widths_make_a_narrow_road():
    lane = circle()
    track = lane_conversion.track_from_lane(FastLane(lane.points, None, version=-1), "r", "r.ai")
    assert track.road.column(RoadColumn.WIDTH_LEFT) == pytest.approx(lane_conversion.UNKNOWN_EDGE_DISTANCE, abs=0.1)


def test_a_line_without_edges_is_no_road():
    with pytest.raises(DataError, match=r"a line without edges, .* got 0 in all at most"):
        lane_conversion.track_from_lane(circle(left=0.0, right=0.0), "x", "x.ai")


def test_doubled_points_do_no_harm():
    lane = circle()
    twice = np.sort(np.r_[np.arange(400), [0, 5, 5, 399]])
    doubled = FastLane(np.r_[lane.points[twice], lane.points[:1]], np.r_[lane.extras[twice], lane.extras[:1]])
    assert lane_conversion.track_from_lane(doubled, "r", "r.ai").road.length == pytest.approx(628.3, rel=1e-3)


def hill(n=400, *, rise=0.08):
    """A line of one bend to the left and one to the right, 400 m along our x, climbing."""
    points, extras = np.zeros(n, POINT), np.zeros(n, EXTRA)
    x = np.linspace(0.0, 400.0, n)
    points["place"] = np.column_stack([25.0 * (1.0 - np.cos(x / 60.0)), 10.0 + rise * x, x])
    extras["side_left"], extras["side_right"] = 3.0, 4.0
    extras["normal"][:, 1], extras["forward"][:, 2] = 1.0, 1.0
    return FastLane(points, extras)


def test_a_line_whose_ends_lie_apart_is_an_open_road():
    made = lane_conversion.track_from_lane(hill(), "hill", "hill.ai").road
    assert not made.closed
    assert made.point(0.0) == pytest.approx((0.0, 0.0, 10.0), abs=0.3)
    assert made.point(made.length) == pytest.approx((400.0, 25.0 * (1.0 - math.cos(400.0 / 60.0)), 42.0), abs=0.3)
    middle = slice(50, -50)
    assert made.column(RoadColumn.WIDTH_LEFT)[middle] == pytest.approx(3.0, abs=0.15)
    assert made.column(RoadColumn.WIDTH_RIGHT)[middle] == pytest.approx(4.0, abs=0.15)
    x = made.column(RoadColumn.X)
    slope = 25.0 / 60.0 * np.sin(x / 60.0)
    assert made.column(RoadColumn.GRADE)[middle] == pytest.approx((0.08 / np.hypot(1.0, slope))[middle], abs=0.002)
    s, offset = made.locate_many(np.column_stack([x, 25.0 * (1.0 - np.cos(x / 60.0))])).T
    assert offset == pytest.approx(0.0, abs=0.2)
    assert np.all(np.diff(s) > 0.0)


def test_ends_side_by_side_that_lead_opposite_ways_are_no_circuit():
    """Up one side of a valley and down the other: its ends are 40 m apart."""
    n = 300
    angle = np.linspace(0.0, math.pi, n)
    arc = np.column_stack([100.0 + 20.0 * np.sin(angle), 20.0 - 20.0 * np.cos(angle)])
    up = np.column_stack([np.linspace(0.0, 99.0, 100), np.zeros(100)])
    down = np.column_stack([np.linspace(99.0, 0.0, 100), np.full(100, 40.0)])
    x, y = np.vstack([up, arc, down]).T
    points = np.zeros(len(x), POINT)
    points["place"][:, 2], points["place"][:, 0] = x, y
    made = lane_conversion.track_from_lane(FastLane(points, None, version=-1), "valley", "v.ai").road
    assert not made.closed
    assert made.length == pytest.approx(198.0 + 20.0 * math.pi, rel=0.02)


def moved(lane, rows, by):
    lane.points["place"][rows] += by
    return lane


def squeezed(lane, factor):
    lane.points["place"] *= factor
    return lane


FAR = np.float32(3e38)


@pytest.mark.parametrize(
    ("lane", "message"),
    [
        (squeezed(circle(7), 0.5), r"r.ai: too few points, expected 8 or more, got 7$"),
        (
            moved(hill(), slice(200, None), 500.0),
            r"r.ai: point 199: gap in the line, expected <= 120 m, got 7\d\d m to",
        ),
        (
            moved(hill(), slice(200, None), FAR),
            r"r.ai: point 199: gap in the line, .*, got [0-9.e+]+ m to the next; name a",
        ),
        (squeezed(hill(), 0.05), r"r.ai: no length of a road, expected 60 .. 100000 m, got 2\d.\d m$"),
    ],
)
def test_what_is_no_road(lane, message):
    with pytest.raises(DataError, match=message):
        lane_conversion.track_from_lane(lane, "r", "r.ai")


@settings(max_examples=60)
@given(st.lists(st.tuples(*[st.floats(-400.0, 400.0, width=32)] * 3), min_size=3, max_size=40))
def test_any_points_are_a_road_or_refused_in_one_line(places):
    points = np.zeros(len(places), POINT)
    points["place"] = places
    said = "r.ai: "
    try:
        made = lane_conversion.track_from_lane(FastLane(points, None, version=-1), "r", "r.ai").road
    except DataError as error:
        said = str(error)
    else:
        assert np.isfinite(made.table).all()
    assert said.startswith("r.ai: ")
    assert "\n" not in said


def banked_oval():
    """A circle of ours, banked and climbing, as a Track."""
    n = 400
    angle = 2.0 * math.pi * np.arange(n) / n
    made = Road.from_columns(
        2.0 * math.pi * RADIUS / n, True, RADIUS * np.sin(angle), -RADIUS * np.cos(angle), angle,
        np.full(n, 1.0 / RADIUS), z=5.0 * np.sin(angle), grade=5.0 * np.cos(angle) / RADIUS, bank=-0.15,
        width_left=5.0, width_right=6.0,
    )  # fmt: skip
    return Track("oval", "Oval", (made,))


def test_there_and_back_through_the_bytes():
    track = banked_oval()
    lane = decode_fast_lane(encode_fast_lane(lane_conversion.lane_from_line(track, speed=np.full(400, 40.0))))
    # By hand: at s = 0 the car faces our +x, the game's +z; its left, our +y, is the game's +x, the low side.
    assert lane.points["place"][0] == pytest.approx([-RADIUS, 0.0, 0.0], abs=1e-4)
    assert lane.extras["forward"][0] == pytest.approx(np.array([0.0, 0.05, 1.0]) / math.hypot(0.05, 1.0), abs=1e-4)
    normal = np.array([math.tan(0.15), 1.0, -0.05])
    assert lane.extras["normal"][0] == pytest.approx(normal / np.linalg.norm(normal), abs=1e-4)
    assert lane.speed == pytest.approx(40.0)
    back = lane_conversion.track_from_lane(lane, "oval", "oval.ai").road
    s = back.stations()
    was = track.road
    assert back.points(s)[:, :2] == pytest.approx(was.points(s * was.length / back.length)[:, :2], abs=0.15)
    for column, tolerance in ((RoadColumn.BANK, 0.002), (RoadColumn.WIDTH_LEFT, 0.1), (RoadColumn.WIDTH_RIGHT, 0.1),
                              (RoadColumn.GRADE, 0.002), (RoadColumn.Z, 0.1)):  # fmt: skip
        assert back.column(column) == pytest.approx(was.column_at(s, column), abs=tolerance), column


def test_a_circuit_of_the_library_keeps_its_edges():
    track = load_track("hartmoor")
    back = lane_conversion.track_from_lane(
        decode_fast_lane(encode_fast_lane(lane_conversion.lane_from_line(track))), "hartmoor", "h.ai"
    )
    for edge, column, sign in zip(
        back.road.edge_lines(), (RoadColumn.WIDTH_LEFT, RoadColumn.WIDTH_RIGHT), (1.0, -1.0), strict=True
    ):
        s, offset = track.road.locate_many(edge[:, :2], 0).T
        assert sign * offset == pytest.approx(track.road.column_at(s, column), abs=0.3)
    assert back.smoothing.max_shift < 0.2


def test_an_open_road_of_the_library_keeps_its_ends_and_edges():
    track = load_track("serpent_pass")
    back = lane_conversion.track_from_lane(
        decode_fast_lane(encode_fast_lane(lane_conversion.lane_from_line(track))), "pass", "p.ai"
    ).road
    assert not back.closed
    assert back.length == pytest.approx(track.road.length, rel=1e-3)
    for s in (0.0, 1.0):
        assert back.point(s * back.length) == pytest.approx(track.road.point(s * track.road.length), abs=0.01)
    for edge, column, sign in zip(
        back.edge_lines(), (RoadColumn.WIDTH_LEFT, RoadColumn.WIDTH_RIGHT), (1.0, -1.0), strict=True
    ):
        s, offset = track.road.locate_many(edge[:, :2], 0).T
        assert sign * offset == pytest.approx(track.road.column_at(s, column), abs=0.01)
    there, _ = track.road.locate_many(back.table[:, [RoadColumn.X, RoadColumn.Y]], 0).T
    for column, tolerance in ((RoadColumn.Z, 0.02), (RoadColumn.GRADE, 0.002), (RoadColumn.BANK, 0.001)):
        assert back.column(column) == pytest.approx(track.road.column_at(there, column), abs=tolerance), column


def test_a_racing_line_is_written_with_its_distances_to_the_edges():
    track = banked_oval()
    inside = 2.0
    n = len(track.road.table)
    yaw = track.road.column(RoadColumn.YAW)
    line = Road.from_columns(
        track.road.spacing * (RADIUS - inside) / RADIUS, True,
        track.road.column(RoadColumn.X) - inside * np.sin(yaw),
        track.road.column(RoadColumn.Y) + inside * np.cos(yaw), yaw,
        np.full(n, 1.0 / (RADIUS - inside)),
    )  # fmt: skip
    lane = lane_conversion.lane_from_line(track, line)
    assert lane.extras["side_left"] == pytest.approx(3.0, abs=0.02)
    assert lane.extras["side_right"] == pytest.approx(8.0, abs=0.02)
    assert lane.extras["radius"] == pytest.approx(98.0, rel=1e-4)
    # The surface leans to the left: two metres to the left it is lower.
    assert lane.points["place"][0][1] == pytest.approx(-inside * math.tan(0.15), abs=0.01)


def test_the_height_is_that_of_the_nearest_point_of_the_line(tmp_path):
    track = load_track("serpent_pass")
    write_files(tmp_path, SimpleNamespace(track=track, cars=[load_car("gt3")]))
    for s in (100.0, 1500.0, 3000.0):
        x, y, z, _ = track.road.points(s, 1.0)[0].tolist()
        found = find_ground_height(tmp_path, STATIC, x, y)
        assert found.z == pytest.approx(z, abs=0.3)  # points 2 m apart, on a grade of 8 %
        assert found.source.endswith("fast_lane.ai")
    assert track.road.points(3000.0, 0.0)[0][2] > 100.0  # far from 0


def test_without_the_game_its_file_or_its_session_there_is_none(tmp_path):
    assert find_ground_height(tmp_path, STATIC, 0.0, 0.0) is None
    assert find_ground_height(tmp_path, None, 0.0, 0.0) is None
    write_files(tmp_path, SimpleNamespace(track=load_track("kartwerk"), cars=[load_car("kart")]))
    assert find_ground_height(tmp_path, STATIC, 0.0, 0.0) is None
