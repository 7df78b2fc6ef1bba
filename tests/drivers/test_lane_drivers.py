"""The mended drivers, where the originals go wrong: the edge cases of section 5 of the protocol page, one by one."""

import itertools
import math

import pytest

from trailbrake.drivers import cruise, curvature_cut, lane_keep
from trailbrake.state import CarState

DT = 1 / 60
MENDED = [lane_keep, curvature_cut]


def ready(module):
    driver = module.Driver()
    driver.reset(None)
    return driver


def drive(driver, rows, dt=DT):
    """Answer rows of (ndl, speed, yaw rate); the first has no step, as in a drive."""
    answers = []
    for k, (ndl, speed, yaw_rate) in enumerate(rows):
        state = CarState(driving_line=ndl / 127, speed=speed, yaw_rate=yaw_rate)
        answers.append(driver.act(state, dt if k else 0.0))
    return answers


@pytest.mark.parametrize("module", MENDED)
def test_1_one_step_of_the_wire_is_no_full_lock(module):
    answers = drive(ready(module), [(ndl, 15.0, 0.0) for ndl in (0, 0, 1, 1, 1, 1, 0, 0)])
    assert max(abs(a.steer) for a in answers) < 0.6
    assert answers[2].steer < answers[1].steer


@pytest.mark.parametrize("module", MENDED)
def test_2_a_fifth_of_the_way_to_the_edge_is_not_full_lock_yet(module):
    (answer,) = drive(ready(module), [(25, 15.0, 0.0)])
    assert -1.0 < answer.steer < -0.3


@pytest.mark.parametrize("module", MENDED)
def test_3_a_long_error_does_not_wind_up(module):
    driver = ready(module)
    answers = drive(driver, [(127, 15.0, 0.0)] * 600 + [(127 - k, 15.0, 0.0) for k in range(1, 128)])
    assert answers[599].steer == -1.0
    back = drive(driver, [(-40, 15.0, 0.0)] * 5)
    assert back[-1].steer > 0.0


@pytest.mark.parametrize("module", MENDED)
def test_4_a_wrapped_byte_does_not_turn_the_wheel_round(module):
    answers = drive(ready(module), [(ndl, 15.0, 0.0) for ndl in (100, 110, 120, 127, -127, -120)])
    assert all(a.steer == -1.0 for a in answers[3:])


def test_5_it_starts_from_perfect_rest():
    assert drive(ready(curvature_cut), [(0, 0.0, 0.0)] * 60)[-1].throttle > 0.3


def test_5_turning_on_the_spot_is_no_bend():
    turning = drive(ready(curvature_cut), [(0, 2.0, 0.3)] * 120)  # a radius of 7 m
    assert turning[-1].throttle > 0.3


def test_6_pitching_and_rolling_are_no_bend():
    assert not {"pitch_rate", "roll_rate"} & curvature_cut.Driver.NEEDS


def test_7_a_bend_is_slowed_for_before_it_is_a_spin():
    # 20 m/s in a bend of 40 m is 10 m/s^2: the original's cut comes at 35 m
    answers = drive(ready(curvature_cut), [(10, 20.0, 0.0)] * 1200 + [(10, 20.0, 0.5)] * 120)
    assert answers[-1].brake > 0.1


def test_8_after_a_bend_the_throttle_does_not_jump():
    driver = ready(curvature_cut)
    drive(driver, [(10, 18.0, 0.0)] * 600 + [(10, 15.0, 0.5)] * 180)
    after = drive(driver, [(10, 12.0, 0.4)] * 60)
    assert max(abs(b.throttle - a.throttle) for a, b in itertools.pairwise(after[1:])) < 0.2


@pytest.mark.parametrize("module", [cruise, *MENDED])
def test_9_too_fast_brakes(module):
    assert drive(ready(module), [(0, 45.0, 0.0)] * 30)[-1].brake > 0.2


@pytest.mark.parametrize("module", MENDED)
def test_10_without_a_line_it_stops_and_steers_straight(module):
    (answer,) = drive(ready(module), [(math.nan, 15.0, 0.0)])
    assert answer.steer == 0.0
    assert answer.brake > 0.3
    assert answer.throttle == 0.0


@pytest.mark.parametrize("module", MENDED)
def test_11_every_answer_sets_both_pedals(module):
    fast, slow = ready(module), ready(module)
    assert drive(fast, [(0, 45.0, 0.0)] * 2)[-1].throttle == 0.0
    assert drive(slow, [(0, 5.0, 0.0)] * 2)[-1].brake == 0.0


@pytest.mark.parametrize("module", MENDED)
def test_12_numbers_of_any_kind_will_do(module):
    import numpy as np

    driver = ready(module)
    state = CarState(driving_line=np.float32(0.1), speed=np.float32(15.0), yaw_rate=np.float32(0.0))
    answer = driver.act(state, 0.0)
    assert -1.0 <= answer.steer <= 0.0


def test_gains_are_obeyed():
    driver = cruise.Driver(cruise.CruiseGains(speed=30.0))
    driver.reset(None)
    assert drive(driver, [(0, 25.0, 0.0)] * 2)[-1].throttle > 0.5
    driver = lane_keep.Driver(lane_keep.LaneKeepGains(steer_p=0.5))
    driver.reset(None)
    assert drive(driver, [(25, 15.0, 0.0)])[-1].steer == pytest.approx(-0.5 * 25 / 127)
