"""Steering by the place across the road: signs, faults of the wire, and a point that slides across a road."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.control.vehicle.lane_keeping import LaneGains, LaneKeeper, LanePositionFilter

DT = 1 / 60


def feed(sense, places, *, speed=15.0, yaw_rate=0.0):
    for k, place in enumerate(places):
        sense.update(place, speed, yaw_rate, DT if k else 0.0)
    return sense


def test_a_wrapped_byte_is_not_believed():
    sense = feed(LanePositionFilter(), [0.9, 0.95, 1.0, -1.0, -0.98])
    assert sense.place == 1.0


def test_another_road_is_believed_in_the_end():
    sense = feed(LanePositionFilter(), [0.9] * 3 + [-0.9] * 40)
    assert sense.place == -0.9


def test_a_quick_car_is_no_jump():
    slide = [0.1 * k for k in range(10)]  # 6 half roads a second
    assert feed(LanePositionFilter(), slide).place == pytest.approx(0.9)


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=40))
def test_whatever_comes_it_answers_a_steer(places):
    keeper = LaneKeeper(LaneGains())
    for place in places:
        assert -1.0 <= keeper.compute_steer(place, 15.0, 0.1, DT) <= 1.0
        assert 0.0 <= keeper.speed_share() <= 1.0


def test_no_number_is_no_line():
    keeper = LaneKeeper(LaneGains())
    assert keeper.compute_steer(math.nan, 15.0, 0.0, DT) == 0.0
    assert keeper.speed_share() == 0.0


def test_left_of_the_middle_it_steers_right():
    keeper = LaneKeeper(LaneGains())
    assert keeper.compute_steer(0.2, 15.0, 0.0, 0.0) < -0.1
    keeper = LaneKeeper(LaneGains())
    assert keeper.compute_steer(-0.2, 15.0, 0.0, 0.0) > 0.1


def test_a_drift_to_the_left_is_met_before_the_car_is_left():
    keeper = LaneKeeper(LaneGains())
    for k in range(30):
        steer = keeper.compute_steer(-0.2 + 0.005 * k, 15.0, 0.0, DT if k else 0.0)
    assert steer < 0.0


def test_it_slows_towards_an_edge_but_not_in_the_middle():
    keeper = LaneKeeper(LaneGains())
    keeper.compute_steer(0.1, 15.0, 0.0, 0.0)
    assert keeper.speed_share() == 1.0
    keeper = LaneKeeper(LaneGains())
    keeper.compute_steer(0.9, 15.0, 0.0, 0.0)
    assert 0.29 < keeper.speed_share() < 0.5


def test_a_car_that_moves_aside_while_the_line_stays_zero_has_no_line():
    # It leans to the right: 0.02 of full steer, here 0.16 m/s^2. Free roam: the line stays 0 for ever.
    sense = LanePositionFilter()
    for k in range(600):
        sense.update(0.0, 15.0, 0.16 / 15.0 * math.copysign(1.0, sense.probe_steer), DT if k else 0.0)
    assert not sense.known
    assert sense.probe_steer < 0.0
    sense.update(0.01, 15.0, 0.0, DT)  # there it is
    assert sense.known


def test_a_car_at_rest_or_one_that_cannot_have_moved_has_a_line():
    assert feed(LanePositionFilter(), [0.0] * 600, speed=0.0).known
    assert feed(LanePositionFilter(), [0.0] * 100, speed=30.0, yaw_rate=0.5).known  # less than two seconds


@pytest.mark.parametrize("speed", [17.9, 33.5])
def test_a_point_mass_keeps_the_middle_of_a_road_200_m_wide(speed):
    # One step of the line is 0.8 m; the integral must not make the car swing from side to side.
    keeper, y, heading, yaw_rate, worst = LaneKeeper(LaneGains()), 0.0, 0.01, 0.0, 0.0
    for k in range(60 * 120):
        steer = keeper.compute_steer(round(127 * y / 100.0) / 127, speed, yaw_rate, DT if k else 0.0)
        yaw_rate = 7.0 * steer / speed
        heading += yaw_rate * DT
        y += speed * math.sin(heading) * DT
        worst = max(worst, abs(y))
        assert keeper.position_filter.known
    assert worst < 4.0


@pytest.mark.parametrize("start", [0.8, -0.6])
def test_a_point_mass_settles_in_the_middle(start):
    # y'' = 7 m/s^2 x steer, on a road 7.6 m wide, 60 Hz, quantised as on the wire.
    keeper, y, rate = LaneKeeper(LaneGains()), start * 3.8, 0.0
    worst = 0.0
    for k in range(60 * 15):
        steer = keeper.compute_steer(round(127 * y / 3.8) / 127, 15.0, 0.0, DT if k else 0.0)
        rate += 7.0 * steer * DT
        y += rate * DT
        worst = max(worst, abs(y))
    assert abs(y) < 0.1
    assert worst <= abs(start) * 3.8 + 0.01
