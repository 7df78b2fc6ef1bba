"""Drives that a car is learned from: what cannot be read or driven takes nothing of what was driven before."""

from trailbrake.cars.car_library import load_car
from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.driving.session.progress import SilentListener
from trailbrake.errors import SimulatorError
from trailbrake.learning import learning_drives
from trailbrake.learning.learning_drives import LapStage, LearningProgress, drive_learned_laps
from trailbrake.learning.learning_journal import LearningJournal, LearningStep
from trailbrake.learning.recorded_drive import DriveTarget, FaultMonitor, RecordedDrive, make_stage_goal
from trailbrake.sims.registry import find
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


def test_a_wire_that_supplies_too_little_is_said():
    progress = LearningProgress(["a table"], [], Lines())
    assert drive_laps("udacity_pid", progress) is None
    assert "no laps with the learned car" in progress.listener.lines[0]
