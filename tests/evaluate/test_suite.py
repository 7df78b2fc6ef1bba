import math

import pytest

from trailbrake.cars.car_library import car_names
from trailbrake.errors import DataError, UsageError
from trailbrake.evaluate.cell_result import CellLap, CellResult
from trailbrake.evaluate.suite import (
    compute_ratio,
    list_suite_cells,
    list_suites,
    load_suite,
    parse_suite,
    score_drivers,
)

TEXT = """
name = "short"
text = "two roads"
sim = "assetto"
seed = 3
laps = 2
slowest_ratio = 3.0
reference_command = "none"
[[cells]]
track = "pinegrove"
car = "gt3"
reference_s = 50.0
[[cells]]
track = "hartmoor"
car = "f1"
reference_s = 40.0
"""


def drive_laps(*times, outcome="clean", valid=True):
    laps = tuple(CellLap(number, time, valid) for number, time in enumerate(times, 1))
    return CellResult(outcome=outcome, laps=laps, time_s=sum(times), steps=1000, processor_s=36.0)


def test_the_suites_of_the_package_can_be_driven():
    assert list_suites() == ["race-v1"]
    suite = load_suite("suite/race-v1")
    assert suite == load_suite("race-v1")
    assert len({(cell.track, cell.car) for cell in suite.cells}) == len(suite.cells) == 10
    assert {cell.car for cell in suite.cells} <= set(car_names())
    assert sum(cell.track.startswith("gen:9") for cell in suite.cells) == 5
    assert suite.laps * len(suite.cells) == 50


def test_cells_are_those_of_the_suite_for_each_driver():
    planned = list_suite_cells(parse_suite(TEXT, "here"), ["a", "policy:b.npz"], ("k=1",), "gains.toml")
    assert [item.cell.driver for item in planned] == ["a", "a", "policy:b.npz", "policy:b.npz"]
    cell = planned[1].cell
    assert (cell.track, cell.car, cell.seed, cell.laps, cell.seconds) == ("hartmoor", "f1", 3, 2, 240.0)
    assert (cell.gain, cell.config) == (("k=1",), "gains.toml")
    assert all(item.reference is None for item in planned)


def test_ratios_are_over_the_reference_lap_and_of_flying_laps():
    suite = parse_suite(TEXT, "here")
    cell = list_suite_cells(suite, ["a"])[0].cell
    assert compute_ratio(suite, cell, drive_laps(49.0, 55.0)) == pytest.approx(1.1)
    assert math.isnan(compute_ratio(suite, cell, drive_laps(49.0)))  # no flying lap


def test_who_crashes_is_behind_who_is_slow():
    suite = parse_suite(TEXT, "here")
    results = {}
    for driver, outcomes in {
        "crasher": (drive_laps(60.0, 50.0), drive_laps(50.0, outcome="crash")),
        "slow": (drive_laps(90.0, 80.0), drive_laps(90.0, 80.0)),
        "quick": (drive_laps(60.0, 55.0), drive_laps(60.0, 46.0)),
        "cutter": (drive_laps(60.0, 50.0, outcome="off", valid=False), drive_laps(60.0, 46.0)),
    }.items():
        planned = list_suite_cells(suite, [driver])
        results |= {item.cell: result for item, result in zip(planned, outcomes, strict=True)}
    scores = score_drivers(suite, results)
    assert [score["driver"] for score in scores] == ["quick", "slow", "cutter", "crasher"]
    quick, crasher = scores[0], scores[-1]
    assert quick["ratio_mean"] == pytest.approx((55.0 / 50.0 + 46.0 / 40.0) / 2)
    assert (quick["steps"], quick["processor_h"], quick["crash_rate"]) == (2000, pytest.approx(0.02), 0.0)
    assert (quick["valid_laps"], quick["laps_to_drive"]) == (4, 4)
    assert math.isnan(crasher["ratio_mean"])  # of the whole suite or none
    assert (crasher["ratio_median"], crasher["crash_rate"]) == (1.0, 0.5)


def test_an_unknown_suite_names_the_nearest():
    with pytest.raises(UsageError, match="suite/race-v1"):
        load_suite("suite/race-1")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [("laps = 2", "laps = 1", "laps"), ("reference_s = 40.0", "reference_s = 0", "reference_s"),
     ("seed = 3", "seeds = 3", "seeds"), ("name", "[name", "TOML")],
)  # fmt: skip
def test_a_declaration_that_is_wrong_says_where(old, new, words):
    with pytest.raises(DataError, match=words):
        parse_suite(TEXT.replace(old, new), "here")
