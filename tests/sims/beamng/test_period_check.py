"""The measured period: by a clock, by the way of the car, and silence where nothing can be known."""

import math

import pytest

from trailbrake.sims.beamng.period_check import PeriodCheck
from trailbrake.state import CarState


def roll(check, period, speed=20.0, messages=400, skip=1, jump_at=-1):
    """Add the states of a car that rolls along X, `period` s of simulator time apart."""
    for k in range(0, messages, skip):
        x = speed * period * k + (500.0 if 0 <= jump_at <= k else 0.0)
        check.add_state(CarState(sequence=k, x=x, y=0.0, z=0.0, speed=speed), math.nan)
        if check.done:
            return


@pytest.mark.parametrize("skip", [1, 3])
def test_the_way_of_the_car(skip):
    check = PeriodCheck(0.0005)
    roll(check, 0.001, skip=skip)
    assert check.measured == pytest.approx(0.001)
    assert "every 1 ms by the way of the car, but the options say 0.5 ms" in check.finding
    check = PeriodCheck(0.001)
    roll(check, 0.001, skip=skip)
    assert (check.done, check.finding) == (True, "")


def test_a_teleport_is_no_way():
    check = PeriodCheck(0.001)
    roll(check, 0.001, jump_at=50)
    assert check.measured == pytest.approx(0.001)
    assert check.finding == ""


@pytest.mark.parametrize("speed", [0.0, 1.0, math.nan])
def test_a_car_at_rest_or_without_a_speed_shows_nothing(speed):
    check = PeriodCheck(0.005)
    roll(check, 0.001, speed=speed)
    assert not check.done
    assert math.isnan(check.measured)


def test_a_clock_that_stands_still_for_a_frame():
    check = PeriodCheck(0.0005)
    for k in range(2000):
        check.add_state(CarState(sequence=k), math.floor(0.001 * k * 60.0) / 60.0)
        if check.done:
            break
    assert check.measured == pytest.approx(0.001, rel=0.05)
    assert check.finding.endswith("give --simulink-time as the game has it: 0.001")
