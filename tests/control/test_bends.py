"""The speed for a road that is only felt, by closed forms."""

import math

import pytest

from trailbrake.control.bends import SLOWEST, BendGains, BendSense

DT = 1 / 60
GAINS = BendGains(lateral=5.0, memory=500.0, rise=1.0, floor=1.0)


def run(sense, seconds, speed, radius, most=33.0):
    rate = speed / radius if radius else 0.0
    for _ in range(round(seconds / DT)):
        wanted = sense.speed(most, speed, rate, DT)
    return wanted


def test_a_bend_is_taken_at_its_lateral_acceleration():
    sense = BendSense(BendGains(lateral=5.0, memory=1e9, rise=100.0, floor=1.0))
    assert run(sense, 5.0, 20.0, 50.0) == pytest.approx(math.sqrt(5.0 * 50.0), rel=1e-3)
    sense = BendSense(BendGains(lateral=5.0, memory=1e9, rise=100.0, floor=1.0))
    assert run(sense, 5.0, 20.0, -50.0) == pytest.approx(math.sqrt(5.0 * 50.0), rel=1e-3)


def test_a_bend_is_forgotten_with_distance():
    sense = BendSense(BendGains(lateral=5.0, memory=500.0, rise=100.0, floor=1.0))
    run(sense, 5.0, 15.0, 30.0)
    # 3 s until the felt curvature has gone, then 15 m/s x 40 s = 600 m of straight
    assert run(sense, 40.0, 15.0, 0.0, most=99.0) == pytest.approx(math.sqrt(150.0 * math.exp(600 / 500.0)), rel=0.02)


def test_the_speed_grows_no_quicker_than_it_may():
    assert run(BendSense(GAINS), 10.0, 10.0, 0.0) == pytest.approx(SLOWEST + 10.0)


def test_a_car_that_stands_still_may_go():
    # the original's radius is 0 there, and it never starts
    sense = BendSense(GAINS)
    assert sense.speed(33.0, 0.0, 0.0, DT) > 0.0
    assert run(sense, 1.0, 0.0, 0.0) > 1.0


def test_wobbling_near_standstill_is_no_bend():
    sense = BendSense(GAINS)
    for _ in range(600):
        wanted = sense.speed(33.0, 1.0, 0.5, DT)
    assert wanted == pytest.approx(SLOWEST + 10.0)


def test_below_the_floor_no_bend_slows():
    sense = BendSense(BendGains(lateral=5.0, memory=1e9, rise=100.0, floor=14.0))
    assert run(sense, 5.0, 20.0, 10.0) == 14.0
