"""Rows beside a road: a straight of known width; and beside an impact on its wall."""

import math

import numpy as np
import pytest

from trailbrake.learning.identification.drive_table import (
    HALF_CAR,
    RoadBounds,
    find_impacts,
    find_rows_on_road,
    make_table,
)
from trailbrake.state.tables import CONTROL_COLUMNS, STATE_COLUMNS


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


def test_acceleration_away_from_the_road_is_that_of_its_crests_and_dips():
    """On a slope a car that gains speed rises faster as well, and is pressed no harder."""
    time, gain = np.arange(0.0, 10.0, 0.02), 3.0
    speed = 20.0 + gain * time
    x, wave = 20.0 * time + 0.5 * gain * time**2, 2.0 * math.pi / 150.0
    height = 0.03 * x + np.cos(wave * x) * (x > 200.0)
    state = {column.name: np.full(len(time), np.nan) for column in STATE_COLUMNS}
    state |= {"time": time, "speed": speed, "x": x, "y": 0.0 * x, "z": height, "acceleration_x": gain + 0.0 * x,
              "acceleration_y": 0.0 * x, "roll": 0.0 * x}  # fmt: skip
    table = make_table(state, {column.name: np.full(len(time), np.nan) for column in CONTROL_COLUMNS})
    flat = (table.x > 10.0) & (table.x < 180.0)
    wavy = (table.x > 230.0) & (table.x < x[-1] - 20.0)
    assert table.az[flat] == pytest.approx(0.0, abs=0.01)
    curved = -np.cos(wave * table.x) * (wave * table.vx) ** 2
    assert table.az[wavy] == pytest.approx(curved[wavy], abs=0.2)
