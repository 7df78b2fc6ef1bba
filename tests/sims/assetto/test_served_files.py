"""The files of a served world, by the readers of the real ones."""

from types import SimpleNamespace

import numpy as np
import pytest

from trailbrake.cars.load import load as load_car
from trailbrake.planning.course import Course
from trailbrake.sims.assetto.files import content, fast_lane, ui
from trailbrake.sims.assetto.road import track_from_lane
from trailbrake.sims.assetto.served_files import write_files
from trailbrake.tracks.load import load as load_track
from trailbrake.tracks.road import Column


def test_the_line_is_the_quick_one_with_its_speeds(tmp_path):
    track, kart = load_track("kartwerk"), load_car("kart")
    files = write_files(tmp_path, SimpleNamespace(track=track, cars=[kart, kart, load_car("gt3")]))
    assert len(files) == len(set(files)) == 8
    assert {f.parent.parent.name for f in files if f.name == "ui_car.json"} == {"kart", "gt3"}
    lane = fast_lane.read(content.lane_path(tmp_path, "kartwerk"))
    course = Course(track, kart)
    assert lane.speed == pytest.approx(course.profile.speed, rel=1e-6)
    places = lane.points["place"].astype(np.float64)
    assert places[:, [2, 0]] == pytest.approx(course.line.table[:, [Column.X, Column.Y]], abs=1e-3)
    width = lane.extras["side_left"] + lane.extras["side_right"]
    assert width.min() >= 6.0
    assert lane.extras["side_left"].std() > 0.5  # it swings from edge to edge


def test_an_open_road_is_read_back_as_one(tmp_path):
    track = load_track("serpent_pass")
    write_files(tmp_path, SimpleNamespace(track=track, cars=[load_car("gt3")]))
    path = content.lane_path(tmp_path, "serpent_pass")
    made = track_from_lane(fast_lane.read(path), "serpent_pass", str(path)).road
    assert not made.closed
    for edge, column, sign in zip(made.edges(), (Column.WIDTH_LEFT, Column.WIDTH_RIGHT), (1.0, -1.0), strict=True):
        s, offset = track.road.locate_many(edge[:, :2], 0).T
        assert sign * offset == pytest.approx(track.road.at(s, column), abs=0.15)
    told = ui.decode_track(content.track_ui_path(tmp_path, "serpent_pass").read_bytes())
    assert told.tags == ("a to b",)
