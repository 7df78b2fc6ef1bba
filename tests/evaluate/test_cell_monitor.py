from types import SimpleNamespace

import pytest

from trailbrake.evaluate.cell_monitor import HEADWAY_TIME, STUCK_LIMIT, CellMonitor
from trailbrake.laps import LapRecord
from trailbrake.state import CarState, WheelState

LENGTH = 1000.0


def lap(number, valid=True, contacts=0):
    return LapRecord(number, 50.0, valid, (), "" if valid else "more than two wheels off the road", 0.0, contacts)


def make_monitor(finished=(), *, laps=2, seconds=600.0, closed=True):
    road = SimpleNamespace(length=LENGTH, closed=closed)
    plant = SimpleNamespace(track=SimpleNamespace(road=road), laps=lambda car: list(finished))
    return CellMonitor(plant, laps, seconds)


def state(time, progress, *, off=0, contacts=0.0, speed=20.0):
    wheels = tuple(WheelState(on_track=0.0 if i < off else 1.0) for i in range(4))
    return CarState(time=time, lap_progress=progress, wheels=wheels, contacts=contacts, speed=speed)


def test_a_cell_is_over_after_its_laps_and_clean_if_all_are_valid():
    finished = [lap(1), lap(2)]
    monitor = make_monitor(finished)
    for k in range(100):
        monitor.observe_state(state(1.0 * k, (k % 50) / 50.0), k // 50)
        assert not monitor.ended
    monitor.observe_state(state(100.0, 0.0), 2)
    assert monitor.ended
    result = monitor.build_result("", 48.0)
    assert (result.outcome, result.ended, len(result.laps), result.predicted_s) == ("clean", "", 2, 48.0)
    assert result.distance_m == pytest.approx(2000.0)
    assert result.mean_speed_mps == pytest.approx(20.0)
    assert result.stuck_s == 0.0


def test_times_off_the_road_are_counted_by_episode():
    monitor = make_monitor([lap(1), lap(2, valid=False)])
    for k, off in enumerate([0, 3, 3, 2, 4, 0]):
        monitor.observe_state(state(0.1 * k, 0.01 * k, off=off), 0)
    monitor.observe_state(state(1.0, 0.0), 2)
    result = monitor.build_result("", float("nan"))
    assert (result.outcome, result.off_track_count, result.predicted_s) == ("off", 2, None)
    assert result.off_track_s == pytest.approx(0.3)


def test_a_car_that_rocks_without_headway_is_stuck_and_the_cell_ends():
    monitor = make_monitor(seconds=1e9)
    monitor.observe_state(state(0.0, 0.3), 0)
    time = 0.0
    while not monitor.ended:
        time += 0.5
        monitor.observe_state(state(time, 0.3 + 0.0005 * (time % 2.0), speed=1.0), 0)
    assert time == pytest.approx(STUCK_LIMIT, abs=1.0)
    result = monitor.build_result("", float("nan"))
    assert result.outcome == "crash"
    assert "stuck in lap 1" in result.ended
    assert result.stuck_s == pytest.approx(STUCK_LIMIT - HEADWAY_TIME, abs=1.0)


def test_a_car_without_fuel_is_over_when_it_stands():
    watch = make_monitor(laps=3)
    steps = 0
    while not watch.ended:
        rolling = state(0.1 * steps, 0.2, speed=max(9.0 - 0.1 * steps, 0.0))
        rolling.fuel = 0.0
        watch.observe_state(rolling, 1)
        steps += 1
    assert steps == pytest.approx(87, abs=2)
    assert watch.reason == "no fuel in lap 2, 200 m after the line"


def test_a_contact_or_a_driver_that_gave_up_is_a_crash():
    touched = make_monitor([lap(1), lap(2)])
    touched.observe_state(state(0.0, 0.0, contacts=1.0), 2)
    assert touched.build_result("", 50.0).outcome == "crash"
    failed = make_monitor([lap(1)])
    failed.observe_state(state(0.0, 0.0), 1)
    result = failed.build_result("driver x raised ValueError", 50.0)
    assert (result.outcome, result.ended) == ("crash", "driver x raised ValueError")


def test_the_time_is_limited_and_an_open_road_is_driven_once():
    slow = make_monitor(seconds=10.0)
    slow.observe_state(state(0.0, 0.0), 0)
    slow.observe_state(state(10.0, 0.5), 0)
    assert (slow.ended, slow.reason) == (True, "0 of 2 laps in 10 s")
    road = make_monitor([lap(1)], closed=False)
    road.observe_state(state(0.0, 1.0), 1)
    assert (road.ended, road.reason) == (True, "")


def test_an_open_road_that_is_driven_to_its_end_counts_once():
    road = make_monitor([lap(1)], closed=False)
    for k in range(11):
        road.observe_state(state(2.0 * k, 0.1 * k), int(k == 10))
    result = road.build_result("", float("nan"))
    assert result.distance_m == pytest.approx(LENGTH)
    assert result.mean_speed_mps == pytest.approx(50.0)
