"""Feet that feel a wheel run away: where they begin, where they end, and that they know the direction."""

import math

import pytest

from trailbrake.control.slip import kept

PEAK = 0.08


@pytest.mark.parametrize("speed", [0.0, 1.0, 10.0, 60.0])
def test_rolling_and_slips_below_the_peak_keep_the_pedal(speed):
    assert kept(0.0, speed, PEAK) == 1.0
    assert kept(0.8 * PEAK * speed, speed, PEAK) == 1.0
    assert kept(-5.0, speed, PEAK) == 1.0  # slides the other way: another pedal's business


@pytest.mark.parametrize("speed", [10.0, 30.0, 80.0])
def test_a_wheel_that_runs_away_loses_its_pedal_the_sooner_the_slower_the_car(speed):
    shares = [kept(k * 0.1 * PEAK * speed, speed, PEAK) for k in range(60)]
    assert shares == sorted(shares, reverse=True)
    assert kept(1.2 * PEAK * speed, speed, PEAK) < 1.0
    assert kept(2.0 * PEAK * speed + 2.0, speed, PEAK) == 0.0


def test_near_standstill_it_eases_by_degrees():
    assert 0.0 < kept(1.0, 0.5, PEAK) < 1.0
    assert kept(10.0, 0.5, PEAK) == 0.0


def test_backwards_and_unknown_are_no_trouble():
    assert 0.0 <= kept(1.0, -3.0, PEAK) <= 1.0
    assert kept(math.nan, 20.0, PEAK) == 1.0
