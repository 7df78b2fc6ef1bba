"""Distances against the closed form of steady braking."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.control.vehicle.following_distance import (
    ASSUMED_DECELERATION,
    STANDSTILL_GAP,
    TIME_HEADWAY,
    limit_pedals_to_speed,
    safe_following_speed,
)


def test_at_the_distance_it_keeps_the_speed_of_the_one_ahead():
    assert safe_following_speed(STANDSTILL_GAP + TIME_HEADWAY * 20.0, 20.0, 20.0) == pytest.approx(20.0)
    assert safe_following_speed(STANDSTILL_GAP, 0.0, 0.0) == 0.0
    assert safe_following_speed(0.0, 10.0, 0.0) == 0.0


@given(st.floats(0.0, 60.0), st.floats(0.0, 100.0))
def test_braking_from_that_speed_ends_at_the_speed_ahead_and_the_distance(ahead, room):
    speed = safe_following_speed(STANDSTILL_GAP + TIME_HEADWAY * 30.0 + room, 30.0, ahead)
    # Closing from `speed` to `ahead` at BRAKING takes (v^2 - u^2) / 2a metres of room.
    assert (speed**2 - ahead**2) / (2 * ASSUMED_DECELERATION) == pytest.approx(room, abs=1e-6)


def test_a_car_that_comes_backwards_leaves_less():
    assert safe_following_speed(30.0, 5.0, -5.0) < safe_following_speed(30.0, 5.0, 0.0) < math.inf


def test_only_who_is_too_fast_is_held_back():
    assert limit_pedals_to_speed(0.7, 0.0, 20.0, math.inf) == (0.7, 0.0)
    assert limit_pedals_to_speed(0.7, 0.1, 20.0, 20.0) == (0.7, 0.1)
    throttle, brake = limit_pedals_to_speed(0.7, 0.0, 20.0, 19.0)
    assert throttle == 0.0 < brake < 1.0
    assert limit_pedals_to_speed(0.7, 0.0, 20.0, 0.0) == (0.0, 1.0)
    assert limit_pedals_to_speed(0.0, 1.0, 20.0, 19.9) == (0.0, 1.0)
