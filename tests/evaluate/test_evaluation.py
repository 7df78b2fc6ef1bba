"""The whole of it: short cells in processes of their own, broken off and taken up again."""

import math
from pathlib import Path

import pytest
from helpers.kept_line import CAR, TRACK, keep_line
from msgspec import structs

from trailbrake.errors import UsageError
from trailbrake.evaluate.cell_result import CellLap, CellResult
from trailbrake.evaluate.cell_task import build_spec, place_cell
from trailbrake.evaluate.evaluation import build_rows, check_cells, evaluate, follow_kept_lines
from trailbrake.evaluate.options import EvaluationOptions, EvaluationRunOptions
from trailbrake.evaluate.plan import Cell, fingerprint_cell, list_cells, list_named_words
from trailbrake.tasks.sent_files import collect_files

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
        return CellResult(outcome="clean", laps=laps, mean_progress_mps=100.0 / times[-1])

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


def cells(**options):
    return list_cells(EvaluationOptions(tracks=TRACK, cars=CAR, **options))


def test_cells_of_drivers_that_follow_a_kept_line_name_it(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_LINES", str(tmp_path))
    plain = cells(drivers="line_track,line_follow", reference_driver="line_track")
    assert follow_kept_lines(plain, print) == plain
    path = keep_line(1.0)
    track, follow = follow_kept_lines(plain, print)[:2]
    assert track.cell.line == str(path)
    assert build_spec(track.cell).first.line == str(path)
    assert follow.cell == plain[1].cell
    assert follow.reference == track.cell


def test_a_cell_without_a_line_looks_for_none(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_LINES", str(tmp_path))
    (planned,) = cells(drivers="line_track")
    keep_line(1.0)
    assert not build_spec(planned.cell).first.cached_line


def test_another_line_is_another_cell(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_LINES", str(tmp_path))
    plain = cells(drivers="line_track")
    keep_line(1.0)
    (one,) = follow_kept_lines(plain, print)
    before = fingerprint_cell(one.cell)
    assert before != fingerprint_cell(plain[0].cell)
    keep_line(1.5)
    (other,) = follow_kept_lines(plain, print)
    assert fingerprint_cell(other.cell) != before


def test_a_line_goes_along_to_another_machine(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_LINES", str(tmp_path / "here"))
    path = keep_line(1.0)
    (planned,) = follow_kept_lines(cells(drivers="line_track"), print)
    files = collect_files(list_named_words(planned.cell))
    data = path.read_bytes()
    path.unlink()
    placed = place_cell(planned.cell, files, tmp_path / "there")
    assert (tmp_path / "there") in Path(placed.line).parents
    assert Path(placed.line).read_bytes() == data


def test_a_line_that_cannot_be_used_is_told_and_left_out(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_LINES", str(tmp_path))
    keep_line(1.0).write_text("no line")
    said = []
    plain = cells(drivers="line_track")
    assert follow_kept_lines(plain, said.append) == plain
    assert "cached line" in said[0]
    unknown = [structs.replace(plain[0], cell=structs.replace(plain[0].cell, believed_car="unknown"))]
    assert follow_kept_lines(unknown, print) == unknown
