"""Delays and rates of made-up actuators, to a fraction of the wire's period."""

import math

import numpy as np
import pytest

from trailbrake.learning.identification.actuator_response import LEAST_AMBIGUITY, find_response


def square_waves(seconds, period=1 / 60):
    time = np.arange(int(seconds / period)) * period
    return time, 0.5 * np.sign(np.sin(2.0 * np.pi * time / 1.3) + 1e-9)


def rack(time, commanded, delay, rate):
    """Return where a rack is that follows its command of `delay` s ago at a limited rate: in steps of 0.1 ms."""
    fine = np.arange(0.0, time[-1] + 1e-4, 1e-4)
    goal = commanded[np.maximum(np.searchsorted(time, fine - delay + 1e-9, side="right") - 1, 0)]
    now, path = commanded[0], np.empty(len(fine))
    for k, wanted in enumerate(goal):
        now += min(max(wanted - now, -rate * 1e-4), rate * 1e-4)
        path[k] = now
    applied = np.interp(time, fine, path)
    return np.round(applied * 500.0) / 500.0  # as wires count


@pytest.mark.parametrize("delay", [0.0, 0.007, 0.041])
def test_a_delay_is_found_far_below_the_period(delay):
    time, commanded = square_waves(6.0)
    found = find_response(time, commanded, rack(time, commanded, delay, 3.0), usual_rate=2.5)
    assert found.delay.value == pytest.approx(delay, abs=0.002)
    assert found.rate.value == pytest.approx(3.0, rel=0.03)
    assert found.gain.value == pytest.approx(1.0, rel=0.02)


def test_an_echo_has_no_rate():
    time, commanded = square_waves(6.0)
    found = find_response(time, commanded, np.concatenate([commanded[:1], commanded[:-1]]), usual_rate=math.inf)
    assert found.delay.value < 1 / 60
    assert found.error < 0.02


def test_a_stick_that_rests_tells_nothing():
    time, commanded = square_waves(6.0)
    assert find_response(time, 0.0 * commanded, 0.0 * commanded, usual_rate=3.0) is None


def test_windows_are_chosen_by_what_counts():
    # Hard braking is most of what is commanded, and tells nothing: its force is the tyres'.
    time, commanded = square_waves(150.0)
    gentle = time < 20.0
    commanded = np.where(gentle, 0.3 * commanded, commanded)
    found = find_response(
        time, commanded, np.where(gentle, rack(time, commanded, 0.02, 1e3), 0.2), usual_rate=math.inf, counted=gentle,
        averaged=True,
    )  # fmt: skip
    assert found.delay.value == pytest.approx(0.02, abs=0.01)


def test_what_does_not_follow_the_commands_tells_nothing():
    time, commanded = square_waves(20.0)
    noise = np.random.default_rng(3).normal(0.0, 1.0, len(time))
    assert find_response(time, commanded, noise, usual_rate=math.inf) is None


def test_two_delays_that_fit_as_well_are_both_likely():
    """Steps of 0.12 s, again and again: a delay and one that is 0.12 s longer differ in the first steps alone."""
    time = np.arange(0.0, 12.0, 0.003)
    regular = 0.5 + 0.5 * np.sign(np.sin(2.0 * np.pi * time / 0.12) + 1e-9)
    irregular = 0.5 + 0.5 * np.sign(np.sin(2.0 * np.pi * time / 1.3) + 1e-9)
    found = [
        find_response(time, steps, rack(time, steps, 0.02, 1e3), usual_rate=math.inf, averaged=True)
        for steps in (regular, irregular)
    ]
    assert found[0].delay.sigma > LEAST_AMBIGUITY
    assert found[1].delay.sigma < 0.5 * LEAST_AMBIGUITY
    assert found[1].delay.value == pytest.approx(0.02, abs=0.01)
