import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.control.vehicle.waypoint_curve import WaypointCurve, braking_speed_limit, pursuit_curvature


def circle(radius, gap, count=6, turn=1.0):
    """Points on a circle to the left (turn 1) or right (-1) from the origin along x, `gap` m of arc apart."""
    return [(radius * math.sin(k * gap / radius), turn * radius * (1.0 - math.cos(k * gap / radius)))
            for k in range(count)]  # fmt: skip


@pytest.mark.parametrize("turn", [1.0, -1.0])
def test_a_circle_comes_back_as_one(turn):
    line = WaypointCurve(circle(40.0, 15.0, turn=turn))
    middle = turn * 40.0
    for way in (18.0, 22.0, 30.0, 41.0):
        x, y = line.point_at(way)
        assert math.hypot(x, y - middle) == pytest.approx(40.0, abs=0.06)  # chords would be 0.7 m off
    for at, bend in line.point_curvatures():
        assert bend == pytest.approx(turn / 40.0)
        assert 0.0 < at < line.length
    x, y = 45.0 * math.sin(0.5), middle - turn * 45.0 * math.cos(0.5)  # 5 m outside, 20 m of arc on
    assert line.nearest_distance(x, y) == pytest.approx(20.0, rel=0.03)  # the foot is on a chord, not on the arc


def test_straight_on_beyond_the_ends():
    line = WaypointCurve([(0.0, 0.0), (10.0, 0.0), (20.0, 0.0)])
    assert line.point_at(25.0) == pytest.approx((25.0, 0.0))
    assert line.point_at(-3.0) == pytest.approx((-3.0, 0.0))
    assert line.point_at(7.0) == pytest.approx((7.0, 0.0))
    assert line.point_curvatures() == [(10.0, 0.0)]


def test_pure_pursuit_on_a_known_arc():
    for x, y in circle(25.0, 5.0)[1:]:
        assert pursuit_curvature(0.0, 0.0, 0.0, (x, y)) == pytest.approx(1.0 / 25.0)
    assert pursuit_curvature(0.0, 0.0, 0.5 * math.pi, (3.0, 0.0)) < 0.0  # to the right
    assert pursuit_curvature(1.0, 1.0, 0.0, (1.0, 1.0)) == 0.0


def test_speeds_leave_room_to_brake():
    # 4 m/s^2 in a bend of 25 m radius is 10 m/s; 50 m before it, at 3 m/s^2, 20 m/s.
    bends = [(60.0, 1.0 / 25.0)]
    assert braking_speed_limit(bends, 10.0, 4.0, 3.0) == pytest.approx(20.0)
    assert (
        braking_speed_limit(bends, 60.0, 4.0, 3.0) == braking_speed_limit(bends, 80.0, 4.0, 3.0) == pytest.approx(10.0)
    )
    assert braking_speed_limit([], 0.0, 4.0, 3.0) == math.inf


near = st.floats(-1e4, 1e4)


@given(st.lists(st.tuples(near, near), min_size=1, max_size=8), near, near)
def test_any_points_are_a_line(points, x, y):
    line = WaypointCurve(points)
    way = line.nearest_distance(x, y)
    assert 0.0 <= way <= line.length + 1e-6
    assert all(math.isfinite(v) for v in line.point_at(way + 5.0))
    assert all(math.isfinite(bend) for _, bend in line.point_curvatures())
