"""Heading control: signs, the short way round, how hard it may steer, and that it learns a pull away."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.control.vehicle.lane_keeping import (
    MAX_APPROACH_ANGLE,
    MAX_STEER_SPEED_SQUARED,
    PROPORTIONAL_GAIN,
    HeadingController,
    heading_to_line,
)

DT = 0.005
angles = st.floats(-20.0, 20.0)


def test_left_of_the_nose_steers_left():
    assert (
        HeadingController().compute_steer(0.1, 0.0, 20.0, DT)
        > 0.0
        > HeadingController().compute_steer(-0.1, 0.0, 20.0, DT)
    )


def test_it_goes_the_short_way_round():
    assert HeadingController().compute_steer(math.radians(-179.0), math.radians(179.0), 20.0, DT) > 0.0
    assert HeadingController().compute_steer(math.radians(179.0), math.radians(-179.0), 20.0, DT) < 0.0


@given(heading=angles, yaw=angles, speed=st.floats(0.0, 90.0), turns=st.integers(-3, 3))
def test_whole_turns_change_nothing_and_the_limit_holds(heading, yaw, speed, turns):
    steer = HeadingController().compute_steer(heading, yaw, speed, DT)
    assert abs(steer) <= min(1.0, MAX_STEER_SPEED_SQUARED / max(speed, 5.0) ** 2 * (1 + 1e-12))
    behind = math.pi - abs((heading - yaw + math.pi) % (2 * math.pi) - math.pi) < 1e-6
    if not behind:  # straight behind both ways are as long
        again = HeadingController().compute_steer(heading + 2.0 * math.pi * turns, yaw, speed, DT)
        assert again == pytest.approx(steer, abs=1e-9)


def test_small_errors_get_the_gain_over_the_speed():
    assert HeadingController().compute_steer(0.001, 0.0, 30.0, 0.0) == pytest.approx(
        0.001 * 30.0 * PROPORTIONAL_GAIN * MAX_STEER_SPEED_SQUARED / 30.0**2
    )


def test_it_holds_against_a_car_that_pulls():
    """yaw' = v / L * (steer * lock - pull): a PI leaves no error behind."""
    hold, yaw = HeadingController(), 0.0
    for _ in range(12000):
        steer = hold.compute_steer(0.2, yaw, 20.0, DT)
        yaw += 20.0 / 2.7 * (0.5 * steer - 0.003) * DT
    assert yaw == pytest.approx(0.2, abs=1e-4)


@given(offset=st.floats(-1e4, 1e4), speed=st.floats(0.0, 90.0))
def test_the_way_back_to_a_line_is_odd_and_bounded(offset, speed):
    back = heading_to_line(offset, speed)
    assert abs(back) <= MAX_APPROACH_ANGLE
    assert back == -heading_to_line(-offset, speed)
    assert back * offset <= 0.0
