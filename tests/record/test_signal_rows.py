"""Signals of a drive: recorded, read again by name, exported; and a recording that was cut."""

import io
import math
import shutil

import numpy as np
import pytest
from mcap.reader import make_reader

from trailbrake.record.csv_files import export_csv
from trailbrake.record.recorder import Recorder
from trailbrake.record.recording_reader import Recording
from trailbrake.state import CarState, Controls, SignalValues
from trailbrake.state.signals import make_signal

SIGNALS = (
    make_signal("beamng.fuel", "1", "fuel, share of a full tank"),
    make_signal("beamng.wheel_fl.braking_torque", "N m", "torque of the brake"),
)
POSITIONS = {signal.name: place for place, signal in enumerate(SIGNALS)}
DT = 0.01


def record_drive(path, ticks=250, selected=SIGNALS):
    """Record a drive whose signals count down and up, without them at its first tick; return the recorder."""
    recorder = Recorder(path, signals=selected)
    recorder.start({"sim": "beamng"})
    for tick in range(ticks):
        state = CarState(time=tick * DT, sequence=tick, speed=float(tick))
        if tick and selected:
            state.signals = SignalValues(POSITIONS, (1.0 - tick / ticks, float(tick)))
        recorder.tick(state, Controls())
    recorder.store_event(1.0, "an event between")
    return recorder


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    recorder = record_drive(tmp_path_factory.mktemp("signals") / "drive.mcap")
    recorder.close()
    return recorder.path


def test_signals_are_read_by_their_names(recorded):
    recording = Recording.open(recorded)
    assert list(recording.signals) == [signal.name for signal in SIGNALS]
    torque = recording.signals["beamng.wheel_fl.braking_torque"]
    assert math.isnan(torque[0])
    assert torque[1:].tolist() == list(range(1, 250))
    assert recording.signals["beamng.fuel"][125] == 0.5
    assert recording.state["speed"][125] == 125.0
    assert [event.text for event in recording.events] == ["an event between"]


def test_a_drive_without_signals_has_none(tmp_path):
    recorder = record_drive(tmp_path / "plain.mcap", selected=())
    recorder.close()
    recording = Recording.open(recorder.path)
    assert list(recording.signals) == []
    assert "/signals" not in {channel.topic for channel in recording._container.channels.values()}


def test_the_export_has_a_column_for_each(recorded):
    out = io.StringIO()
    export_csv(Recording.open(recorded), out)
    head, *lines = out.getvalue().splitlines()
    assert head.split(",")[-2:] == ["beamng.fuel", "beamng.wheel_fl.braking_torque"]
    assert lines[0].split(",")[-2:] == ["", ""]
    assert lines[100].split(",")[-1] == "100.0"


def test_the_library_of_the_format_reads_the_schema_and_every_row(recorded):
    with recorded.open("rb") as file:
        rows = list(make_reader(file).iter_messages(topics=["/signals"]))
    schema, channel, message = rows[100]
    assert schema.data.decode().splitlines()[0] == "float64 beamng_fuel  # 1: fuel, share of a full tank"
    assert channel.metadata["names"] == '["beamng.fuel", "beamng.wheel_fl.braking_torque"]'
    assert np.frombuffer(message.data, "<f8", 2, 4)[1] == 100.0
    assert (len(rows), message.log_time) == (250, 1_000_000_000)


def test_a_cut_file_has_the_signals_of_its_rows(recorded, tmp_path):
    cut = tmp_path / "cut.mcap"
    shutil.copy(recorded, cut)
    with cut.open("r+b") as file:
        file.truncate(recorded.stat().st_size * 6 // 10)
    recording = Recording.open(cut)
    rows = len(recording)
    assert 50 <= rows < 250
    torque = recording.signals["beamng.wheel_fl.braking_torque"]
    assert len(torque) == rows
    seen = torque[~np.isnan(torque)]
    assert seen.tolist() == list(range(1, 1 + len(seen)))
