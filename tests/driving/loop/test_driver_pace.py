"""The pace of a simulator by the time that its driver needs; the simulator loses samples when its steps are short."""

import numpy as np
import pytest

from trailbrake.driving.loop.driver_pace import FIRST_STEP_S, FIRST_WINDOW, DriverPace


class PacedSimulator:
    """Its steps take what is requested, in whole milliseconds; an answer that takes longer costs samples."""

    def __init__(self, slowest=1.0):
        self.step_time, self.lost, self.slowest, self.requests = 0.003, 0, slowest, []

    def set_step_time(self, seconds):
        self.step_time = min(np.ceil(seconds * 1e3) / 1e3, self.slowest)
        self.requests.append(seconds)
        return self.step_time

    def answer(self, pace, seconds):
        self.lost += int(seconds / self.step_time)
        pace.add_answer(seconds, self.lost)


def run(answers, simulator=None):
    simulator = simulator or PacedSimulator()
    pace = DriverPace(simulator)
    for seconds in answers:
        simulator.answer(pace, seconds)
    return simulator, pace


def test_it_begins_slowly_and_then_takes_as_long_as_the_answers():
    simulator, pace = run([0.03] * 50)
    assert simulator.requests[0] == FIRST_STEP_S
    assert simulator.lost == pace.missed == 0
    assert pace.step_time == pytest.approx(0.037, abs=1e-9)
    assert len(simulator.requests) == 2


def test_a_quick_driver_hurries_the_simulator():
    _, pace = run([0.0001] * 50)
    assert pace.step_time == pytest.approx(0.003)


def test_a_slower_answer_makes_longer_steps_at_once():
    simulator, pace = run([0.03] * 20 + [0.035] + [0.03] * 20)
    assert simulator.lost == 0
    assert pace.step_time >= 1.15 * 0.035


def test_samples_that_were_lost_are_counted_and_not_lost_again():
    rng = np.random.default_rng(7)
    simulator, pace = run([*[0.01] * FIRST_WINDOW, 0.035, *(0.01 + 0.01 * rng.random(100))])
    assert pace.missed == simulator.lost > 0
    assert pace.step_time >= 0.035


def test_an_outlier_is_forgotten_after_a_while():
    simulator, pace = run([0.01] * 20 + [0.0115] + [0.001] * 300)
    assert simulator.lost == 0
    assert pace.step_time < 0.005


def test_losses_that_are_not_the_driver_s_lengthen_the_step_too():
    simulator = PacedSimulator()
    pace = DriverPace(simulator)
    for _ in range(20):
        pace.add_answer(0.01, 0)
    before = pace.step_time
    pace.add_answer(0.01, 3)
    assert pace.step_time >= 1.3 * before
    assert pace.missed == 3


def test_a_loss_is_forgotten_after_a_while_too():
    pace = DriverPace(PacedSimulator())
    for lost in [0] * 20 + [1] * 5:
        pace.add_answer(0.01, lost)
    longer = pace.step_time
    for _ in range(250):
        pace.add_answer(0.01, 1)
    assert pace.step_time < 0.8 * longer


def test_a_learner_s_updates_do_not_slow_down_the_steps_between_them():
    simulator, pace = run(([0.03] * 64 + [0.5]) * 6)
    assert (pace.missed, pace.interruptions) == (0, 6)
    assert simulator.lost > 0
    assert pace.step_time == pytest.approx(0.037, abs=1e-9)


def test_a_driver_that_becomes_slower_for_good_is_waited_for():
    _, pace = run([0.01] * 200 + [0.1] * 40)
    assert pace.step_time >= 0.1
    assert pace.interruptions <= 21


def test_an_interruption_changes_nothing():
    simulator, pace = run([0.01] * 20)
    before = pace.step_time
    simulator.answer(pace, 3.0)
    simulator.answer(pace, 0.01)
    assert pace.step_time == before
    assert (pace.missed, pace.interruptions) == (0, 1)
