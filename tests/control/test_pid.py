"""The PID against closed forms."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.control.pid import LowPass, PidController

NUMBERS = st.floats(-1e6, 1e6)


@given(st.floats(0.01, 2.0), st.lists(st.floats(0.0, 0.5), min_size=1, max_size=20))
def test_a_step_decays_exponentially_whatever_the_steps_in_time(tau, steps):
    low = LowPass(tau)
    low.update(1.0, 0.0)
    for step in steps:
        value = low.update(0.0, step)
    assert value == pytest.approx(math.exp(-math.fsum(steps) / tau), abs=1e-12)


def test_without_a_time_constant_everything_passes():
    low = LowPass(0.0)
    assert [low.update(v, 0.1) for v in (1.0, -3.0)] == [1.0, -3.0]


def test_proportional_and_integral_of_a_constant():
    pid = PidController(0.1, 0.05)
    for _ in range(100):
        output = pid.update(1.0, 0.02)
    assert output == pytest.approx(0.1 + 0.05 * 2.0)


def test_the_rate_of_a_ramp_is_its_slope_once_the_filter_has_settled():
    pid = PidController(0.0, 0.0, 0.25, tau=0.1)
    for k in range(200):
        output = pid.update(2.0 * k / 60, 1 / 60)
    assert pid.slope == pytest.approx(2.0, rel=1e-6)
    assert output == pytest.approx(0.5, rel=1e-6)


def test_a_quantised_step_is_no_full_lock():
    # the original's: 8/127 per step and s, at 60 Hz full lock for one frame
    pid = PidController(0.0, 0.0, 8.0, tau=0.15)
    pid.update(0.0, 0.0)
    assert abs(pid.update(1.0 / 127, 1 / 60)) < 0.5


def test_the_integral_does_not_wind_up():
    pid = PidController(1.0, 1.0)
    for _ in range(1000):
        assert pid.update(5.0, 0.02) == 1.0
    assert pid.update(-0.01, 0.02) < 0.1  # it comes off the limit at once


def test_the_integral_keeps_within_its_reach():
    pid = PidController(0.0, 1.0, max_integral=0.3)
    for _ in range(100):
        output = pid.update(0.5, 0.1)
    assert output == 0.3


def test_a_gap_has_no_rate_and_no_area():
    pid = PidController(0.0, 1.0, 1.0)
    pid.update(0.0, 0.0)
    pid.update(0.1, 0.01)
    held = pid.update(0.1, 0.01)
    assert pid.update(0.9, 0.0) == pytest.approx(held, abs=0.02)
    assert pid.slope == 0.0


@given(st.lists(st.tuples(NUMBERS, st.floats(0.0, 10.0)), max_size=50))
def test_the_output_stays_within_its_limits(steps):
    pid = PidController(2.0, 0.7, 3.0, tau=0.1)
    for error, dt in steps:
        assert -1.0 <= pid.update(error, dt) <= 1.0
