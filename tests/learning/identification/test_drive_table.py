"""Rows beside a road: a straight of known width; and beside an impact on its wall."""

import numpy as np
import pytest

from trailbrake.learning.identification.drive_table import HALF_CAR, RoadBounds, find_impacts, find_rows_on_road


def straight(left=4.0, right=3.0):
    x = np.arange(0.0, 100.0, 5.0)
    zero = np.zeros_like(x)
    return RoadBounds(np.column_stack([x, zero]), np.column_stack([x, zero + left]), np.column_stack([x, zero - right]))


def test_a_car_is_on_the_road_while_its_outer_wheels_are():
    y = np.array([0.0, 4.0 - HALF_CAR - 0.1, 4.0 - HALF_CAR + 0.1, -3.0 + HALF_CAR + 0.1, -3.0 + HALF_CAR - 0.1])
    inside = find_rows_on_road(np.full(5, 42.0), y, straight())
    assert inside.tolist() == [True, True, False, True, False]


def test_many_places_are_looked_up_in_blocks():
    rng = np.random.default_rng(3)
    x, y = rng.uniform(5.0, 90.0, 5000), rng.uniform(-6.0, 6.0, 5000)
    expected = (y < 4.0 - HALF_CAR) & (y > HALF_CAR - 3.0)
    assert (find_rows_on_road(x, y, straight()) == expected).all()


def test_a_place_that_is_not_known_counts_as_on_the_road():
    assert find_rows_on_road(np.array([np.nan]), np.array([np.nan]), straight()).all()


@pytest.mark.parametrize("rate", [10.0, 60.0, 333.0])
def test_rows_beside_an_impact_are_told_from_hard_braking(rate):
    """A wall that a car met once a lap passed for grip: its limit lap by GPS was 6 % too quick."""
    rng = np.random.default_rng(5)
    time = np.arange(0.0, 40.0, 1.0 / rate)
    speed = 40.0 - 15.0 * np.clip((time % 10.0) - 5.0, 0.0, 1.5) + 0.05 * rng.standard_normal(len(time))
    across = 12.0 * ((time % 10.0) < 3.0) + 0.2 * rng.standard_normal(len(time))
    assert not find_impacts(time, speed, across).any()
    hit = find_impacts(time, speed - 3.0 * (time > 22.0), across)
    assert hit[np.abs(time - 22.0) < 0.4].all()
    assert not hit[np.abs(time - 22.0) > 0.7].any()
    brushed = find_impacts(time, speed - 2.0 * (time > 22.0), across)  # in a bend
    assert brushed[np.abs(time - 22.0) < 0.4].all()
