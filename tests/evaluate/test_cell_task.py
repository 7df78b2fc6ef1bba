from pathlib import Path

import msgspec
import pytest
from helpers.socketio_agents import ring

from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.driving.session.drive_inputs import make_like, read_recorded_drive
from trailbrake.driving.session.drive_session import drive
from trailbrake.evaluate.cell_task import CellJob, build_spec, drive_cell, make_cell_task, place_cell, run_cell_task
from trailbrake.evaluate.plan import Cell
from trailbrake.record.recording_reader import Recording
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


def make_cell(**values):
    return Cell(**({"sim": "assetto", "track": "hartmoor", "car": "gt3", "driver": "line_follow"} | values))


def test_a_driver_gets_what_it_believes_and_the_world_its_own():
    drive = build_spec(make_cell(believed_car="f1", believed_track="oval.csv", condition=("grip=0.9",)))
    assert (drive.car, drive.track) == ("f1", "oval.csv")
    assert (drive.site.car, drive.site.track, drive.site.conditions) == ("gt3", "hartmoor", ("grip=0.9",))
    plain = build_spec(make_cell())
    assert (plain.car, plain.track, plain.site.conditions) == ("gt3", "hartmoor", ())


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"driver": "lane_keep"}, "driving_line"),
        ({"believed_car": "missing.toml"}, "missing.toml"),
        ({"believed_car": "unknown"}, "line_follow"),
        ({"sim": "trend", "driver": "lane_sign"}, "miniature"),
    ],
)
def test_what_cannot_be_driven_is_a_result(values, words):
    result = drive_cell(make_cell(**values), None, print)
    assert result.outcome == "error"
    assert words in result.ended


def test_a_drive_of_a_cell_agrees_to_the_millisecond(tmp_path):
    """Finding E1. The first lap begins for both when the driver gets its first state."""
    track = str(ring(tmp_path, straight=40.0, radius=20.0))
    result = drive_cell(make_cell(track=track, car="kart", laps=1), tmp_path / "cell.mcap", print)
    options = DriveFlags(track=track, car="kart", driver="line_follow", laps=1, report=False, out=tmp_path)
    driven = [lap["time_s"] for lap in drive(options.make_spec())["laps"]]
    assert [lap.time_s for lap in result.laps] == pytest.approx(driven, abs=1e-3)
    recording = Recording.open(tmp_path / "cell.mcap")
    assert [lap.time_s for lap in recording.laps] == [lap.time_s for lap in result.laps]  # coach and compare read them
    recorded = read_recorded_drive(recording)
    assert recorded.lacks == ()  # `drive --like` finds all that it needs
    again = drive(make_like(recorded, live=False), contents=recorded.contents)
    assert [lap["time_s"] for lap in again["laps"]] == driven
