"""What a GPS receiver tells of a car: its limit lap, of laps driven in the embedded world a few percent below it."""

import numpy as np
import pytest
from helpers.lap_log_files import Laps, write_gps

from trailbrake.analysis.comparison import DriveChoice
from trailbrake.cars.car_library import load_car
from trailbrake.coaching.coach_session import coach_laps
from trailbrake.coaching.lap_choice import choose_laps
from trailbrake.coaching.learned_place import learn_place
from trailbrake.coaching.limit_lap import find_limit_lap, measure_deviation
from trailbrake.coaching.options import CoachOptions
from trailbrake.drivers.line_track import Driver as LineTrack
from trailbrake.driving.drive_files import open_drive
from trailbrake.driving.session.drive_session import drive
from trailbrake.learning.identification.learned_car import learn_car
from trailbrake.learning.learning_drives import read_drive
from trailbrake.planning.course import GRIP_MARGIN, Course
from trailbrake.record.recording_reader import Recording
from trailbrake.tracks.track_library import load_track
from trailbrake.world.car_scaling import scale_car

RATE = 10.0  # Hz
WITHIN = 0.04  # of the true limit lap


class PacedTrack(LineTrack):
    """`line_track` that plans a share of the speed that the car can have in bends."""

    def __init__(self, share):
        super().__init__(learn=0.0)
        self.share = share

    def reset(self, course):
        super().reset(Course(course.track, scale_car(course.known_car(), grip=self.share**2 / GRIP_MARGIN)))


def record_gps(car, track, share, folder):
    """Drive, and write what a receiver at RATE has of it; return the file and the lap times."""
    summary = drive(driver=PacedTrack(share), sim="forza", track=track, car=car, laps=4, report=False, out=str(folder))
    recording = Recording.open(summary["recording"])
    state = recording.state
    time = np.asarray(state["time"])
    at = np.arange(time[0], time[-1], 1.0 / RATE)
    x, y, z, speed = (np.interp(at, time, np.asarray(state[name])) for name in ("x", "y", "z", "speed"))
    lap = np.asarray(state["lap"])[np.searchsorted(time, at)]
    no = np.full(len(at), np.nan)
    laps = Laps(at - at[0], no, x, y, z, no, speed, no, no, no, no, no, no, no, no, lap, no, 0.0, [])
    return write_gps(folder / "gps.csv", laps), [lap.time_s for lap in recording.laps]


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("TRAILBRAKE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TRAILBRAKE_LINES", str(tmp_path / "lines"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("car", "track", "share"), [("gt3", "pinegrove", 0.97), ("hatchback", "lakeside", 0.96), ("kart", "kartwerk", 0.96)]
)
def test_the_limit_lap_of_gps_is_that_of_the_car(car, track, share, tmp_path):
    path, times = record_gps(car, track, share, tmp_path)
    learned = learn_car(read_drive(path, 0))
    assert learned.tyres is None
    assert any("scaled to the accelerations that were driven" in line for line in learned.missing)
    assert not any(line.startswith(("brakes", "drive force")) for line in learned.missing)  # they are found
    road = load_track(track)
    truth = Course(road, load_car(car)).profile.lap_time
    course = Course(road, learned.car)
    found, deviation = course.profile.lap_time, measure_deviation(course, learned.car.uncertainty, max(learned.used))
    assert found == pytest.approx(truth, rel=WITHIN)
    assert found - 1.96 * deviation < truth < found + 1.96 * deviation
    # The coach has no road but that of the laps; the car can do what it was driven at.
    drives = [DriveChoice(open_drive(path), "me")]
    if car == "hatchback":
        report = coach_laps(drives, CoachOptions(limit=False, page=False))
        chosen, limit, best = report.chosen, report.limit, report.best_s
        assert np.isfinite(report.share)
    else:  # the limit alone: laps at the person's pace are the same for any receiver
        chosen = choose_laps(drives)
        best = min(lap.time_s for lap in chosen.laps)
        limit = find_limit_lap(learn_place(chosen, CoachOptions(), print), chosen.line, best, print, drive=False)
    assert len(chosen.laps) >= 2
    assert best == pytest.approx(min(times), abs=0.06)
    truth = min(truth, best)
    assert limit.time_s == pytest.approx(truth, rel=WITHIN)
    assert limit.least_s < truth <= limit.most_s + 0.01  # s: of the best sections together
