"""Drives that a car is learned from: what cannot be read or driven takes nothing of what was driven before."""

import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.driving.session.drive_setup import describe_signals
from trailbrake.driving.session.progress import SilentListener
from trailbrake.errors import DataError, SimulatorError, UsageError
from trailbrake.learning import learning_drives
from trailbrake.learning.identification.learned_car import learn_car
from trailbrake.learning.learning_drives import LapStage, LearningProgress, drive_learned_laps, read_drive
from trailbrake.learning.learning_journal import LearningJournal, LearningStep
from trailbrake.learning.recorded_drive import DriveTarget, FaultMonitor, RecordedDrive, make_stage_goal
from trailbrake.record import row_reader
from trailbrake.record.csv_files import export_csv
from trailbrake.record.format import WIRE_DELAY
from trailbrake.record.recorder import Recorder
from trailbrake.record.recording_reader import Recording
from trailbrake.sims.forza.signals import LEARNING_SIGNALS, SIGNALS
from trailbrake.sims.registry import find
from trailbrake.state import CarState, Controls, SignalValues
from trailbrake.state.signals import match_signals
from trailbrake.tracks.track_library import load_track

TRACK = load_track("kartwerk")


class Lines(SilentListener):
    def __init__(self):
        self.lines = []

    def show_message(self, text):
        self.lines.append(text)


def drive_laps(sim, progress):
    target = DriveTarget(
        find(sim), DriveFlags(sim=sim, driver="car_test", track="kartwerk", car="kart").make_spec(), None
    )
    names, goal = ("laps", "laps_recording"), make_stage_goal(1.0, 60.0)
    plan = LapStage(names, TRACK, load_car("kart"), goal, FaultMonitor(TRACK.road))
    return drive_learned_laps(target, plan, progress)


def test_a_recording_that_teaches_nothing_is_counted_and_said(tmp_path):
    broken = tmp_path / "broken.mcap"
    broken.write_text("no recording")
    journal = LearningJournal(tmp_path / "car.learning", "basis", again=False, show_message=print)
    progress = LearningProgress([], [], Lines(), journal)
    progress.add_step(LearningStep("laps", str(broken), 12.0, True))
    assert (progress.seconds, progress.paths, progress.tables) == (12.0, [broken], [])
    assert "not learned from" in progress.listener.lines[0]
    progress.add_step(LearningStep("verification 1", str(broken), 3.0, True), teaches=False)
    assert (progress.seconds, len(progress.listener.lines)) == (15.0, 1)
    assert [step.name for step in journal.steps] == ["laps", "verification 1"]


def test_a_simulator_that_goes_away_leaves_what_was_driven(monkeypatch):
    def lose(*args):
        raise SimulatorError("no answer")

    monkeypatch.setattr(learning_drives, "record_drive", lose)
    progress = LearningProgress(["a table"], [], Lines())
    assert drive_laps("forza", progress) is None
    assert progress.interrupted
    assert progress.listener.lines == ["laps was not driven: no answer"]


def test_a_drive_that_breaks_off_is_no_fault_of_the_car(monkeypatch, tmp_path):
    recorded = RecordedDrive(tmp_path / "laps.mcap", 10.0, "the driver raised")
    monkeypatch.setattr(learning_drives, "record_drive", lambda *args: recorded)
    progress = LearningProgress(["a table"], [], Lines())
    found = drive_laps("forza", progress)
    assert found == (recorded, None)
    assert progress.listener.lines == ["laps broke off: the driver raised"]


@pytest.mark.parametrize(("step", "speed"), [(0.5, 12.0), (1.0, 3.0)])
def test_a_car_that_leaves_the_road_at_once_or_at_walking_pace_has_no_map_of_it(monkeypatch, tmp_path, step, speed):
    """With a map turned by 90 degrees the grip was lowered to a third, in nine drives of two seconds."""

    def drive_across(target, driver, end, *args):
        for k in range(40):
            end.monitor.tick(CarState(time=0.1 * k, x=0.0, y=step * k, speed=speed), Controls())
            if end.is_over():
                break
        return RecordedDrive(tmp_path / "laps.mcap", 2.0, "")

    monkeypatch.setattr(learning_drives, "record_drive", drive_across)
    with pytest.raises(DataError, match=r"the road of the map is not where the car is, got off it after .* m, at"):
        drive_laps("forza", LearningProgress(["a table"], [], Lines()))


def test_a_wire_that_supplies_too_little_is_said():
    progress = LearningProgress(["a table"], [], Lines())
    assert drive_laps("udacity_pid", progress) is None
    assert "no laps with the learned car" in progress.listener.lines[0]


def record(path, rows=400, **about):
    """Write a recording of a straight drive on a road 8 m wide; from row 300 on the car is beside it."""
    recorder = Recorder(path)
    recorder.start({"sim": "forza", **about})
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


def test_commands_of_an_open_loop_replay_teach_nothing(tmp_path):
    path = record(tmp_path / "a.mcap", open_loop="driven.mcap")
    table = read_drive(path, 0)
    assert np.isnan(table.steer).all()
    assert np.isnan(table.brake_command).all()
    assert table.fx == pytest.approx(np.full(len(table), 0.1))


def test_a_long_recording_is_unpacked_once_for_all_columns(tmp_path, monkeypatch):
    """Chunks beyond the first megabytes are not kept: a pass for each column unpacked them over a hundred times."""
    path = record(tmp_path / "a.mcap")
    unpacked, read_chunks = [], row_reader.read_chunks
    monkeypatch.setattr(row_reader, "KEPT_BYTES", 0)
    monkeypatch.setattr(row_reader, "read_chunks", lambda places: read_chunks(unpacked.append(len(places)) or places))
    read_drive(path, 0)
    assert 0 < sum(unpacked) <= 4 * max(unpacked)  # states, controls, what was undone


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
