"""Tables of drives with the columns of our exports."""

import numpy as np
import pytest

from trailbrake.errors import DataError
from trailbrake.record.csv_import import is_drive_table, read_csv_columns


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
    assert not is_drive_table(write(tmp_path / "a.mcap", "time_s\n"))
