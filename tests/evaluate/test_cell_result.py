import msgspec
import pytest

from trailbrake.driving.road_monitor import RoadMonitor
from trailbrake.evaluate.cell_result import CellLap, CellResult, build_result, failed_result
from trailbrake.evaluate.cell_task import make_cell_goal
from trailbrake.laps import LapRecord
from trailbrake.state import CarState, WheelState
from trailbrake.tracks.track_library import load_track

ROAD = load_track("kartwerk").road
NAN = float("nan")


def lap(number, valid=True):
    return LapRecord(number, 50.0, valid, (), "" if valid else "more than two wheels off the road", 0.0, 0)


def watch(states, laps=()):
    """Return a monitor that has seen states of a world: (time, progress, wheels off, contacts), and its laps."""
    monitor = RoadMonitor(ROAD)
    for time, progress, off, contacts in states:
        wheels = tuple(WheelState(on_track=0.0 if i < off else 1.0) for i in range(4))
        x, y, _ = ROAD.point(progress * ROAD.length)
        monitor.observe_state(
            CarState(time=time, x=x, y=y, lap_progress=progress, wheels=wheels, contacts=contacts, speed=20.0),
            laps if time >= 100.0 else (),
        )
    return monitor


def test_a_result_survives_its_file():
    result = CellResult(outcome="off", laps=(CellLap(1, 61.5, False, "contact", 0.5, 1),), mean_speed_mps=None)
    assert msgspec.json.decode(msgspec.json.encode(result), type=CellResult) == result


def test_a_cell_that_could_not_be_driven_says_why():
    assert (failed_result("no file", 2.0).outcome, failed_result("no file").ended) == ("error", "no file")


def test_a_cell_is_clean_if_all_its_laps_are_valid():
    drive = [(1.0 * k, (k % 50) / 50.0 if k < 50 else 0.99, 0, 0.0) for k in range(100)]
    monitor = watch([*drive, (100.0, 0.0, 0, 0.0)], [lap(1), lap(2)])
    assert make_cell_goal(2, 600.0).judge(monitor) == ""
    result = build_result(monitor, "", 48.0)
    assert (result.outcome, result.ended, len(result.laps), result.predicted_s) == ("clean", "", 2, 48.0)
    assert result.distance_m == pytest.approx(2.0 * ROAD.length)
    assert result.mean_speed_mps == pytest.approx(0.02 * ROAD.length)
    assert result.time_s == 100.0


def test_laps_that_do_not_count_are_off_and_times_off_the_road_are_counted():
    states = [(0.1 * k, 0.01 * k, off, 0.0) for k, off in enumerate([0, 3, 3, 2, 4, 0])]
    result = build_result(watch([*states, (100.0, 0.9, 0, 0.0)], [lap(1), lap(2, valid=False)]), "", NAN)
    assert (result.outcome, result.off_track_count, result.predicted_s) == ("off", 2, None)
    assert result.off_track_s == pytest.approx(0.3)


def test_a_contact_or_another_end_is_a_crash():
    touched = watch([(0.0, 0.0, 0, 1.0), (100.0, 0.9, 0, 1.0)], [lap(1), lap(2)])
    assert (build_result(touched, "", 50.0).outcome, build_result(touched, "", 50.0).contacts) == ("crash", 1)
    failed = build_result(watch([(0.0, 0.0, 0, 0.0)]), "driver x raised ValueError", 50.0)
    assert (failed.outcome, failed.ended) == ("crash", "driver x raised ValueError")


def test_a_cell_ends_without_headway_without_fuel_and_without_time():
    goal = make_cell_goal(2, 600.0)
    stuck = watch([(0.5 * k, 0.3, 0, 0.0) for k in range(242)])
    assert goal.judge(stuck) == f"stuck in lap 1, {0.3 * ROAD.length:.0f} m after the line"
    assert build_result(stuck, "", NAN).stuck_s == pytest.approx(115.0, abs=1.0)
    late = watch([(0.0, 0.0, 0, 0.0), (600.0, 0.5, 0, 0.0)])
    assert goal.judge(late) == "0 of 2 laps in 600 s"
    late.observe_state(CarState(time=601.0, lap_progress=0.51, speed=0.1, fuel=0.0), [])
    assert goal.judge(late).startswith("no fuel in lap 1")
