from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.coached_laps import make_laps, make_place

from trailbrake.analysis.lap_location import CommonLine
from trailbrake.analysis.reference_line import make_line
from trailbrake.cars.car_library import load_car
from trailbrake.coaching.ghost_laps import TOUCH_JUMP, PacedDriver, Place, coach_folder, drive_at_pace
from trailbrake.errors import DataError
from trailbrake.planning.course import GRIP_MARGIN, Course
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track_library import load_track


def test_a_paced_driver_plans_the_lap_of_its_share():
    course, _ = make_place()
    driver = PacedDriver(0.8)
    driver.reset(course)
    wanted = course.plan_speeds(driver.line, start=-1.0, margin=0.8).speed
    assert driver.plan.speeds == pytest.approx(wanted, rel=0.03)
    full = PacedDriver(GRIP_MARGIN)
    full.reset(course)
    assert full.plan.speeds == pytest.approx(course.profile.speed, rel=1e-9)


def test_laps_of_other_cars_and_roads_are_kept_apart(monkeypatch, tmp_path):
    monkeypatch.setenv("TRAILBRAKE_CACHE", str(tmp_path))
    course, _ = make_place()
    other = make_place(car="hatchback")[0]
    folders = {Place("pinegrove", "gt3", each).folder for each in (course, other)}
    assert len(folders) == 2
    assert all(folder.parent == coach_folder() == tmp_path / "coach" for folder in folders)


def test_a_drive_that_is_broken_off_leaves_nothing(monkeypatch, tmp_path):
    def break_off(out, **names):
        recording = Path(out) / "a.mcap"
        recording.write_bytes(b"half a drive")
        return {"recording": str(recording), "ended": "interrupted"}

    monkeypatch.setattr("trailbrake.coaching.ghost_laps.cache_folder", lambda: tmp_path)
    monkeypatch.setattr("trailbrake.coaching.ghost_laps.drive", break_off)
    place = Place("pinegrove", "gt3", make_place()[0])
    with pytest.raises(DataError, match=r"did not get round, expected 2 laps, got interrupted"):
        drive_at_pace(place, 0.8, None)
    assert list(place.folder.iterdir()) == []


def test_a_lap_that_touches_a_wall_is_no_pace_and_a_lower_one_is_driven(monkeypatch):
    def drive_once(place, name, driver, count):
        driven.append(driver.share)
        return SimpleNamespace(path=name)

    driven, whole = [], replace(make_laps(np.random.default_rng(0), laps=1)[0], from_rest=False)
    speed = whole.channels["speed"].copy()
    speed[len(speed) // 2 :] -= TOUCH_JUMP + 0.5
    crashed = replace(whole, time_s=whole.time_s - 1.0, channels=whole.channels | {"speed": speed})
    laps = iter([[crashed], [crashed, whole]])
    monkeypatch.setattr("trailbrake.coaching.ghost_laps._drive_once", drive_once)
    monkeypatch.setattr("trailbrake.coaching.ghost_laps.locate_laps", lambda *_: next(laps))
    course, common = make_place()
    lap, share = drive_at_pace(Place("pinegrove", "gt3", course), 0.85, common)
    assert driven == [0.85, share] == pytest.approx([0.85, 0.81])
    assert lap.time_s == whole.time_s
    laps = iter([[crashed]] * 3)
    with pytest.raises(DataError, match="did not get round"):
        drive_at_pace(Place("pinegrove", "gt3", course), 0.85, common)


@pytest.mark.slow
def test_a_lap_at_a_pace_is_driven_once_and_as_quick_as_planned(monkeypatch, tmp_path):
    monkeypatch.setattr("trailbrake.coaching.ghost_laps.cache_folder", lambda: tmp_path)
    course = Course(load_track("kartwerk"), load_car("hatchback"))
    road = course.track.road
    line = make_line(road.column(RoadColumn.X), road.column(RoadColumn.Y), road.closed)
    common, place = CommonLine(line, line.length, "centre line", True), Place("kartwerk", "hatchback", course)
    lap, share = drive_at_pace(place, 0.804, common)
    planned = course.plan_speeds(course.line, start=-1.0, margin=0.8).lap_time
    assert share == pytest.approx(0.8)
    assert lap.time_s == pytest.approx(planned, rel=0.05)
    monkeypatch.setattr("trailbrake.coaching.ghost_laps.drive", None)
    assert drive_at_pace(place, 0.8, common)[0].time_s == lap.time_s
