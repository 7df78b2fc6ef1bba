"""The speed for a road that is only felt, by closed forms."""

import math

import pytest

from trailbrake.control.vehicle.speed_control import MIN_SPEED, BendGains, BendSpeedLimiter

DT = 1 / 60
GAINS = BendGains(lateral=5.0, memory=500.0, rise=1.0, floor=1.0)


def run(sense, seconds, speed, radius, most=33.0):
    rate = speed / radius if radius else 0.0
    for _ in range(round(seconds / DT)):
        wanted = sense.limit_speed(most, speed, rate, DT)
    return wanted


def test_a_bend_is_taken_at_its_lateral_acceleration():
    sense = BendSpeedLimiter(BendGains(lateral=5.0, memory=1e9, rise=100.0, floor=1.0))
    assert run(sense, 5.0, 20.0, 50.0) == pytest.approx(math.sqrt(5.0 * 50.0), rel=1e-3)
    sense = BendSpeedLimiter(BendGains(lateral=5.0, memory=1e9, rise=100.0, floor=1.0))
    assert run(sense, 5.0, 20.0, -50.0) == pytest.approx(math.sqrt(5.0 * 50.0), rel=1e-3)


def test_a_bend_is_forgotten_with_distance():
    sense = BendSpeedLimiter(BendGains(lateral=5.0, memory=500.0, rise=100.0, floor=1.0))
    run(sense, 5.0, 15.0, 30.0)
    # 3 s until the felt curvature has gone, then 15 m/s x 40 s = 600 m of straight
    assert run(sense, 40.0, 15.0, 0.0, most=99.0) == pytest.approx(math.sqrt(150.0 * math.exp(600 / 500.0)), rel=0.02)


def test_a_road_begins_with_the_speed_of_the_bends_that_are_expected():
    gains = BendGains(lateral=5.0, memory=500.0, rise=100.0, floor=1.0, expected=60.0)
    sense = BendSpeedLimiter(gains)
    assert run(sense, 1.0, 0.0, 0.0, most=99.0) == pytest.approx(math.sqrt(5.0 * 60.0), rel=1e-3)
    assert run(sense, 50.0, 10.0, 0.0, most=99.0) == pytest.approx(math.sqrt(5.0 * 60.0 * math.e), rel=0.01)


def test_it_starts_at_the_floor_at_once():
    assert BendSpeedLimiter(BendGains()).limit_speed(33.0, 0.0, 0.0, DT) == pytest.approx(40.0 * 0.44704)


def test_the_speed_grows_no_quicker_than_it_may():
    assert run(BendSpeedLimiter(GAINS), 10.0, 10.0, 0.0) == pytest.approx(MIN_SPEED + 10.0)


def test_a_car_that_stands_still_may_go():
    # the original's radius is 0 there, and it never starts
    sense = BendSpeedLimiter(GAINS)
    assert sense.limit_speed(33.0, 0.0, 0.0, DT) > 0.0
    assert run(sense, 1.0, 0.0, 0.0) > 1.0


def test_wobbling_near_standstill_is_no_bend():
    sense = BendSpeedLimiter(GAINS)
    for _ in range(600):
        wanted = sense.limit_speed(33.0, 1.0, 0.5, DT)
    assert wanted == pytest.approx(MIN_SPEED + 10.0)


def test_below_the_floor_no_bend_slows():
    sense = BendSpeedLimiter(BendGains(lateral=5.0, memory=1e9, rise=100.0, floor=14.0))
    assert run(sense, 5.0, 20.0, 10.0) == 14.0
