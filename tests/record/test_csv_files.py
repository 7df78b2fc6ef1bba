import csv
import io
import math

import numpy as np
import pytest
from helpers.small_drives import small_drive
from helpers.synthetic_drives import state_at

from trailbrake.errors import DataError, UsageError
from trailbrake.record import Recorder, Recording, csv_files, export_csv
from trailbrake.record.csv_files import is_drive_table, read_csv_columns
from trailbrake.state import CarState, Controls


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_columns_come_by_their_names_and_empty_cells_are_not_known(tmp_path):
    head = "time_s,velocity_x_mps,steer,throttle,other"
    path = write(tmp_path / "a.csv", f"{head}\r\n0,10,0.1,,7\r\n0.02,10.5,0.2,0.5,8\r\n")
    assert is_drive_table(path)
    state, controls = read_csv_columns(path)
    assert state["velocity_x"].tolist() == [10.0, 10.5]
    assert np.isnan(state["throttle"][0])
    assert np.isnan(state["yaw_rate"]).all()
    assert controls["steer"].tolist() == [0.1, 0.2]  # without commands: what is applied
    assert np.isnan(controls["gear"]).all()


def test_commands_are_the_controls(tmp_path):
    path = write(tmp_path / "a.csv", "time_s,steer,command_steer\n0,0.1,0.3\n")
    assert read_csv_columns(path)[1]["steer"].tolist() == [0.3]


@pytest.mark.parametrize(
    ("text", "message"),
    [("time_s,steer\n0,0.1\n1,x\n", r"a\.csv:3"), ("time_s,steer\n0\n", r"a\.csv:2: .*1 cells, not 2"),
     ("t,steer\n0,1\n", "time_s"), ("", "time_s")],
)  # fmt: skip
def test_a_table_that_cannot_be_read_is_one_line(tmp_path, text, message):
    path = write(tmp_path / "a.csv", text)
    with pytest.raises(DataError, match=message):
        read_csv_columns(path)


def test_other_files_are_no_tables_of_drives(tmp_path):
    assert not is_drive_table(write(tmp_path / "a.csv", "x_m,y_m\n"))
    assert not is_drive_table(write(tmp_path / "a.csv", "time_s,speedKmh,gear\n"))
    assert not is_drive_table(write(tmp_path / "a.mcap", "time_s\n"))


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return Recording.open(small_drive(tmp_path_factory.mktemp("drive") / "a.mcap"))


def parsed(text):
    assert text.count("\r\n") == text.count("\n")
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


def test_every_tick_is_a_line_with_units_in_the_header(recording):
    out = io.StringIO(newline="")
    assert export_csv(recording, out) == 40
    text = out.getvalue()
    assert text.startswith("time_s,sequence,age_s,phase,x_m,y_m,z_m,yaw_rad,")
    commands = "command_steer,command_throttle,command_brake,command_clutch,command_handbrake,command_gear,"
    assert commands in text.splitlines()[0]
    rows = parsed(text)
    assert len(rows) == 40
    for i, row in enumerate(rows):
        state = state_at(i * 0.03, 50.0 * i * 0.03, 50.0, 0.5, i * 0.03, i)
        assert float(row["time_s"]) == state.time
        assert float(row["x_m"]) == state.x
        assert float(row["fl_load_N"]) == state.wheels[0].load
        assert row["sequence"] == str(i)
        assert row["gear"] == str(state.gear)
        assert row["command_gear"] == "3"
        assert row["command_steer"] == "0.25"
        assert row["fuel_litres"] == ""
        assert row["steering_wheel_angle_rad"] == ""


def test_a_column_with_some_values_missing(tmp_path):
    recorder = Recorder(tmp_path / "a.mcap")
    for i, (speed, gear) in enumerate([(1.0, None), (math.nan, 2), (math.inf, -1)]):
        recorder.tick(CarState(time=float(i), speed=speed, gear=gear), Controls())
    recorder.close()
    out = tmp_path / "o.csv"
    export_csv(Recording.open(recorder.path), out)
    rows = parsed(out.read_bytes().decode())
    assert [row["speed_mps"] for row in rows] == ["1.0", "", "inf"]
    assert [row["gear"] for row in rows] == ["", "2", "-1"]


def test_a_tight_turn_is_a_column_of_its_radius(tmp_path):
    recorder = Recorder(tmp_path / "a.mcap")
    for i, (speed, yaw_rate) in enumerate([(0.0, 0.0), (17.5, 0.5), (17.5, -0.5), (17.5, 0.0)]):
        recorder.tick(CarState(time=float(i), speed=speed, yaw_rate=yaw_rate), Controls())
    recorder.close()
    out = tmp_path / "o.csv"
    export_csv(Recording.open(recorder.path), out)
    rows = parsed(out.read_bytes().decode())
    assert [row["path_radius_m"] for row in rows] == ["", "35.0", "35.0", ""]
    assert [row["curvature_1pm"] for row in rows] == ["", repr(0.5 / 17.5), repr(-0.5 / 17.5), "0.0"]


def test_without_a_yaw_rate_the_radius_follows_from_the_positions(tmp_path):
    recorder = Recorder(tmp_path / "a.mcap")
    for i in range(200):
        angle = 17.5 / 35.0 * i / 60.0
        recorder.tick(
            CarState(time=i / 60.0, x=35.0 * math.cos(angle), y=35.0 * math.sin(angle), speed=17.5), Controls()
        )
    recorder.close()
    out = tmp_path / "o.csv"
    export_csv(Recording.open(recorder.path), out)
    radii = [float(row["path_radius_m"]) for row in parsed(out.read_bytes().decode())]
    assert radii[5:-5] == pytest.approx([35.0] * 190, rel=1e-3)


def test_blocks_join_without_a_seam(recording, monkeypatch):
    whole, parts = io.StringIO(newline=""), io.StringIO(newline="")
    export_csv(recording, whole)
    monkeypatch.setattr(csv_files, "BLOCK_ROWS", 7)
    export_csv(recording, parts)
    assert parts.getvalue() == whole.getvalue()


def test_numbers_read_back_exactly(recording):
    out = io.StringIO(newline="")
    export_csv(recording, out)
    read = [float(row["y_m"]) for row in parsed(out.getvalue())]
    np.testing.assert_array_equal(read, recording.state["y"])


def test_stdout_on_windows_does_not_double_the_line_ends(recording):
    raw = io.BytesIO()
    stdout = io.TextIOWrapper(raw, encoding="utf-8", newline="\r\n")
    export_csv(recording, stdout)
    stdout.flush()
    assert b"\r\r\n" not in raw.getvalue()
    assert len(parsed(raw.getvalue().decode())) == 40


def test_an_empty_recording_gives_the_header(tmp_path):
    recorder = Recorder(tmp_path / "a.mcap")
    recorder.close()
    out = io.StringIO(newline="")
    assert export_csv(Recording.open(recorder.path), out) == 0
    assert out.getvalue().count("\r\n") == 1


def test_a_place_that_cannot_be_written(recording, tmp_path):
    with pytest.raises(UsageError, match="cannot write the export"):
        export_csv(recording, tmp_path / "no" / "such.csv")
