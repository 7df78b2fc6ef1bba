"""Rehearsals in the loop over a wire in memory: nothing is sent, and no answer changes."""

import pytest
from helpers.fakes import FakeCar, FakeDriver, FakeTap

from trailbrake.driving.loop.drive_loop import CarLoop, run_loop
from trailbrake.driving.loop.supervisor import Supervisor
from trailbrake.state import Controls
from trailbrake.system import steady_clock


def loop(car, driver, tap, ticks, supervisor=None):
    def goal():
        return "" if len(tap.seen) >= ticks else None

    return run_loop(CarLoop(car, driver, supervisor or Supervisor(), [tap], goal), car)


class Rehearsing(FakeCar):
    """Rehearses in every wait, before the sample has come and after."""

    def __init__(self):
        super().__init__()
        self.rehearsed = []

    def wait_for_sample(self, link, rehearse=None):
        assert rehearse() == (self.waits == 0)  # the wire in memory begins with a sample
        now = super().wait_for_sample(link)
        assert rehearse()
        return now

    def rehearse(self, controls):
        self.rehearsed.append(controls)


def test_a_rehearsal_calls_no_driver_and_changes_no_answer():
    def zigzag(state, dt):  # beyond what the supervisor passes on: its memory of the last answer decides
        return Controls(steer=1.0 if state.sequence % 2 else -1.0, throttle=1.5)

    runs = []
    for car in (FakeCar(), Rehearsing()):
        driver, supervisor, tap = FakeDriver(zigzag), Supervisor(), FakeTap()
        loop(car, driver, tap, 20, supervisor)
        runs.append((driver.seen, car.written, supervisor.counters))
    assert runs[0] == runs[1]
    assert len(car.rehearsed) == 19


def test_a_rehearsable_driver_is_called_and_its_answer_is_not_sent(monkeypatch):
    class Actor(FakeDriver):
        def rehearse(self, state, dt):
            return Controls(throttle=0.01 * state.sequence)

    car, driver, tap = Rehearsing(), Actor(), FakeTap()
    monkeypatch.setattr(steady_clock, "now", lambda: car.now)
    loop(car, driver, tap, 5)
    assert [controls.throttle for controls in car.rehearsed] == pytest.approx([0.01, 0.02, 0.03, 0.04])
    assert all(controls.throttle != 0.01 for controls in car.written)
    assert len(driver.seen) == 5


def test_a_rehearsal_that_fails_is_not_tried_again_and_stops_no_car(monkeypatch):
    class Stumbles(FakeDriver):
        calls = 0

        def rehearse(self, state, dt):
            self.calls += 1
            raise ValueError("no")

    car, driver, tap = Rehearsing(), Stumbles(), FakeTap()
    monkeypatch.setattr(steady_clock, "now", lambda: car.now)
    result = loop(car, driver, tap, 5)
    assert (driver.calls, result.ticks, result.reason) == (1, 5, "")
