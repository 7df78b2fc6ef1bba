"""Drives follow the kept line of their track and car, and no other."""

import numpy as np
import pytest
from helpers.kept_line import CAR, TRACK, keep_line

from trailbrake.cars.car_library import load_car
from trailbrake.drivers.loading.driver_registry import load_driver
from trailbrake.driving.session.line_choice import MINIMUM_TIME, OWN, choose_line, pack_content
from trailbrake.driving.session.progress import SilentListener
from trailbrake.driving.spec import CarSpec
from trailbrake.errors import DataError
from trailbrake.planning.course import Course
from trailbrake.tracks.track_library import load_track


class Messages(SilentListener):
    def __init__(self):
        self.messages = []

    def show_message(self, text):
        self.messages.append(text)


class Follower:
    follows_minimum_time_line = True


def plan(listener=None, driver=Follower, **options):
    listener = listener or SilentListener()
    course = Course(load_track(TRACK), load_car(CAR))
    return choose_line(course, driver(), CarSpec(**options), listener.show_message)[0]


def test_a_drive_follows_the_kept_line(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_LINES", str(tmp_path))
    assert plan().given_line is None
    keep_line(1.0)
    listener = Messages()
    course = plan(listener)
    assert "--no-cached-line" in listener.messages[0]
    away = course.track.road.locate_many(course.line.table[:, :2])[:, 1]
    np.testing.assert_allclose(away, 1.0, atol=0.1)
    assert plan(cached_line=False).given_line is None


def test_a_driver_that_does_not_declare_it_gets_its_own_line(tmp_path, monkeypatch):
    """Finding E1: a line that was kept for one driver changed the drives of all others on this machine."""
    monkeypatch.setenv("TRAILBRAKE_LINES", str(tmp_path))
    keep_line(1.0)
    listener = Messages()
    for name in ("line_follow", "lane_pid", "lane_keep"):
        assert plan(listener, lambda name=name: load_driver(name)).given_line is None
    assert listener.messages == []
    assert plan(driver=lambda: load_driver("line_track")).given_line is not None


def test_the_line_of_a_drive_that_is_driven_again_is_that_of_then(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_LINES", str(tmp_path))
    kept = pack_content(keep_line(1.0).read_bytes())
    keep_line(-1.0)
    course = Course(load_track(TRACK), load_car(CAR))
    again, line = choose_line(course, Follower(), CarSpec(), print, (MINIMUM_TIME, kept))
    away = again.track.road.locate_many(again.line.table[:, :2])[:, 1]
    np.testing.assert_allclose(away, 1.0, atol=0.1)
    assert line.kind == MINIMUM_TIME
    assert choose_line(course, Follower(), CarSpec(), print, (OWN, ""))[0].given_line is None
    for wrong in ("no base64", pack_content(b"x")[:-4], pack_content(b"nonsense")):
        with pytest.raises(DataError):
            choose_line(course, Follower(), CarSpec(), print, (MINIMUM_TIME, wrong))


def test_a_kept_line_that_does_not_fit_is_reported_and_not_used(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_LINES", str(tmp_path))
    keep_line(1.0, car_name="f1")
    listener = Messages()
    assert plan(listener).given_line is None
    assert "not used" in listener.messages[0]
    assert "this line is for another car" in listener.messages[0]
    keep_line(1.0).write_text("nonsense")
    assert plan(listener).given_line is None
