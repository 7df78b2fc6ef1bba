"""A log is converted once, and is a recording like any other."""

import math

import numpy as np
import pytest
from helpers.lap_log_files import make_laps, write_game, write_motec_csv, write_racebox
from helpers.synthetic_drives import record_drive

from trailbrake.analysis.lap_traces import trace_laps
from trailbrake.config import logs_folder
from trailbrake.errors import DataError, UsageError
from trailbrake.record import Recording
from trailbrake.record.csv_files import export_csv
from trailbrake.record.lap_logs import describe_log, is_lap_log, log_import, read_lap_log
from trailbrake.state.tables import STATE_COLUMNS


def test_a_log_is_converted_once_and_again_when_it_changes(laps, tmp_path, monkeypatch):
    path = write_racebox(tmp_path / "a.csv", laps)
    first = read_lap_log(path)
    assert (first.path, first.about["source"]) == (path, "a.csv")
    monkeypatch.setitem(log_import.READERS, ".csv", lambda path: 1 / 0)
    assert len(read_lap_log(path)) == len(first)
    assert len(list(logs_folder().iterdir())) == 1
    path.write_text(path.read_text() + "\n")
    with pytest.raises(ZeroDivisionError):
        read_lap_log(path)


def test_the_cache_keeps_a_number_of_logs(laps, tmp_path, monkeypatch):
    monkeypatch.setattr(log_import, "KEPT", 2)
    for name in "abcd":
        read_lap_log(write_racebox(tmp_path / f"{name}.csv", laps))
    assert len(list(logs_folder().iterdir())) == 3  # the newest is written after the others are counted


def test_it_is_a_recording_with_laps_and_rows(laps, tmp_path):
    found = read_lap_log(write_game(tmp_path / "a.csv", laps))
    assert not found.truncated
    assert [lap.end for lap in found.laps] == pytest.approx(
        (np.cumsum(laps.lap_times) + np.interp(0.0, laps.along, laps.time)).tolist(), abs=0.01
    )
    first = found.laps[0]
    assert laps.lap[first.first + 1 : first.row - 1].tolist() == [1.0] * (first.row - first.first - 2)
    traces = trace_laps(found)
    assert len([lap for lap in traces.laps if lap.finished]) == 3
    assert found.controls["throttle"] == pytest.approx(found.state["throttle"])


def test_our_own_table_keeps_every_value_and_the_commands(tmp_path):
    recorded = Recording.open(record_drive(tmp_path / "a.mcap", rate=20.0).path)
    export_csv(recorded, tmp_path / "a.csv")
    found = read_lap_log(tmp_path / "a.csv")
    for column in STATE_COLUMNS:
        assert np.array_equal(found.state[column.name], recorded.state[column.name], equal_nan=True), column.name
    for name in ("steer", "throttle", "brake", "gear"):
        assert np.array_equal(found.controls[name], recorded.controls[name], equal_nan=True), name
    assert describe_log(found)[1] == f"read: {len(found.about['log']['fields'])} columns"  # each means what it is named
    # Its lap clock begins with the drive, before the line.
    assert found.laps[0].invalid_reason.startswith("not a whole lap, ")
    valid = [lap.time_s for lap in found.laps if lap.valid]
    assert valid == pytest.approx([lap.time_s for lap in recorded.laps], abs=0.05)  # it counts by whole ticks


def test_what_was_read_is_said_in_lines(laps, tmp_path):
    lines = describe_log(read_lap_log(write_racebox(tmp_path / "a.csv", laps)))
    assert lines[0] == f"{tmp_path / 'a.csv'}: CSV table of RaceBox, 25 Hz, 120.0 s"
    assert lines[1].startswith("read: Latitude as latitude, ")
    assert "GForceX [G] as acceleration_x" in lines[1]
    assert lines[2].startswith("not used: Record, GForceZ")


def test_a_unit_that_is_in_the_name_is_said_once(laps, tmp_path):
    rows = np.column_stack([laps.time, laps.x, laps.y, 3.6 * laps.speed])
    np.savetxt(tmp_path / "a.csv", rows, "%.3f", ",", header="time [s],x [m],y [m],speed [km/h]", comments="")
    assert describe_log(read_lap_log(tmp_path / "a.csv"))[1] == "read: x [m] as x, y [m] as y, speed [km/h] as speed"


def test_other_files_are_refused(tmp_path):
    assert is_lap_log(tmp_path / "A.LD")
    assert not is_lap_log(tmp_path / "a.mcap")
    with pytest.raises(UsageError, match="no such file"):
        read_lap_log(tmp_path / "a.csv")
    (tmp_path / "a.xyz").write_text("x")
    with pytest.raises(DataError, match=r"unknown kind of lap log, expected \.csv, .*\.ibt.*, got \.xyz"):
        read_lap_log(tmp_path / "a.xyz")


def test_a_cache_that_cannot_be_written_is_one_line(laps, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TRAILBRAKE_CACHE", str(tmp_path / "file"))
    with pytest.raises(UsageError, match="cannot write the cache"):
        read_lap_log(write_racebox(tmp_path / "a.csv", laps))


def without_places(path):
    """Take the last two columns, the places, out of a table."""
    lines = [line if line.count(",") < 8 else ",".join(line.split(",")[:-2]) for line in path.read_text().splitlines()]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_laps_close_and_look_like_the_road(tmp_path):
    laps = make_laps(50.0, laps=2)
    found = read_lap_log(without_places(write_motec_csv(tmp_path / "a.csv", laps)))
    assert [lap.time_s for lap in found.laps] == pytest.approx(laps.lap_times, abs=0.01)
    assert any("x and y follow from speed and lateral acceleration" in note for note in found.about["log"]["notes"])
    rows = np.flatnonzero(np.isfinite(found.state["x"]) & (laps.lap == 1))
    mine = found.state["x"][rows] + 1j * found.state["y"][rows]
    truth = laps.x[rows] + 1j * laps.y[rows]
    # Heading and begin are not known: the best turn and shift.
    mine, truth = mine - mine.mean(), truth - truth.mean()
    turn = (truth * np.conj(mine)).sum()
    assert np.abs(mine * turn / abs(turn) - truth).max() < 3.0  # m, on a road of 1.2 km
    assert abs(found.state["x"][rows[-1]] - found.state["x"][rows[0]]) < 2.0


def test_what_does_not_close_gives_no_map(tmp_path):
    path = without_places(write_motec_csv(tmp_path / "a.csv", make_laps(50.0, laps=2)))
    path.write_text(path.read_text().replace('"G","G"', '"m/s^2","G"', 1))
    found = read_lap_log(path)
    assert np.isnan(found.state["x"]).all()
    assert any("do not close: there is no map" in note for note in found.about["log"]["notes"])
    assert len(found.laps) == 2
    assert math.isfinite(found.laps[0].time_s)


def test_a_table_of_ours_without_a_speed_has_no_path(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("time_s,velocity_x_mps,acceleration_x_mps2\n0,1,0\n1,1,0\n", encoding="utf-8")
    found = read_lap_log(path)
    assert np.isnan(found.state["x"]).all()
