from pathlib import Path

import msgspec

from trailbrake.evaluate.cell_task import CellJob, make_cell_task, place_cell, run_cell_task
from trailbrake.evaluate.plan import Cell
from trailbrake.tasks.task_worker import TaskAnswer

CELL = Cell(sim="assetto", track="hartmoor", car="gt3", driver="line_follow")


def test_a_cell_that_cannot_be_driven_is_answered(capfd):
    task, cell = make_cell_task(None), Cell(sim="assetto", track="no", car="gt3", driver="x")
    result = task.decode(cell, TaskAnswer(run_cell_task(task.encode(cell, False))))
    assert result.outcome == "error"
    assert task.failed(result)
    assert task.decode(cell, TaskAnswer(error="lost")).ended == "lost"


def test_files_go_with_a_cell_to_other_machines_alone(tmp_path):
    driver = tmp_path / "mine.py"
    driver.write_text("x = 1")
    cell = msgspec.structs.replace(CELL, driver=f"{driver}:Best", gain=("k=2",))
    here = msgspec.msgpack.decode(make_cell_task(None).encode(cell, False), type=CellJob)
    assert (here.files, here.returns_recording) == ({}, False)
    there = msgspec.msgpack.decode(make_cell_task(tmp_path).encode(cell, True), type=CellJob)
    assert there.files == {str(driver): b"x = 1"}
    assert there.returns_recording


def test_the_files_of_a_cell_are_placed_and_it_names_them(tmp_path):
    name = "/elsewhere/mine.py"
    cell = msgspec.structs.replace(CELL, driver=f"{name}:Best", host=(f"file={name}",))
    placed = place_cell(cell, {name: b"x = 1"}, tmp_path)
    path = placed.host[0].partition("=")[2]
    assert placed.driver == f"{path}:Best"
    assert Path(path).read_bytes() == b"x = 1"
    assert (placed.track, placed.car) == (CELL.track, CELL.car)
