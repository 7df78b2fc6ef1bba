import math

import pytest

from trailbrake.evaluate.cell_result import CellLap, CellResult
from trailbrake.evaluate.statistics import (
    compute_time_lost,
    find_best_time,
    list_best_ratios,
    list_timed_laps,
    summarize_rows,
    summarize_values,
)

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
                "mean_speed_mps": 20.0}  # fmt: skip

    first, second = summarize_rows([row("a", "clean", 1.0), row("b", "error", math.nan), row("a", "crash", 1.2)],
                                   ["driver"])  # fmt: skip
    assert (first["driver"], first["cells"], first["clean"], first["crash"]) == ("a", 2, 1, 1)
    assert first["ratio"]["median"] == pytest.approx(1.1)
    assert (second["driver"], second["error"], second["ratio"]["count"]) == ("b", 1, 0)
