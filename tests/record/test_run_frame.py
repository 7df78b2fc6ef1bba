import csv
import io
import json
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.synthetic_drives import record_drive

import trailbrake
from trailbrake.errors import UsageError
from trailbrake.record import Recording
from trailbrake.record.csv_files import DERIVED_NAMES, export_csv
from trailbrake.record.recording_reader import RecordedLaps
from trailbrake.record.run_frame import export_parquet, number_laps, sample_evenly


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return Recording.open(record_drive(tmp_path_factory.mktemp("drive") / "a.mcap", rate=40.0).path)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_recording_as_a_table(recording, library, monkeypatch):
    module = pytest.importorskip(library, exc_type=ImportError)
    try:
        module.DataFrame({"a": np.zeros(1)})
    except NameError:  # polars imports without its compiled part, and under wine that part does not load
        pytest.skip(f"{library} does not load here")
    frame = trailbrake.load(recording.path, library)
    assert isinstance(frame, module.DataFrame)
    assert len(frame) == len(recording)
    assert np.array_equal(np.asarray(frame["speed"]), recording.state["speed"])
    assert np.array_equal(np.asarray(frame["command_throttle"]), recording.controls["throttle"])
    assert set(np.asarray(frame["lap"])) == {0.0, 1.0, 2.0}
    assert "tyre_wear" not in frame.columns, "nothing was supplied"


def test_a_run_of_the_catalogue_is_loaded_by_its_id(recording, monkeypatch):
    pytest.importorskip("pandas", exc_type=ImportError)
    monkeypatch.setenv("TRAILBRAKE_RECORDINGS", str(recording.path.parent))
    assert len(trailbrake.load("last")) == len(recording)


def test_refusals(recording, monkeypatch, tmp_path):
    with pytest.raises(UsageError, match="pandas or polars"):
        trailbrake.load(recording, "excel")
    monkeypatch.delitem(sys.modules, "trailbrake.record.old_names", raising=False)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match=r"trailbrake\[frames\]"):
        trailbrake.load(recording)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"trailbrake\[frames\]"):
        export_parquet(recording, tmp_path / "a.parquet")


def test_parquet_has_every_column_and_the_description(recording, tmp_path, monkeypatch):
    parquet = pytest.importorskip("pyarrow.parquet", exc_type=ImportError)
    monkeypatch.setattr("trailbrake.record.run_frame.BLOCK_ROWS", 1000)
    assert export_parquet(recording, tmp_path / "a.parquet") == len(recording)
    table = parquet.read_table(tmp_path / "a.parquet")
    assert np.array_equal(table["x_m"].to_numpy(), recording.state["x"])
    assert np.array_equal(table["lap"].to_numpy(), number_laps(recording, 0, len(recording)))
    assert json.loads(table.schema.metadata[b"trailbrake"])["track"] == "stadium"
    with pytest.raises(UsageError, match="cannot write"):
        export_parquet(recording, tmp_path / "none" / "a.parquet")


def test_rows_belong_to_laps(recording):
    numbers = number_laps(recording, 0, len(recording))
    first, second = recording.laps
    assert 0 < first.first < first.row  # the way to the line is in no lap
    assert (numbers[: first.first] == 0).all()
    assert (numbers[first.first : first.row] == 1).all()
    assert (numbers[first.row : second.row] == 2).all()
    assert (numbers[second.row :] == 0).all()
    assert np.array_equal(number_laps(recording, 100, 2500), numbers[100:2500])


def test_even_samples(recording):
    sampled = sample_evenly(recording, 100.0, ("speed", "gear"))
    assert np.diff(sampled["time"]) == pytest.approx(np.full(len(sampled["time"]) - 1, 0.01))
    assert sampled["speed"] == pytest.approx(
        np.interp(sampled["time"], recording.state["time"], recording.state["speed"])
    )
    assert set(sampled["gear"]) <= set(recording.state["gear"])


def test_the_table_has_the_bends_of_the_csv(recording, tmp_path):
    table = trailbrake.load(recording)
    text = io.StringIO()
    export_csv(recording, text)
    rows = list(csv.DictReader(io.StringIO(text.getvalue())))
    assert {"curvature", "path_radius", "lap"} <= {*table.columns}
    for name, own in zip(DERIVED_NAMES, ("curvature", "path_radius"), strict=True):
        assert [float(row[name] or "nan") for row in rows[100:200]] == pytest.approx(table[own][100:200], nan_ok=True)


def test_names_are_those_of_the_recording_and_units_are_beside_them(recording):
    pytest.importorskip("pandas", exc_type=ImportError)
    table = trailbrake.load(recording)
    own = {*recording.state, *(f"command_{name}" for name in recording.controls), "curvature", "path_radius", "lap"}
    assert {*table.columns} <= own
    units = table.attrs["units"]
    assert (units["speed"], units["x"], units["command_throttle"], units["curvature"]) == ("m/s", "m", "1", "1/m")
    assert {*table.columns} - {*units} == set()


def test_the_telemetry_of_a_lap_has_its_rows(recording):
    lap = recording.laps.best()
    assert [each.number for each in recording.laps if each.valid] == [lap.number]  # the other is quicker
    telemetry = lap.telemetry()
    rows = slice(lap.first, lap.row)
    assert np.array_equal(telemetry["speed"], recording.state["speed"][rows])
    assert np.array_equal(telemetry["command_throttle"], recording.controls["throttle"][rows])
    assert set(telemetry["lap"]) == {lap.number}
    with pytest.raises(KeyError, match="did you mean speed"):
        telemetry["sped"]
    pytest.importorskip("pandas", exc_type=ImportError)
    assert len(telemetry.to_pandas()) == lap.row - lap.first


def test_a_recording_is_pickled_as_its_file(recording):
    copy = pickle.loads(pickle.dumps(recording))
    assert copy.path == recording.path
    assert copy.laps == recording.laps
    assert copy.laps[0].recording is copy


def test_no_lap_is_best_where_none_was_finished():
    with pytest.raises(UsageError, match=r"laps.best: no lap was finished"):
        RecordedLaps().best()


def test_a_lap_log_of_another_tool_is_a_table_too(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.setenv("TRAILBRAKE_CACHE", str(tmp_path))
    frame = trailbrake.load(Path(__file__).resolve().parent.parent / "golden" / "lap_logs" / "laps.ld")
    assert {"speed", "throttle", "x", "lap"} <= {name.split("_")[0] for name in frame.columns}
    assert sorted(set(frame["lap"])) == [0.0, 1.0, 2.0]
