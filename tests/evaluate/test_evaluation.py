"""The whole of it: short cells in processes of their own, broken off and taken up again."""

import math

import pytest

from trailbrake.errors import UsageError
from trailbrake.evaluate.cell_result import CellLap, CellResult
from trailbrake.evaluate.evaluation import build_rows, check_cells, evaluate
from trailbrake.evaluate.options import EvaluationOptions, EvaluationRunOptions
from trailbrake.evaluate.plan import Cell, list_cells

DRIVER = """
import os
from trailbrake.state import Controls

class Driver:
    NEEDS = frozenset({"x"})
    def reset(self, course):
        if "crash" in course.car.name:
            os._exit(3)
    def act(self, state, dt):
        return Controls(throttle=0.5)
"""


def write_driver(folder):
    path = folder / "half.py"
    path.write_text(DRIVER)
    return path


@pytest.mark.slow
def test_cells_are_driven_once_and_one_that_dies_is_a_row(tmp_path):
    driver = write_driver(tmp_path)
    believed = tmp_path / "crash.toml"
    from trailbrake.cars import car_library

    believed.write_text((car_library.LIBRARY / "gt3.toml").read_text().replace('name = "gt3"', 'name = "crash"'))
    options = EvaluationOptions(drivers=str(driver), tracks="hartmoor", cars="gt3", laps=1, seconds=2.0,
                                believed_car=str(believed))  # fmt: skip
    running = EvaluationRunOptions(out=tmp_path / "out", jobs=1)
    lines = []
    first = evaluate(options, running, lines.append)
    dead, reference = first["cells"]
    assert (dead["role"], dead["outcome"], reference["role"]) == ("judged", "error", "reference")
    assert "exit code 3" in dead["ended"]
    assert (reference["outcome"], reference["ended"]) == ("crash", "0 of 1 laps in 2 s")
    assert reference["distance_m"] > 1.0
    (errors,) = first["car_files"]
    assert (errors["car"], errors["lateral_grip"], errors["delay_s"]) == ("gt3", 0.0, 0.0)
    again = evaluate(options, running, lines.append)
    assert (again["kept"], again["drove"]) == (1, 1)  # errors are tried again
    assert again["cells"][1] == reference


def test_names_are_checked_before_anything_is_driven(tmp_path):
    running = EvaluationRunOptions(out=tmp_path / "none")
    for options in (
        EvaluationOptions(cars="gt33"), EvaluationOptions(tracks="hartmor"), EvaluationOptions(drivers="line_folow"),
        EvaluationOptions(sims="asseto"), EvaluationOptions(condition=("griq=1",)),
    ):  # fmt: skip
        with pytest.raises(UsageError):
            evaluate(options, running, lambda text: None)
    with pytest.raises(UsageError, match="--jobs"):
        evaluate(EvaluationOptions(), EvaluationRunOptions(jobs=-1), lambda text: None)
    assert not (tmp_path / "none").exists()
    check_cells([Cell(sim="assetto", track="hartmoor", car="random:3", driver="line_follow", believed_car="no.toml")])


def test_rows_compare_with_reference_and_baseline():
    planned = list_cells(EvaluationOptions(believed_car="x.toml", condition=("grip=0.9",), laps=3))

    def driven(*times):
        laps = tuple(CellLap(k + 1, time, True) for k, time in enumerate(times))
        return CellResult(outcome="clean", laps=laps, mean_speed_mps=100.0 / times[-1])

    by_role = {
        "judged": driven(60.0, 55.0, 52.0),
        "baseline": driven(58.0, 50.0, 50.0),
        "reference": driven(60, 50, 51),
    }
    rows = build_rows(planned, {item.cell: by_role[item.role] for item in planned})
    judged = next(row for row in rows if row["role"] == "judged")
    assert judged["ratio"] == pytest.approx(52.0 / 50.0)
    assert judged["reference_s"] == pytest.approx(50.0)
    assert judged["ratio_after"] == pytest.approx([1.10, 1.04])
    assert judged["time_lost_s"] == pytest.approx(2.0 + 5.0 + 2.0)
    assert judged["speed_ratio"] == pytest.approx(51.0 / 52.0)
    reference = next(row for row in rows if row["role"] == "reference" and row["condition"] == "none")
    assert math.isnan(reference["ratio"])
    missing = build_rows(planned, {})
    assert missing == []
