"""Drives to learn from, of each kind of file."""

import numpy as np
import pytest

from trailbrake.driving.session.drive_setup import describe_signals
from trailbrake.errors import DataError, UsageError
from trailbrake.learning.drive_sources import read_drive
from trailbrake.learning.identification.learned_car import learn_car
from trailbrake.record.csv_export import export_csv
from trailbrake.record.format import WIRE_DELAY
from trailbrake.record.recorder import Recorder
from trailbrake.record.recording_reader import Recording
from trailbrake.sims.forza.signals import LEARNING_SIGNALS, SIGNALS
from trailbrake.state import CarState, Controls, SignalValues
from trailbrake.state.signals import match_signals


def record(path, rows=400):
    """Write a recording of a straight drive on a road 8 m wide; from row 300 on the car is beside it."""
    recorder = Recorder(path)
    recorder.start({"sim": "forza"})
    x = np.arange(-20.0, 300.0, 5.0)
    centre = np.column_stack([x, 0.0 * x])
    half = np.array([0.0, 4.0])
    recorder.store_map(centre, centre + half, centre - half, False)
    for k in range(rows):
        state = CarState(
            time=0.02 * k, x=0.4 * k, y=8.0 if k >= 300 else 0.0, velocity_x=20.0, velocity_y=0.0, yaw_rate=0.0,
            acceleration_x=0.1, acceleration_y=0.0, speed=20.0,
        )  # fmt: skip
        recorder.tick(state, Controls(steer=0.01, throttle=0.5))
    recorder.close()
    return path


def test_rows_beside_the_recorded_road_are_left_out(tmp_path):
    table = read_drive(record(tmp_path / "a.mcap"), 0)
    assert len(table) == pytest.approx(300, abs=2)
    assert (table.y == 0.0).all()


def test_rows_on_another_surface_than_the_drives_are_left_out(tmp_path):
    def record_ground(name, rumble_of, strip_of, others=0.0):
        signals = match_signals(SIGNALS, LEARNING_SIGNALS, where="test")
        recorder = Recorder(tmp_path / name, signals=signals)
        recorder.start({"sim": "forza", "signals": describe_signals(signals)})
        for k in range(600):
            state = CarState(time=0.02 * k, velocity_x=20.0, velocity_y=0.0, yaw_rate=0.0, acceleration_x=0.1,
                             acceleration_y=0.0, speed=20.0)  # fmt: skip
            values = {signal.name: others if signal.name.endswith(".rumble") else 0.0 for signal in signals}
            values["forza.wheel_rr.rumble"], values["forza.wheel_rr.on_rumble_strip"] = rumble_of(k), strip_of(k)
            state.signals = SignalValues({name: place for place, name in enumerate(values)}, tuple(values.values()))
            recorder.tick(state, Controls())
        recorder.close()
        return read_drive(tmp_path / name, 0)

    verge = record_ground("verge.mcap", lambda k: 0.12 if 200 <= k < 300 else 0.0, lambda k: 0.0)
    assert len(verge) == 600 - 100 - 25  # the verge, and half a second after it
    assert not ((verge.time >= 4.0) & (verge.time < 6.4)).any()
    kerb = record_ground("kerb.mcap", lambda k: 0.12 if 200 <= k < 300 else 0.0, lambda k: float(200 <= k < 300))
    assert len(kerb) == 600
    dirt = record_ground("dirt.mcap", lambda k: 0.6, lambda k: 0.0, others=0.6)  # a road of another surface is one
    assert len(dirt) == 600
    astray = record_ground("astray.mcap", lambda k: 0.6, lambda k: 0.0)
    with pytest.raises(DataError, match="driving on a road"):
        learn_car(astray)


def test_an_export_teaches_what_its_recording_does(tmp_path):
    path = record(tmp_path / "a.mcap")
    export_csv(Recording.open(path), tmp_path / "a.csv")
    table = read_drive(tmp_path / "a.csv", 3)
    assert len(table) == 400  # a table has no road
    assert (table.drive == 3.0).all()
    assert table.steer.tolist() == [0.01] * 400
    assert table.fx == pytest.approx(np.full(400, 0.1))


def test_what_is_no_drive_is_one_line(tmp_path):
    with pytest.raises(UsageError, match="cannot read the recording"):
        read_drive(tmp_path / "none.csv", 0)
    (tmp_path / "a.csv").write_text("hello\n")
    with pytest.raises(DataError, match=r"a\.csv"):
        read_drive(tmp_path / "a.csv", 0)
    short = tmp_path / "short.csv"
    short.write_text(
        "time_s,velocity_x_mps,velocity_y_mps,yaw_rate_radps,acceleration_x_mps2,acceleration_y_mps2\n0,1,0,0,0,0\n"
    )
    with pytest.raises(DataError, match="no time that goes on"):
        read_drive(short, 0)


def test_commands_count_from_when_they_are_in_force(tmp_path):
    path = tmp_path / "a.mcap"
    recorder = Recorder(path)
    recorder.start({"sim": "beamng", WIRE_DELAY: 0.005})
    for k in range(800):
        state = CarState(time=0.005 * k, x=0.1 * k, y=0.0, velocity_x=20.0, velocity_y=0.0, yaw_rate=0.0,
                         acceleration_x=0.0, acceleration_y=0.0, speed=20.0)  # fmt: skip
        recorder.tick(state, Controls(brake=float(k >= 401)))
    recorder.close()
    table = read_drive(path, 0)  # two samples a row: the command of sample 401 is in force from 402 on
    assert np.diff(table.time) == pytest.approx(0.01)
    assert table.brake_command[199:203] == pytest.approx([0.0, 0.0, 1.0, 1.0])
    late = np.searchsorted(table.time, 0.005 * 401)
    assert table.brake_command[late] == 1.0
