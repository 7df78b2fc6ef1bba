"""The port against the package itself, whose clock is handed in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from simple_pid import PID

from trailbrake.drivers.originals.simple_pid import SimplePid

GAINS = [((1.0, 1.0, 1.0), 20.0, (0.0, 1.0)), ((4 / 127, 0.5 / 127, 8 / 127), 0.0, (-1.0, 1.0))]


@pytest.mark.parametrize(("gains", "setpoint", "limits"), GAINS)
@given(steps=st.lists(st.tuples(st.floats(0.0, 4.0), st.floats(-300.0, 300.0)), max_size=60))
def test_the_same_numbers_as_the_package(gains, setpoint, limits, steps):
    now = 0.0
    original = PID(*gains, setpoint=setpoint, output_limits=limits, time_fn=lambda: now)
    ours = SimplePid(*gains, setpoint, limits)
    for step, value in steps:
        now += step
        assert ours.update(value, now) == original(value)


def test_quantised_steps_kick_as_the_protocol_page_says():
    # Section 5, edge case 1: 0 0 1 1 1 1 0 0 at 1/60 s gives 0 0 1 0.032 0.032 0.032 -1 0 on the stick.
    pid = SimplePid(4 / 127, 0.5 / 127, 8 / 127, 0.0, limits=(-1.0, 1.0))
    stick = [-pid.update(value, (k + 1) / 60) for k, value in enumerate((0, 0, 1, 1, 1, 1, 0, 0))]
    assert stick == pytest.approx([0, 0, 1, 0.032, 0.032, 0.032, -1, 0], abs=1e-3)


def test_a_call_too_soon_gets_the_old_answer():
    pid = SimplePid(1.0, 0.0, 0.0, 0.0, limits=(-10.0, 10.0))
    assert [pid.update(v, t) for v, t in ((1.0, 0.02), (2.0, 0.024), (3.0, 0.028), (4.0, 0.031))] == [-1, -1, -1, -4]
