import csv
import json
import shutil
from pathlib import Path

import pytest
from helpers.synthetic_drives import record_drive

from trailbrake.cli.main import run_command_line
from trailbrake.record import Recorder
from trailbrake.state import CarState, Controls, Image
from trailbrake.state.tables import CONTROL_COLUMNS, STATE_COLUMNS

LOGS = Path(__file__).resolve().parents[1] / "golden" / "lap_logs"


@pytest.fixture
def recording(tmp_path):
    return record_drive(tmp_path / "a drive.mcap", rate=40.0).path


def test_columns_are_those_of_the_state_tables(cli, recording):
    said = cli("export", recording, "--format", "csv")
    assert (said.code, said.err) == (0, [])
    header, *rows = csv.reader(said.out.splitlines())
    assert ",".join(header).startswith("time_s,")
    assert {"time_s", "x_m", "y_m", "speed_mps", "yaw_rad", "fl_load_N", "fuel_litres"} <= set(header)
    assert len(header) == len(STATE_COLUMNS) + len(CONTROL_COLUMNS) + 2 == len(set(header))  # curvature and radius
    times = [float(row[0]) for row in rows]
    assert times == sorted(times)
    assert all(len(row) == len(header) for row in rows)


def test_into_a_file_with_json(cli, recording, tmp_path):
    out = tmp_path / "new.csv"
    said = cli("export", recording, "--out", out, "--json")
    assert said.object == {"recording": str(recording), "out": str(out), "rows": len(out.read_text().splitlines()) - 1}
    assert out.read_bytes().decode() == cli("export", recording).out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--json"], "give --out FILE"),
        (["--format", "xls"], "--format"),
        (["--out", "x.xlsx"], "--out x.xlsx: no format has this suffix, expected .csv"),
        (["--out", "/"], "cannot write the export"),
        (["--out", "no/such/folder/x.csv"], "cannot write the export"),
    ],
)
def test_refusals(cli, recording, words, said):
    assert said in cli("export", recording, *words).error


@pytest.mark.parametrize(
    "words",
    [
        ("export", "laps.ld", "--format", "motec"),
        ("export", "laps.gpx", "--format", "csv", "--out", "laps.gpx"),
        ("report", "laps.ld", "--out", "laps.ldx"),
        ("report", "laps.gpx", "--out", "laps.gpx"),
        ("compare", "laps.gpx", "--out", "laps.gpx"),
    ],
)
def test_a_log_of_another_tool_is_not_overwritten(cli, tmp_path, monkeypatch, words):
    """It was, with exit code 0: by its own channels as far as they were read, or by a page."""
    monkeypatch.chdir(tmp_path)
    for name in ("laps.ld", "laps.ldx", "laps.gpx"):
        shutil.copy(LOGS / name, tmp_path)
    kept = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    said = cli(*words)
    assert said.code == 2
    assert "would overwrite the recording" in said.err[-1]
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == kept


def test_the_format_is_that_of_the_suffix(cli, recording, tmp_path):
    """A CSV was written into a .parquet file."""
    out = tmp_path / "layout.foxglove.json"
    assert cli("export", recording, "--out", out).out.strip() == str(out)
    assert json.loads(out.read_text())
    said = cli("export", recording, "--format", "csv", "--out", tmp_path / "x.parquet")
    assert (said.code, "the suffix of another" in said.error) == (2, True)


def test_what_is_no_recording_is_one_line(cli, tmp_path):
    (tmp_path / "a.mcap").write_text("something else")
    assert "not a recording" in cli("export", tmp_path / "a.mcap").error
    assert "cannot read the recording" in cli("export", tmp_path).error


def test_a_driving_log_needs_a_folder_and_pictures(cli, recording, tmp_path):
    said = cli("export", recording, "--format", "driving_log")
    assert said.code == 2
    assert "give --out FOLDER" in said.err[-1]
    said = cli("export", recording, "--format", "driving_log", "--out", tmp_path / "log")
    assert said.code == 2
    assert "no pictures in the recording" in said.err[-1]
    assert not (tmp_path / "log").exists()


def test_a_camera_drive_becomes_a_driving_log(cli, tmp_path):
    recorder = Recorder(tmp_path / "b.mcap")
    for i in range(5):
        image = Image(b"\xff\xd8 jpeg %d" % i, lambda data: data)
        recorder.tick(CarState(time=0.04 * i, speed=1.0, lap=1.0, image=image), Controls(steer=0.25))
    recorder.close()
    said = cli("export", tmp_path / "b.mcap", "--format", "driving_log", "--out", tmp_path / "log", "--json")
    assert said.object["rows"] == 5
    log = (tmp_path / "log" / "driving_log.csv").read_text().splitlines()
    assert [line.split(",")[1] for line in log] == ["-10"] * 5


@pytest.mark.parametrize(
    ("kind", "suffix", "module"),
    [("parquet", ".parquet", "pyarrow"), ("motec", ".ld", ""), ("foxglove_layout", ".foxglove.json", "")],
)
def test_other_formats_go_beside_the_recording(cli, recording, kind, suffix, module):
    if module:
        pytest.importorskip(module, exc_type=ImportError)
    wanted = recording.with_suffix(suffix)
    assert cli("export", recording, "--format", kind).out.strip() == str(wanted)
    assert wanted.stat().st_size > 1000
    assert cli("export", recording, "--format", kind, "--json").object["out"] == str(wanted)


@pytest.mark.fmi
def test_it_writes_the_file_and_says_where(tmp_path, capsys):
    assert run_command_line(["export-fmu", "speed_hold", "--out", str(tmp_path), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["fmu"] == str(tmp_path / "speed_hold.fmu")
    assert (tmp_path / "speed_hold.fmu").stat().st_size > 10_000


def test_an_unknown_driver_is_one_line(tmp_path, capsys):
    pytest.importorskip("pythonfmu3")
    assert run_command_line(["export-fmu", "sped_hold", "--out", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "speed_hold" in error
