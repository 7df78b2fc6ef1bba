"""The arithmetic of the bench, and its seats; the figures themselves take minutes and are no test."""

import pytest

from trailbrake.bench import protection as bench
from trailbrake.driving.loop.drive_loop import CarLoop
from trailbrake.driving.loop.driver_watchdog import DriverWatchdog
from trailbrake.driving.loop.supervisor import Supervisor
from trailbrake.state import CarState, Controls


@pytest.fixture
def two_batches(monkeypatch):
    monkeypatch.setattr(bench, "WARM_UP", 2)
    monkeypatch.setattr(bench, "BATCHES", 2)
    monkeypatch.setattr(bench, "PAIRS", 3)


def test_costs_are_differences_of_medians(two_batches):
    protected = [900.0, 900.0, 23.0, 24.0, 500.0, 25.0, 26.0, 27.0]
    checked = [900.0, 900.0, 21.5, 21.5, 21.5, 21.5, 300.0, 21.5]
    bare = [0.0, 0.0, 21.0, 21.0, 400.0, 21.0, 21.0, 21.0]
    steps = [1.0, 1.0, *[50.0] * 18]
    cost = bench.summarise_ticks([protected, checked, bare], steps, 0.25, 60.0)
    assert cost == bench.TickCost(
        added=pytest.approx(4.25), spread=(pytest.approx(3.25), pytest.approx(5.25)), check=pytest.approx(0.75),
        bare=pytest.approx(20.75), step=50.0, rate=60.0,
    )  # fmt: skip


def test_rows_are_shares_of_a_tick_of_lockstep_and_of_a_core(monkeypatch):
    cost = bench.TickCost(2.0, (1.0, 3.0), 0.5, 40.0, 60.0, 100.0)
    monkeypatch.setattr(bench, "measure_ticks", lambda simulator, out: cost)
    monkeypatch.setattr(bench, "measure_drive", lambda name, out: 0.02)
    monkeypatch.setattr(bench, "measure_watch", lambda seconds: (0.0004, 0.0001))
    rows = bench.measure_rows()
    assert [row.name for row in rows] == [
        f"protection_{sim}_{of}_percent" for sim in ("assetto", "forza") for of in ("tick", "lockstep", "core")
    ]
    assert [row.value for row in rows] == pytest.approx([5.0, 0.5, 0.07] * 2)
    assert all((row.unit, row.better) == ("%", "lower") and row.note for row in rows)


class _Wire:
    SUPPLIES = frozenset({"time", "x", "y", "yaw", "speed"})
    period = 0.01

    def __init__(self):
        self.written, self.sequence = [], 0

    def read(self, now):
        self.sequence += 1
        return CarState(time=now, sequence=self.sequence, age=0.0, x=1.0, y=1.0, yaw=0.0, speed=float("nan"))

    def write(self, controls):
        self.written.append(controls)


class _Steps:
    def __init__(self):
        self.count = 0

    def wait_for_sample(self, link):
        self.count += 1
        return self.count * 0.01


class _Idle:
    def act(self, state, dt):
        return Controls()


def test_the_seats_drive_in_turn_and_the_bare_one_by_any_sample():
    wire, steps, supervisor = _Wire(), _Steps(), Supervisor()
    seats = [kind(wire, _Idle(), supervisor, [], lambda: None) for kind in (CarLoop, bench.UncheckedLoop)]
    watchdog = DriverWatchdog(seats, lambda text: None)
    seats[0].attach_watchdog(watchdog)
    connection = type("Wired", (), {"link": wire, "pacer": steps})()
    with watchdog.run():
        checked, bare, stepped = bench.time_ticks(connection, seats, 20)
    assert (len(checked), len(bare), len(stepped), steps.count) == (20, 20, 40, 40)
    assert min(checked + bare + stepped) > 0.0
    state = CarState(time=9.0, sequence=99, age=0.0, x=float("nan"), y=1.0, yaw=float("inf"), speed=3.0)
    assert seats[0].drive_tick(state, 9.0) is None
    assert seats[1].drive_tick(state, 9.0) is not None


def test_checks_that_both_seats_do_take_time(tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "CALLS", 1000)
    assert bench.measure_untimed_checks(tmp_path) > 0.0
