import math

import pytest

from trailbrake.driving.loop.drive_loop import DRIFT_MARGIN, LONGEST_GAP_S, STANDSTILL_TIME_S, StandstillTimer
from trailbrake.state import CarState

PERIOD = 0.01
NEEDED = round(STANDSTILL_TIME_S / PERIOD)


def feed(states):
    """Return the number of the state with which the car stands; None if it never does."""
    timer = StandstillTimer(0.3)
    return next((number for number, state in enumerate(states) if timer.add_state(state)), None)


def standing(number, **values):
    return CarState(**{"time": number * PERIOD, "x": 1.0, "y": 2.0, "speed": 0.0} | values)


def test_without_positions_the_speed_decides():
    assert feed(standing(n, x=math.nan, y=math.nan) for n in range(200)) == pytest.approx(NEEDED, abs=1)


@pytest.mark.parametrize("speed", [0.3, 20.0, math.nan])
def test_one_sample_of_a_moving_car_begins_it_anew(speed):
    states = (standing(n, speed=speed if n == 40 else 0.0) for n in range(200))
    assert feed(states) == pytest.approx(41 + NEEDED, abs=1)


def stands_after(*states):
    """Return whether the last of `states` shows that the car stands: each (time, x, y)."""
    timer = StandstillTimer(0.3)
    return [timer.add_state(CarState(time=time, x=x, y=y, speed=0.0)) for time, x, y in states][-1]


def test_the_limits_are_those_that_were_decided():
    assert (STANDSTILL_TIME_S, LONGEST_GAP_S, DRIFT_MARGIN) == (0.5, 1.0, 0.5)


@pytest.mark.parametrize(
    ("states", "stands"),
    [
        ([(0.0, 1.0, 2.0), (0.499, 1.0, 2.0)], False),
        ([(0.0, 1.0, 2.0), (0.5, 1.0, 2.0)], True),
        ([(0.0, 1.0, 2.0), (0.25, 1.0, 2.0), (0.25, 1.0, 2.0), (0.5, 1.0, 2.0)], True),  # a sample once more
        ([(0.0, 1.0, 2.0), (1.0, 1.0, 2.0)], True),  # the longest gap
        ([(0.0, 1.0, 2.0), (1.001, 1.0, 2.0)], False),
        ([(9.0, 1.0, 2.0), (0.0, 1.0, 2.0), (0.5, 1.0, 2.0)], True),  # a clock that goes back begins anew
        ([(0.0, 1.0, 2.0), (0.25, 1.5, 2.0), (0.5, 1.0, 2.5)], True),  # as far as a standing car appears to move
        ([(0.0, 1.0, 2.0), (0.5, 1.501, 2.0)], False),
        ([(0.0, 1.0, 2.0), (0.5, 1.0, 2.501)], False),
        ([(0.0, 1.0, 2.0), (0.25, 1.6, 2.0), (0.5, 1.6, 2.0)], False),
        ([(0.0, 1.0, 2.0), (0.25, 1.6, 2.0), (0.75, 1.6, 2.0)], True),  # and from there on it stood
    ],
)
def test_consecutive_samples_at_one_place_show_a_car_that_stands(states, stands):
    assert stands_after(*states) is stands
