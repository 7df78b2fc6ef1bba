"""Feet that feel a wheel run away: where they begin, where they end, and that they know the direction."""

import math

import pytest

from trailbrake.control.vehicle.slip_limit import SPIN_END, SPIN_START, HeldPedal, slip_limited_share, turn_in_share

PEAK = 0.08


@pytest.mark.parametrize("speed", [0.0, 1.0, 10.0, 60.0])
def test_rolling_and_slips_below_the_peak_keep_the_pedal(speed):
    assert slip_limited_share(0.0, speed, PEAK) == 1.0
    assert slip_limited_share(0.8 * PEAK * speed, speed, PEAK) == 1.0
    assert slip_limited_share(-5.0, speed, PEAK) == 1.0  # slides the other way: another pedal's business


@pytest.mark.parametrize("speed", [10.0, 30.0, 80.0])
def test_a_wheel_that_runs_away_loses_its_pedal_the_sooner_the_slower_the_car(speed):
    shares = [slip_limited_share(k * 0.1 * PEAK * speed, speed, PEAK) for k in range(60)]
    assert shares == sorted(shares, reverse=True)
    assert slip_limited_share(1.2 * PEAK * speed, speed, PEAK) < 1.0
    assert slip_limited_share(2.0 * PEAK * speed + 2.0, speed, PEAK) == 0.0


def test_near_standstill_it_eases_by_degrees():
    assert 0.0 < slip_limited_share(1.0, 0.5, PEAK) < 1.0
    assert slip_limited_share(10.0, 0.5, PEAK) == 0.0


def test_backwards_and_unknown_are_no_trouble():
    assert 0.0 <= slip_limited_share(1.0, -3.0, PEAK) <= 1.0
    assert slip_limited_share(math.nan, 20.0, PEAK) == 1.0


def test_a_sliding_rear_takes_the_turn_in_away_and_a_gripping_one_takes_nothing():
    shares = [turn_in_share(slip) for slip in (0.0, SPIN_START, 1.3, SPIN_END, 9.0)]
    assert shares == pytest.approx([1.0, 1.0, 0.5, 0.0, 0.0])


def press(pedal, share, seconds, wanted=0.8, dt=0.01):
    pressed = wanted
    for _ in range(round(seconds / dt)):
        pressed = pedal.limit_pedal(wanted, share, dt)
    return pressed


def test_a_pedal_that_locked_a_wheel_comes_back_lower_and_rises_by_degrees():
    pedal = HeldPedal()
    assert press(pedal, 1.0, 0.5) == 0.8
    assert press(pedal, 0.0, 0.05) == 0.0
    after = press(pedal, 1.0, 0.01)
    assert 0.4 < after < 0.7
    assert after < press(pedal, 1.0, 0.2) < 0.8
    assert press(pedal, 1.0, 1.0) == 0.8


def test_a_released_pedal_forgets():
    pedal = HeldPedal()
    press(pedal, 0.0, 0.2)
    assert press(pedal, 1.0, 0.01) < 0.5
    assert pedal.limit_pedal(0.0, 1.0, 0.01) == 0.0
    assert press(pedal, 1.0, 0.01) == 0.8


def test_a_wheel_that_locks_above_a_pedal_is_braked_near_it():
    """The wheel locks at a pedal above 0.5, 30 ms late, and turns again below it."""
    pedal, pressed, late = HeldPedal(), [], [0.0, 0.0, 0.0]
    for _ in range(300):
        late.append(pedal.limit_pedal(0.8, 0.0 if late[-3] > 0.5 else 1.0, 0.01))
        pressed.append(late[-1])
    assert 0.38 < sum(pressed[100:]) / 200 < 0.5
