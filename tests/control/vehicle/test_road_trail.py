"""The trail of a car on a road without a map."""

import math

import pytest

from trailbrake.control.vehicle.road_trail import HALF_WIDTH, MAX_DISTANCE, MIN_SPEED, RoadTrail

RADIUS = 50.0  # m, of a bend to the left round the origin


def drive_bend(trail, place=0.5):
    """Drive a quarter of the bend, `place` half roads left of its middle."""
    for k in range(90):
        turn = math.radians(k)
        away = RADIUS - place * HALF_WIDTH
        trail.add_place(away * math.cos(turn), away * math.sin(turn), turn + math.pi / 2.0, (12.0, 0.0), place)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_place_beside_the_road_is_measured_from_its_middle(side):
    trail = RoadTrail()
    drive_bend(trail)
    away = RADIUS - side * 7.0
    turn = math.radians(40.0)
    offset, direction = trail.locate(away * math.cos(turn), away * math.sin(turn))
    assert offset == pytest.approx(side * 7.0, abs=0.2)
    assert direction == pytest.approx(turn + math.pi / 2.0, abs=0.05)


@pytest.mark.parametrize(
    ("velocity", "place"),
    [((0.5 * MIN_SPEED, 0.0), 0.0), ((-10.0, 0.0), 0.0), ((10.0, 6.0), 0.0), ((10.0, 0.0), 1.0),
     ((10.0, 0.0), math.nan), ((math.nan, math.nan), 0.0)],
    ids=["slow", "backwards", "sliding", "off the road", "no line", "no velocity"],
)  # fmt: skip
def test_a_car_that_does_not_follow_the_road_leaves_no_trail(velocity, place):
    trail = RoadTrail()
    trail.add_place(0.0, 0.0, 0.0, velocity, place)
    assert trail.locate(0.0, 0.0) is None


def test_far_from_the_trail_nothing_is_known_and_another_place_begins_another():
    trail = RoadTrail()
    drive_bend(trail)
    far = RADIUS + MAX_DISTANCE + 10.0
    assert trail.locate(far, 0.0) is None
    trail.add_place(10.0 * far, 0.0, 1.0, (12.0, 0.0), 0.0)
    assert trail.locate(RADIUS, 0.0) is None
    assert trail.locate(10.0 * far, 0.0)[1] == pytest.approx(1.0)


def test_a_copy_is_another_trail():
    trail = RoadTrail()
    other = trail.copy()
    drive_bend(trail)
    assert other.locate(RADIUS, 0.0) is None
