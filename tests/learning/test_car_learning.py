"""A car learned over the wire: the file can be driven, and numbers are near those of the world's car."""

import math
import shutil
from pathlib import Path

import numpy as np
import pytest
from helpers.known_drives import make_table

from trailbrake.cars.car_library import load_car
from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.driving.session.progress import SilentListener
from trailbrake.errors import DataError, UsageError
from trailbrake.learning import car_learning as learn_car
from trailbrake.learning.car_learning import EFFORTS, describe_road_limits, learn_car_file
from trailbrake.learning.identification.actuator_response import find_response, run_actuator
from trailbrake.learning.identification.car_draft import CarDraft
from trailbrake.learning.identification.class_priors import CLASSES, make_prior_car
from trailbrake.learning.identification.learned_car import learn_car as identify_car
from trailbrake.learning.identification.learned_car import put_delay, put_shown_brakes
from trailbrake.learning.identification.learned_value import identified
from trailbrake.learning.learning_drives import LearningProgress, read_drive
from trailbrake.learning.learning_journal import LearningJournal
from trailbrake.learning.options import LearnCarOptions
from trailbrake.learning.recorded_drive import DriveTarget, RecordedDrive
from trailbrake.learning.verification_laps import teaches
from trailbrake.sims.registry import find
from trailbrake.tracks.road import Road
from trailbrake.tracks.track_library import load_track


def test_a_road_too_short_or_too_narrow_is_said_before_the_drive():
    def straight(length, half):
        count = int(length / 2.0) + 1
        x = 2.0 * np.arange(count)
        return Road.from_columns(2.0, False, x, 0.0 * x, 0.0 * x, 0.0 * x, width_left=half, width_right=half)

    assert describe_road_limits(straight(2000.0, 4.0)) == ()
    assert "the road ends after 300 m" in describe_road_limits(straight(300.0, 4.0))[0]
    assert "the road is 3.0 m wide" in describe_road_limits(straight(2000.0, 1.5))[0]
    assert describe_road_limits(load_track("kartwerk").road) == ()


def test_brakes_that_are_not_known_are_no_weaker_than_what_was_driven():
    """Brakes of the class gave two thirds of a deceleration that was driven: every corner was braked for early."""
    draft = CarDraft(make_prior_car(CLASSES[0]))
    usual = draft.car.full_brake_force / draft.car.body.mass
    put_shown_brakes(make_table(300, vx=30.0, fx=-0.5 * usual), draft)
    assert draft.car.full_brake_force / draft.car.body.mass == pytest.approx(usual)
    put_shown_brakes(make_table(300, vx=30.0, fx=-2.0 * usual), draft)
    assert draft.car.full_brake_force / draft.car.body.mass >= 2.0 * usual
    assert "hardly braked" in draft.missing[0]


def test_the_steering_wheel_tells_the_delay_as_well_as_the_brakes():
    """On an open road of 900 m the file had the usual 20 ms for 46, and laps of the learned car were 2.3 % slower."""
    time = np.arange(0.0, 30.0, 0.01)
    command = np.repeat(np.random.default_rng(2).uniform(-0.5, 0.5, 100), 30)
    wheel = np.zeros(len(time))
    run_actuator(np.stack([time, command, wheel, wheel]), np.array([0.046, 0.0, 14.0, 6.0, 0.0]), False, wheel)
    response = find_response(time, command, wheel, usual_rate=14.0)
    draft = CarDraft(make_prior_car(CLASSES[0]))
    put_delay(draft, None, response)
    assert draft.car.actuation.delay == pytest.approx(0.046, abs=0.004)
    assert draft.missing == []
    put_delay(draft, identified(0.041, 0.0018, "brake steps"), response)
    low, high = draft.values["actuation.delay"].interval
    assert low < 0.046 < high  # by the brakes alone it was outside
    put_delay(draft, None, None)
    assert draft.values["actuation.delay"].source == "prior"
    assert "delay" in draft.missing[0]


def test_a_log_without_wheel_speeds_is_learned_from_the_limits_that_were_driven():
    """iRacing's logs have the slip of the body, and no wheel speeds: the coach ended with a traceback."""
    learned = identify_car(read_drive(Path(__file__).parents[1] / "golden" / "lap_logs" / "laps.ibt", 0))
    assert learned.tyres is None
    assert learned.shown is not None
    assert any("no wheel speeds" in line for line in learned.missing)


class Drives:
    """Test drives that end as `ends` say, one after the other: seconds and why."""

    def __init__(self, monkeypatch, tmp_path, ends):
        self.ends, self.efforts, self.tmp_path = list(ends), [], tmp_path
        monkeypatch.setattr(learn_car, "record_step", self.drive)
        monkeypatch.setattr(LearningProgress, "keep_drive", lambda *args, **more: None)

    def drive(self, target, driver, end, names, progress):
        seconds, why, broke_off = self.ends.pop(0)
        driver.finished, driver.ended, driver.broke_off = True, why, broke_off
        assert end.is_over()
        self.efforts.append(driver.effort)
        path = self.tmp_path / f"{len(self.ends)}.mcap"
        path.touch()
        return RecordedDrive(path, seconds, "")

    def run(self):
        journal = LearningJournal(self.tmp_path / "car.learning", "basis", again=False, show_message=print)
        progress = LearningProgress([], [], SilentListener(), journal)
        target = DriveTarget(find("forza"), DriveFlags(sim="forza", driver="car_test", track="kartwerk"), None)
        learn_car._drive_test(target, load_track("kartwerk"), progress, LearnCarOptions())
        return journal


OFFS, OVER = "the car left the road too often", "the programme is over"


def test_a_test_drive_that_breaks_off_is_driven_again_more_gently(monkeypatch, tmp_path):
    drives = Drives(monkeypatch, tmp_path, [(55.0, OFFS, True), (215.0, OVER, False)])
    journal = drives.run()
    assert drives.efforts == list(EFFORTS[:2])
    assert [(step.seconds, step.left_road, step.outcome) for step in journal.steps] == [(55.0, True, OFFS),
                                                                                        (215.0, False, "")]  # fmt: skip
    assert all(teaches(step) for step in journal.steps)
    drives.run()  # goes on from the journal: there is nothing left
    assert not drives.ends and len(drives.efforts) == 2  # noqa: PT018


def test_test_drives_end_after_some_that_broke_off_or_when_the_time_is_over(monkeypatch, tmp_path):
    broken = [(30.0, OFFS, True)] * 4
    drives = Drives(monkeypatch, tmp_path, broken)
    drives.run()
    drives.run()
    assert drives.efforts == list(EFFORTS)
    shutil.rmtree(tmp_path / "car.learning")
    late = Drives(monkeypatch, tmp_path, [(240.0, OFFS, True), (1.0, OVER, False)])
    late.run()
    assert late.efforts == [1.0]


@pytest.mark.slow
def test_a_short_test_drive_gives_a_car_file_and_a_report(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_RECORDINGS", str(tmp_path))
    out = tmp_path / "mine.toml"
    options = LearnCarOptions(
        sim="forza", track="pinegrove", car="gt3", seconds=100.0, programme=100.0, laps=0, out=out
    )
    result = learn_car_file(find("forza"), options)
    assert result["verification"]["drives"][-1]["outcome"] == "clean"
    assert load_car(out).uncertainty.verified_laps == 2
    again = learn_car_file(
        find("forza"), LearnCarOptions(source=tuple(map(Path, result["recordings"])), out=tmp_path / "again.toml")
    )
    # From the same drive, and no laps with the file: what is written after laps is what stayed on the road.
    learned, truth = load_car(again["car"]), load_car("gt3")
    assert learned.uncertainty.verified_laps == 0
    assert load_car(out).tyre_front.mu_y <= learned.tyre_front.mu_y
    assert learned.steering.max_angle / learned.body.wheelbase == pytest.approx(
        truth.steering.max_angle / truth.body.wheelbase, rel=0.06
    )
    assert learned.body.wheelbase == pytest.approx(truth.body.wheelbase, rel=0.05)
    assert learned.tyre_rear.radius == pytest.approx(truth.tyre_rear.radius, rel=0.01)
    assert learned.gearbox.overall_ratio(1) == pytest.approx(truth.gearbox.overall_ratio(1), rel=0.01)
    assert learned.drive.layout == "rwd"
    force = result["values"]["brakes.force_over_mass"]["value"]
    # A third of the usual programme has few brakings of each strength.
    assert force == pytest.approx(truth.full_brake_force / truth.body.mass, rel=0.15)
    assert result["values"]["body.mass"]["source"] == "identified"
    assert learned.body.mass == pytest.approx(truth.body.mass, rel=0.1)
    page = (tmp_path / "mine.html").read_text(encoding="utf-8")
    assert page.count("<svg") >= 4
    assert "steering.max_angle" in page


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"seconds": -1.0}, "--seconds: no number of seconds, expected above 0, got -1"),
        ({"programme": math.nan}, "--programme: no number of seconds, expected above 0, got nan"),
        ({"laps": 4}, "--laps: no number of stages, expected 0 to 3, got 4"),
    ],
)
def test_amounts_out_of_range_are_refused_before_the_drive(options, line):
    with pytest.raises(UsageError, match=line):
        learn_car_file(find("forza"), LearnCarOptions(**options).with_defaults())


def test_what_cannot_be_learned_is_said(tmp_path):
    with pytest.raises(UsageError, match="cannot read the recording"):
        learn_car_file(find("forza"), LearnCarOptions(source=(tmp_path / "none.mcap",)))
    other = tmp_path / "other.mcap"
    other.write_text("no recording")
    with pytest.raises(DataError, match="not a recording"):
        learn_car_file(find("forza"), LearnCarOptions(source=(other,)))
    with pytest.raises(UsageError, match="driver car_test needs what udacity_pid does not supply"):
        learn_car_file(find("udacity_pid"), LearnCarOptions(sim="udacity_pid").with_defaults())
