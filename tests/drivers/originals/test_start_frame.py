"""The frame of a start against rotations by hand."""

import math

import pytest

from trailbrake.drivers.originals.start_frame import StartFrame


def test_the_first_place_is_the_origin():
    assert StartFrame().to_start_frame(3.0, -7.0, 2.0) == (0.0, 0.0, 0.0)


def test_towards_plus_y_ahead_is_y_and_left_is_minus_x():
    frame = StartFrame()
    frame.to_start_frame(10.0, 20.0, math.pi / 2)
    ahead, left, yaw = frame.to_start_frame(7.0, 25.0, math.pi)
    assert (ahead, left, yaw) == pytest.approx((5.0, 3.0, math.pi / 2))


def test_as_the_demo_stands_towards_plus_x_it_is_a_shift():
    frame = StartFrame()
    frame.to_start_frame(-920.0, 870.0, 0.0)
    assert frame.to_start_frame(-870.0, 875.0, 0.1) == pytest.approx((50.0, 5.0, 0.1))
