from pathlib import Path

import msgspec
import pytest

from trailbrake.errors import UsageError
from trailbrake.evaluate.cell_task import CellJob, decode_answer, encode_job, place_files, run_cell_task
from trailbrake.evaluate.plan import Cell
from trailbrake.evaluate.result_folder import read_named_file
from trailbrake.tasks.task_worker import TaskAnswer

CELL = Cell(sim="assetto", track="hartmoor", car="gt3", driver="line_follow")


def test_a_cell_that_cannot_be_driven_is_answered(capfd):
    answer = TaskAnswer(run_cell_task(encode_job(Cell(sim="assetto", track="no", car="gt3", driver="x"), None, None)))
    result = decode_answer(answer).result
    assert result.outcome == "error"
    assert decode_answer(TaskAnswer(error="lost")).result.ended == "lost"


def test_files_go_with_a_cell_to_other_machines_alone(tmp_path):
    driver = tmp_path / "mine.py"
    driver.write_text("x = 1")
    cell = msgspec.structs.replace(CELL, driver=f"{driver}:Best", gain=("k=2",))
    here = msgspec.msgpack.decode(encode_job(cell, None, None), type=CellJob)
    assert (here.files, here.returns_recording) == ({}, False)
    there = msgspec.msgpack.decode(encode_job(cell, tmp_path / "r.mcap", read_named_file), type=CellJob)
    assert there.files == {str(driver): b"x = 1"}
    assert there.returns_recording


@pytest.mark.parametrize("word", ["{}", "policy:{}", "{}:Best", "random:3:{}", "{}@wet"])
def test_a_file_that_is_not_here_is_placed_and_the_cell_names_it(tmp_path, word):
    name = "/elsewhere/mine.py"
    cell = msgspec.structs.replace(CELL, driver=word.format(name), host=(f"file={name}",))
    placed = place_files(cell, {name: b"x = 1"}, tmp_path)
    assert place_files(cell, {name: b"x = 1"}, tmp_path) == placed  # again, and the file is there
    path = placed.host[0].partition("=")[2]
    assert placed.driver == word.format(path)
    assert path.startswith(str(tmp_path))
    assert path.endswith("mine.py")
    assert Path(path).read_bytes() == b"x = 1"
    assert (placed.track, placed.car) == (CELL.track, CELL.car)


def test_a_file_that_is_here_is_used_where_it_is_unless_it_differs(tmp_path):
    here = tmp_path / "mine.py"
    here.write_bytes(b"x = 1")
    cell = msgspec.structs.replace(CELL, driver=str(here))
    assert place_files(cell, {str(here): b"x = 1"}, tmp_path / "placed") == cell
    assert place_files(cell, {str(here): b"x = 2"}, tmp_path / "placed") != cell


def test_a_file_that_cannot_be_placed_is_one_line(tmp_path):

    (tmp_path / "taken").write_text("")
    with pytest.raises(UsageError, match="cannot write a file"):
        place_files(CELL, {"/elsewhere/x.py": b"1"}, tmp_path / "taken")
