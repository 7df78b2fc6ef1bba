"""A learned car file is written with what its laps have held: lowered after each that failed, and no further."""

import json
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from trailbrake.cars.car_library import load_car
from trailbrake.cars.learned import Uncertainty
from trailbrake.driving.run import INTERRUPTED
from trailbrake.driving.session.progress import SilentListener
from trailbrake.errors import DataError
from trailbrake.learning import verification_laps
from trailbrake.learning.identification.planned_car import GRIP_STEPS, LapFault
from trailbrake.learning.learning_drives import LapDrive, LearningProgress
from trailbrake.learning.learning_journal import LearningJournal
from trailbrake.learning.recorded_drive import RecordedDrive
from trailbrake.learning.verification_laps import ATTEMPTS, verify_file
from trailbrake.state import CarState
from trailbrake.tracks.track_library import load_track

TRACK = load_track("kartwerk")
DOUBT = Uncertainty(source="test", lateral_grip=0.0, braking=0.0, drive_force=0.0, downforce=0.0, steer_angle=0.0,
                    delay=0.0)  # fmt: skip
SLIDE = LapFault("braking", 20.0)
LATE, BROKEN = "late", "the driver raised"


class Scene:
    """A learning whose verification laps end as `outcomes` say: None clean, a fault, or one of the texts above."""

    def __init__(self, monkeypatch, folder, outcomes):
        self.outcomes, self.believed, self.kept, self.folder = list(outcomes), [], [], folder
        self.monkeypatch = monkeypatch
        car = replace(load_car("gt3"), uncertainty=DOUBT)
        learned = SimpleNamespace(car=car, used=(2.0, 2.0), values={}, missing=(), kind=SimpleNamespace(name="gt"))
        monkeypatch.setattr(verification_laps, "join_tables", lambda tables: tables)
        monkeypatch.setattr(verification_laps, "learn_car", lambda table, name: learned)
        monkeypatch.setattr(verification_laps, "drive_learned_laps", self.drive)

    def drive(self, target, plan, progress):
        self.believed.append(plan.car)
        outcome = self.outcomes.pop(0)
        path = self.folder / f"{plan.names[1]}.mcap"
        path.write_bytes(b"")
        reason = outcome if outcome in (INTERRUPTED, BROKEN) else ""
        progress.interrupted = reason == INTERRUPTED
        fault = outcome if isinstance(outcome, LapFault) else None
        for time in (0.0, 1e6 if outcome == LATE else 1.0):
            plan.monitor.observe_state(CarState(time=time, x=10.0 * (time > 0.0), y=0.0, speed=1.0))
        return LapDrive(RecordedDrive(path, 50.0, reason), fault)

    def verify(self):
        journal = LearningJournal(self.folder / "car.learning", "basis", again=False, show_message=print)
        progress = LearningProgress([], [], SilentListener(), journal)
        self.monkeypatch.setattr(
            progress, "keep_drive", lambda path, seconds, teaches: self.kept.append((path.name, teaches))
        )
        return verify_file(None, TRACK, progress, ("mine", "kartwerk_car")), progress


def test_a_clean_car_is_written_as_it_was_driven(monkeypatch, tmp_path):
    scene = Scene(monkeypatch, tmp_path, [None])
    file, progress = scene.verify()
    assert file.car.uncertainty.verified_laps == 2
    assert file.car.uncertainty.planned_share == 1.0
    assert scene.believed[0].tyre_front.mu_y == pytest.approx(file.car.tyre_front.mu_y)
    # What was driven clean is not learned from: else the file would be another than the one that was driven.
    assert scene.kept == [("kartwerk_car_verification1.mcap", False)]
    assert progress.verification["laps"] == 2
    assert progress.verification["drives"][0]["outcome"] == "clean"


def test_the_plan_is_lowered_until_the_laps_are_clean(monkeypatch, tmp_path):
    scene = Scene(monkeypatch, tmp_path, [SLIDE, SLIDE, None])
    file, progress = scene.verify()
    shares = [car.uncertainty.planned_share for car in scene.believed]
    assert shares == pytest.approx([1.0, GRIP_STEPS[0], GRIP_STEPS[0] * GRIP_STEPS[1]])
    assert file.car.uncertainty.planned_along == pytest.approx(0.81)
    assert file.car.uncertainty.verified_laps == 2
    assert [teaches for _, teaches in scene.kept] == [True, True, False]
    assert [drive["outcome"] for drive in progress.verification["drives"]][2] == "clean"


def test_a_car_that_never_stays_on_the_road_gets_no_file(monkeypatch, tmp_path):
    scene = Scene(monkeypatch, tmp_path, [SLIDE] * ATTEMPTS)
    with pytest.raises(DataError, match=f"no car file: in {ATTEMPTS} drives .* braking, at 20 m/s"):
        scene.verify()


def test_a_later_call_drives_only_what_is_missing(monkeypatch, tmp_path):
    first = Scene(monkeypatch, tmp_path, [SLIDE, INTERRUPTED])
    file, progress = first.verify()
    assert progress.interrupted
    assert file.car.uncertainty.verified_laps == 0
    second = Scene(monkeypatch, tmp_path, [None])
    again, _ = second.verify()
    assert len(second.believed) == 1
    assert again.car.uncertainty.planned_share == pytest.approx(GRIP_STEPS[0])
    third = Scene(monkeypatch, tmp_path, [])
    assert third.verify()[0].car == again.car


def test_laps_that_take_too_long_fail(monkeypatch, tmp_path):
    scene = Scene(monkeypatch, tmp_path, [LATE, None])
    _, progress = scene.verify()
    assert [drive["outcome"] for drive in progress.verification["drives"]] == ["the car got stuck", "clean"]


def test_a_drive_that_breaks_off_lowers_nothing(monkeypatch, tmp_path):
    scene = Scene(monkeypatch, tmp_path, [BROKEN, None])
    file, progress = scene.verify()
    assert (file.car.uncertainty.planned_share, file.car.uncertainty.verified_laps) == (1.0, 0)
    assert progress.verification["drives"][0]["outcome"] == "broken off"
    assert scene.verify()[0].car.uncertainty.verified_laps == 2


def test_another_car_is_driven_anew(monkeypatch, tmp_path):
    Scene(monkeypatch, tmp_path, [None]).verify()
    (journal,) = (tmp_path / "car.learning").iterdir()
    content = json.loads(journal.read_text())
    content["result"][0]["car"] = "of another version"
    journal.write_text(json.dumps(content))
    scene = Scene(monkeypatch, tmp_path, [SLIDE, None])
    file, _ = scene.verify()
    assert len(scene.believed) == 2
    assert file.car.uncertainty.planned_share == pytest.approx(GRIP_STEPS[0])


def test_laps_that_cannot_be_driven_leave_an_unverified_file(monkeypatch, tmp_path):
    scene = Scene(monkeypatch, tmp_path, [])
    monkeypatch.setattr(verification_laps, "drive_learned_laps", lambda *args: None)
    file, progress = scene.verify()
    assert file.car.uncertainty.verified_laps == 0
    assert progress.verification["laps"] == 0
