import pytest

from trailbrake.errors import UsageError
from trailbrake.evaluate import result_folder
from trailbrake.evaluate.cell_result import CellResult
from trailbrake.evaluate.plan import Cell
from trailbrake.evaluate.result_folder import ResultFolder

CELL = Cell(sim="assetto", track="hartmoor", car="gt3", driver="line_follow")
RESULT = CellResult(outcome="clean", mean_speed_mps=31.0)


def test_a_result_is_found_again_by_its_cell_alone(tmp_path):
    ResultFolder(tmp_path / "a").store_result(CELL, RESULT)
    folder = ResultFolder(tmp_path / "a")
    assert folder.read_result(CELL) == RESULT
    assert folder.read_result(Cell(sim="assetto", track="hartmoor", car="f1", driver="line_follow")) is None
    assert len(list((tmp_path / "a" / "cells").iterdir())) == 1


def test_a_changed_file_makes_another_cell(tmp_path):
    car = tmp_path / "car.toml"
    cell = Cell(sim="assetto", track="hartmoor", car="gt3", driver="line_follow", believed_car=str(car))
    car.write_text("a = 1")
    ResultFolder(tmp_path).store_result(cell, RESULT)
    assert ResultFolder(tmp_path).read_result(cell) == RESULT
    car.write_text("a = 2")
    assert ResultFolder(tmp_path).read_result(cell) is None


def test_results_of_other_code_count_only_if_wanted(tmp_path, monkeypatch):
    ResultFolder(tmp_path).store_result(CELL, RESULT)
    monkeypatch.setattr(result_folder, "hash_source", lambda: "another")
    assert ResultFolder(tmp_path).read_result(CELL) is None
    assert ResultFolder(tmp_path, any_source=True).read_result(CELL) == RESULT


@pytest.mark.parametrize(
    "spoil", [lambda data: data[:-20], lambda data: b'{"more":' + b"[" * 100_000 + b"]" * 100_000 + b"}"]
)
def test_a_spoilt_file_is_no_result(tmp_path, spoil):
    folder = ResultFolder(tmp_path)
    folder.store_result(CELL, RESULT)
    (path,) = (tmp_path / "cells").iterdir()
    path.write_bytes(spoil(path.read_bytes()))
    assert folder.read_result(CELL) is None


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot make the folder"):
        ResultFolder(tmp_path / "file")
