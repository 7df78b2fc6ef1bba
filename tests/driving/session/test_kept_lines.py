"""Drives follow the kept line of their track and car, and no other."""

from pathlib import Path

import numpy as np

from trailbrake.cars.car_library import load_car
from trailbrake.driving.options import DriveOptions
from trailbrake.driving.session import drive_session
from trailbrake.driving.session.progress import SilentListener
from trailbrake.planning.line_cache import cached_line_path
from trailbrake.planning.line_file import LineFile, car_digest, write_line
from trailbrake.sims.registry import find
from trailbrake.tracks.track_library import load_track

TRACK, CAR = "lakeside", "gt3"


class Messages(SilentListener):
    def __init__(self):
        self.messages = []

    def show_message(self, text):
        self.messages.append(text)


def keep_line(offset: float, car_name: str = CAR) -> Path:
    road, car = load_track(TRACK).road, load_car(CAR)
    s = np.arange(0.0, road.length, 4.0)
    places = road.points(s, offset)
    columns = {"s_m": s, "offset_m": 0.0 * s + offset, "x_m": places[:, 0], "y_m": places[:, 1]}
    columns["speed_mps"] = 0.0 * s + 9.0
    about = {"track": TRACK, "car": CAR, "car_sha256": car_digest(load_car(car_name)), "closed": True}
    path = cached_line_path(road, car)
    write_line(path, LineFile(about, columns))
    return path


def plan(listener=None, **options):
    simulator = find("assetto")
    return drive_session._plan_course(
        simulator, DriveOptions(track=TRACK, car=CAR, **options), simulator.live_options(), lambda: False,
        listener or SilentListener(),
    )[2]  # fmt: skip


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


def test_a_kept_line_that_does_not_fit_is_reported_and_not_used(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_LINES", str(tmp_path))
    keep_line(1.0, car_name="f1")
    listener = Messages()
    assert plan(listener).given_line is None
    assert "not used" in listener.messages[0]
    assert "this line is for another car" in listener.messages[0]
    keep_line(1.0).write_text("nonsense")
    assert plan(listener).given_line is None
