"""Rows are read where they are wanted, and a recording of any length takes little memory."""

import io
import subprocess
import sys

import numpy as np
import pytest
from helpers.small_drives import CONTROLS
from helpers.synthetic_drives import LapDone, record_drive, state_at
from hypothesis import given, settings
from hypothesis import strategies as st

from trailbrake.analysis.report import render_report
from trailbrake.record import Recorder, Recording, export_csv, row_reader
from trailbrake.state import CarState, SignalValues
from trailbrake.state.signals import make_signal

SIGNALS = (make_signal("beamng.fuel", "1", "fuel"), make_signal("beamng.rpm", "1", "engine"))
POSITIONS = {"beamng.fuel": 0, "beamng.rpm": 1}


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """1000 ticks, uneven chunks, signals from the tenth on."""
    recorder = Recorder(tmp_path_factory.mktemp("rows") / "a.mcap", signals=SIGNALS)
    for i in range(1000):
        state = state_at(i * (0.003 if i < 500 else 0.02), 0.5 * i, 50.0, 0.5, 0.0, i)
        if i >= 10:
            state.signals = SignalValues(POSITIONS, (float(i), -float(i)))
        recorder.tick(state, CONTROLS)
        if i % 170 == 0:
            recorder.store_lap(LapDone(1, 1.0, True, ()))
    recorder.close()
    return Recording.open(recorder.path)


@settings(max_examples=60)
@given(start=st.integers(0, 1005), size=st.integers(0, 1005), step=st.integers(1, 400), kept=st.booleans())
def test_any_rows_are_those_of_the_whole_columns(recording, start, size, step, kept):
    opened = recording if kept else fresh(recording)
    rows = slice(start, start + size, step)
    read = opened.read_rows(rows, ("sequence", "x", "steer"))
    for part, whole in zip(read, (recording.state, recording.controls, recording.signals), strict=True):
        for name in ("sequence", "x", "steer", *POSITIONS):
            if name in part:
                np.testing.assert_array_equal(part[name], whole[name][rows])
    assert read.state["sequence"].tolist() == list(range(1000))[rows]


def fresh(recording):
    """Return the recording opened again, nothing kept."""
    opened = Recording.open(recording.path)
    opened._rows._chunks.read_parsed = unkept(opened._rows._chunks)
    return opened


def unkept(chunks):
    def read_parsed(numbers):
        chunks._kept.clear()
        return row_reader.ParsedChunks.read_parsed(chunks, numbers)

    return read_parsed


def test_a_column_that_was_not_read_is_missing_and_one_of_another_name_is_an_error(recording):
    read = recording.read_rows(slice(0, 5), ("x",))
    assert np.isnan(read.state["speed"]).all()
    with pytest.raises(KeyError, match="did you mean"):
        read.state["sped"]
    assert recording.read_rows(slice(0, 5), (), ()).signals.keys() == set()


def test_reading_by_parts_gives_the_same_export_and_report(tmp_path, monkeypatch):
    path = record_drive(tmp_path / "a.mcap", laps=2, rate=50.0).path
    kept, again = io.StringIO(newline=""), io.StringIO(newline="")
    export_csv(Recording.open(path), kept)
    page = render_report(Recording.open(path))
    monkeypatch.setattr(row_reader, "KEPT_BYTES", 0)
    export_csv(Recording.open(path), again)
    assert again.getvalue() == kept.getvalue()
    assert render_report(Recording.open(path)) == page


def test_positions_give_one_curvature_whatever_the_blocks(tmp_path, monkeypatch):
    recorder = Recorder(tmp_path / "a.mcap")
    for i in range(400):
        angle = 0.05 * i
        recorder.tick(CarState(time=i / 60.0, x=35.0 * np.cos(angle), y=35.0 * np.sin(angle), speed=17.5), CONTROLS)
    recorder.close()
    read = []
    for rows in (4096, 7, 1):
        monkeypatch.setattr("trailbrake.record.csv_files.BLOCK_ROWS", rows)
        out = io.StringIO(newline="")
        export_csv(Recording.open(recorder.path), out)
        lines = [line.split(",") for line in out.getvalue().splitlines()]
        column = lines[0].index("curvature_1pm")
        read.append([float(line[column]) for line in lines[1:]])
    assert read[1] == pytest.approx(read[0], rel=1e-9)
    assert read[2] == pytest.approx(read[0], rel=1e-9)


USE = """
import resource, sys
from trailbrake.analysis.report import render_report
from trailbrake.record import Recording, csv_files, export_csv, row_reader

class Enough(Exception):
    pass

class Out:
    lines = 0
    def write(self, text):
        self.lines += text.count("\\n")
        if self.lines > 2000:
            raise Enough

row_reader.KEPT_BYTES, csv_files.BLOCK_ROWS = 1 << 20, 512
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
if sys.argv[1] == "report":
    render_report(Recording.open(sys.argv[2]))
else:
    try:
        export_csv(Recording.open(sys.argv[2]), Out())
    except Enough:
        pass
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="kB of resident memory")
def test_report_and_export_of_a_long_drive_take_little_memory(tmp_path):
    """Loaded at once, each tick took 1.9 kB: 114 MB here, 2.3 GB for an hour at 333 Hz."""
    recorder = Recorder(tmp_path / "a.mcap")
    recorder.start({"sim": "synthetic"})
    state = state_at(0.0, 0.0, 50.0, 0.5, 0.0, 0)
    for i in range(60_000):
        state.time, state.x, state.sequence = i * 0.003, 0.15 * i, i
        recorder.tick(state, CONTROLS)
        if i % 15_000 == 14_999:
            recorder.store_lap(LapDone(i // 15_000 + 1, 45.0, True, ()))
    recorder.close()
    for use in ("report", "export"):
        done = subprocess.run([sys.executable, "-c", USE, use, recorder.path], capture_output=True, check=True)
        assert int(done.stdout) < 50_000, f"{use}: {done.stdout.decode()} kB"
