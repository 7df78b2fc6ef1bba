import math

import msgspec
import pytest

from trailbrake.driving.road_monitor import RoadMonitor
from trailbrake.evaluate.cell_result import (
    CellLap,
    CellResult,
    build_result,
    compute_time_lost,
    failed_result,
    find_best_time,
    list_best_ratios,
    list_timed_laps,
    summarize_rows,
    summarize_values,
)
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
    result = CellResult(outcome="off", laps=(CellLap(1, 61.5, False, "contact", 0.5, 1),), mean_progress_mps=None)
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
    assert result.mean_progress_mps == pytest.approx(0.02 * ROAD.length)
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


LAPS = (CellLap(1, 70.0, True), CellLap(2, 62.0, True), CellLap(3, 59.0, False), CellLap(4, 60.0, True))


def result(**values):
    return CellResult(outcome="clean", laps=LAPS, **values)


def test_flying_laps_are_timed_and_the_lap_from_rest_where_there_is_no_other():
    assert [lap.number for lap in list_timed_laps(result(), 4)] == [2, 3, 4]
    assert [lap.number for lap in list_timed_laps(result(), 1)] == [1, 2, 3, 4]
    assert [lap.number for lap in list_timed_laps(result(closed=False), 4)] == [1, 2, 3, 4]


def test_the_best_lap_is_valid():
    assert find_best_time(LAPS) == 60.0
    assert math.isnan(find_best_time(LAPS[2:3]))


def test_ratios_are_of_the_best_lap_so_far():
    assert list_best_ratios(LAPS[1:], 50.0) == pytest.approx([1.24, 1.24, 1.2])
    assert math.isnan(list_best_ratios(LAPS[2:3], 50.0)[0])
    assert math.isnan(list_best_ratios(LAPS, math.nan)[0])


def test_time_is_lost_over_all_laps_and_only_if_all_were_driven():
    slower = [CellLap(lap.number, lap.time_s + lap.number, False) for lap in LAPS]
    assert compute_time_lost(slower, LAPS) == pytest.approx(1.0 + 2.0 + 3.0 + 4.0)
    assert math.isnan(compute_time_lost(slower[:3], LAPS))
    assert math.isnan(compute_time_lost([], []))


def test_summaries_leave_out_what_is_no_number():
    summary = summarize_values([1.0, math.nan, 3.0, 8.0])
    assert summary == {"count": 3, "median": 3.0, "mean": 4.0, "least": 1.0, "most": 8.0}
    assert summarize_values([])["count"] == 0


def test_rows_are_summarized_by_group():
    def row(driver, outcome, ratio):
        return {"driver": driver, "outcome": outcome, "ratio": ratio, "speed_ratio": None, "time_lost_s": math.nan,
                "mean_progress_mps": 20.0}  # fmt: skip

    first, second = summarize_rows([row("a", "clean", 1.0), row("b", "error", math.nan), row("a", "crash", 1.2)],
                                   ["driver"])  # fmt: skip
    assert (first["driver"], first["cells"], first["clean"], first["crash"]) == ("a", 2, 1, 1)
    assert first["ratio"]["median"] == pytest.approx(1.1)
    assert (second["driver"], second["error"], second["ratio"]["count"]) == ("b", 1, 0)
