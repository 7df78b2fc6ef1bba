"""The expo demos' controllers against their formulas as the protocol page has them, in the demos' own places."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.drivers.originals.expo_demos import (
    DemoPiController,
    StartFrame,
    demo_lane_offset,
    demo_steer,
    demo_wheel_torques,
)


def page_steering(y, v, game_yaw, y_ref):
    return min(max(0.05 * ((y - v * math.cos(game_yaw)) - y_ref), -1.0), 1.0)


@given(y=st.floats(860.0, 885.0), v=st.floats(0.0, 40.0), turn=st.floats(-1.0, 1.0), high=st.booleans())
def test_steering_is_the_page_s_in_the_game_s_own_frame(y, v, turn, high):
    # The car starts at y = 870 towards +X, where the game's yaw is 90 degrees.
    expected = page_steering(y, v, math.pi / 2 + turn, 875.0 if high else 870.0)
    assert demo_steer(y - 870.0, v, turn, 5.0 if high else 0.0) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("x", "v", "y_ref"), [(-920, 13.9, 870), (-884, 13.9, 870), (-883.8, 13.9, 875),
                                               (-834, 13.9, 875), (-833.8, 13.9, 870), (-870, 0, 870)])  # fmt: skip
def test_the_lane_is_the_page_s_from_the_start_on(x, v, y_ref):
    assert 870.0 + demo_lane_offset(x + 920.0, v) == y_ref


def test_the_pi_splits_and_winds_up():
    pi = DemoPiController(0.1, 0.01)
    assert pi.update(50.0 / 3.6, 0.005) == (1.0, 0.0)
    for _ in range(2000):
        pi.update(50.0 / 3.6, 0.005)  # 10 s at the limit: 0.01 * 13.89 * 10 m = 1.39 wound up
    throttle, brake = pi.update(0.0, 0.005)
    assert (throttle, brake) == (1.0, 0.0)
    throttle, brake = pi.update(-20.0, 0.005)
    assert throttle == 0.0
    assert brake == pytest.approx(2.0 - 0.01 * 50.0 / 3.6 * 2001 * 0.005)


def test_torques_of_a_left_bend():
    # 30 degrees of wheel to the left: s = 0.003. 3000 N m at half throttle, far from the cap.
    drive, brake = demo_wheel_torques(0.5, 0.0, math.radians(30.0), 3, 20.0)
    assert drive == pytest.approx([1500 * 0.197, 1500 * 0.203, 1500 * 0.297, 1500 * 0.303])
    assert brake == (0.0, 0.0, 0.0, 0.0)
    _, brake = demo_wheel_torques(0.0, 0.2, math.radians(30.0), 3, 20.0)
    assert brake == pytest.approx([1000 * 0.297, 1000 * 0.303, 1000 * 0.197, 1000 * 0.203])


def test_torques_fall_with_speed_and_follow_the_gear():
    full = [sum(demo_wheel_torques(1.0, 0.0, 0.0, 1, v)[0]) for v in (0.0, 37.5, 42.0, 45.0, 60.0)]
    assert full == pytest.approx([3000.0, 3000.0, 1200.0, 0.0, 0.0])
    assert sum(demo_wheel_torques(1.0, 0.0, 0.0, -1, 0.0)[0]) == pytest.approx(-3000.0)
    assert sum(demo_wheel_torques(1.0, 0.0, 0.0, 0, 0.0)[0]) == 0.0


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
