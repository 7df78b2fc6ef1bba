"""Steering by the place across the road: signs, faults of the wire, and a point that slides across a road."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.control.lane import LaneGains, LaneKeeper, LineSense

DT = 1 / 60


def feed(sense, places, *, speed=15.0, yaw_rate=0.0):
    for k, place in enumerate(places):
        sense.update(place, speed, yaw_rate, DT if k else 0.0)
    return sense


def test_a_wrapped_byte_is_not_believed():
    sense = feed(LineSense(), [0.9, 0.95, 1.0, -1.0, -0.98])
    assert sense.place == 1.0


def test_another_road_is_believed_in_the_end():
    sense = feed(LineSense(), [0.9] * 3 + [-0.9] * 40)
    assert sense.place == -0.9


def test_a_quick_car_is_no_jump():
    slide = [0.1 * k for k in range(10)]  # 6 half roads a second
    assert feed(LineSense(), slide).place == pytest.approx(0.9)


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=40))
def test_whatever_comes_it_answers_a_steer(places):
    keeper = LaneKeeper(LaneGains())
    for place in places:
        assert -1.0 <= keeper.steer(place, 15.0, 0.1, DT) <= 1.0
        assert 0.0 <= keeper.ease() <= 1.0


def test_no_number_is_no_line():
    keeper = LaneKeeper(LaneGains())
    assert keeper.steer(math.nan, 15.0, 0.0, DT) == 0.0
    assert keeper.ease() == 0.0


def test_left_of_the_middle_it_steers_right():
    keeper = LaneKeeper(LaneGains())
    assert keeper.steer(0.2, 15.0, 0.0, 0.0) < -0.1
    keeper = LaneKeeper(LaneGains())
    assert keeper.steer(-0.2, 15.0, 0.0, 0.0) > 0.1


def test_a_drift_to_the_left_is_met_before_the_car_is_left():
    keeper = LaneKeeper(LaneGains())
    for k in range(30):
        steer = keeper.steer(-0.2 + 0.005 * k, 15.0, 0.0, DT if k else 0.0)
    assert steer < 0.0


def test_it_slows_towards_an_edge_but_not_in_the_middle():
    keeper = LaneKeeper(LaneGains())
    keeper.steer(0.1, 15.0, 0.0, 0.0)
    assert keeper.ease() == 1.0
    keeper = LaneKeeper(LaneGains())
    keeper.steer(0.9, 15.0, 0.0, 0.0)
    assert 0.29 < keeper.ease() < 0.5


def test_a_car_that_moves_aside_while_the_line_stays_zero_has_no_line():
    # It leans to the right: 0.02 of full steer, here 0.16 m/s^2. Free roam: the line stays 0 for ever.
    sense = LineSense()
    for k in range(600):
        sense.update(0.0, 15.0, 0.16 / 15.0 * math.copysign(1.0, sense.lean), DT if k else 0.0)
    assert not sense.known
    assert sense.lean < 0.0
    sense.update(0.01, 15.0, 0.0, DT)  # there it is
    assert sense.known


def test_a_car_at_rest_or_one_that_cannot_have_moved_has_a_line():
    assert feed(LineSense(), [0.0] * 600, speed=0.0).known
    assert feed(LineSense(), [0.0] * 100, speed=30.0, yaw_rate=0.5).known  # less than two seconds


@pytest.mark.parametrize("start", [0.8, -0.6])
def test_a_point_mass_settles_in_the_middle(start):
    # y'' = 7 m/s^2 x steer, on a road 7.6 m wide, 60 Hz, quantised as on the wire.
    keeper, y, rate = LaneKeeper(LaneGains()), start * 3.8, 0.0
    worst = 0.0
    for k in range(60 * 15):
        steer = keeper.steer(round(127 * y / 3.8) / 127, 15.0, 0.0, DT if k else 0.0)
        rate += 7.0 * steer * DT
        y += rate * DT
        worst = max(worst, abs(y))
    assert abs(y) < 0.1
    assert worst <= abs(start) * 3.8 + 0.01
