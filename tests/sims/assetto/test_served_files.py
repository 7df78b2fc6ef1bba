"""The files of a served world, by the readers of the real ones."""

from types import SimpleNamespace

import numpy as np
import pytest

from trailbrake.cars.load import load as load_car
from trailbrake.planning.course import Course
from trailbrake.sims.assetto.files import content, fast_lane
from trailbrake.sims.assetto.served_files import write_files
from trailbrake.tracks.load import load as load_track
from trailbrake.tracks.road import Column


def test_the_line_is_the_quick_one_with_its_speeds(tmp_path):
    track, kart = load_track("kartwerk"), load_car("kart")
    files = write_files(tmp_path, SimpleNamespace(track=track, cars=[kart, kart, load_car("gt3")]))
    assert len(files) == len(set(files)) == 7
    assert {f.parent.parent.name for f in files if f.name == "ui_car.json"} == {"kart", "gt3"}
    lane = fast_lane.read(content.lane_path(tmp_path, "kartwerk"))
    course = Course(track, kart)
    assert lane.speed == pytest.approx(course.profile.speed, rel=1e-6)
    places = lane.points["place"].astype(np.float64)
    assert places[:, [2, 0]] == pytest.approx(course.line.table[:, [Column.X, Column.Y]], abs=1e-3)
    width = lane.extras["side_left"] + lane.extras["side_right"]
    assert width.min() >= 6.0
    assert lane.extras["side_left"].std() > 0.5  # it swings from edge to edge
