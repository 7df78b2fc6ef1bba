"""The files of a served world, by the readers of the real ones."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.planning.course import Course
from trailbrake.sims.assetto.install import content, fast_lane, ini, surfaces
from trailbrake.sims.assetto.install.lane_conversion import LaneProgress, track_from_lane, write_files
from trailbrake.tracks.road import RoadColumn
from trailbrake.tracks.track_library import load_track


def test_the_line_is_the_quick_one_with_its_speeds(tmp_path):
    track, kart = load_track("kartwerk"), load_car("kart")
    files = write_files(tmp_path, SimpleNamespace(track=track, cars=[kart, kart, load_car("gt3")])).paths
    assert len(files) == len(set(files)) == 8
    assert {f.parent.parent.name for f in files if f.name == "ui_car.json"} == {"kart", "gt3"}
    lane = fast_lane.read_fast_lane(content.lane_path(tmp_path, "kartwerk"))
    course = Course(track, kart)
    assert lane.speed == pytest.approx(course.profile.speed, rel=1e-6)
    places = lane.points["place"].astype(np.float64)
    assert places[:, [2, 0]] == pytest.approx(course.line.table[:, [RoadColumn.X, RoadColumn.Y]], abs=1e-3)
    width = lane.extras["side_left"] + lane.extras["side_right"]
    assert width.min() >= 6.0
    assert lane.extras["side_left"].std() > 0.5  # it swings from edge to edge


def test_an_open_road_is_read_back_as_one(tmp_path):
    track = load_track("serpent_pass")
    write_files(tmp_path, SimpleNamespace(track=track, cars=[load_car("gt3")]))
    path = content.lane_path(tmp_path, "serpent_pass")
    made = track_from_lane(fast_lane.read_fast_lane(path), "serpent_pass", str(path)).road
    assert not made.closed
    for edge, column, sign in zip(
        made.edge_lines(), (RoadColumn.WIDTH_LEFT, RoadColumn.WIDTH_RIGHT), (1.0, -1.0), strict=True
    ):
        s, offset = track.road.locate_many(edge[:, :2], 0).T
        assert sign * offset == pytest.approx(track.road.column_at(s, column), abs=0.15)
    description = json.loads(content.track_ui_path(tmp_path, "serpent_pass").read_bytes())
    assert description["tags"] == ["a to b"]


@pytest.mark.parametrize(("enabled", "permitted"), [(False, True), (True, False)])
def test_a_game_that_refuses_has_the_files_of_one(tmp_path, enabled, permitted):
    """So that `doctor --root` finds the cause, as with the game."""
    plant = SimpleNamespace(track=load_track("kartwerk"), cars=[load_car("kart")])
    write_files(tmp_path, plant, enabled=enabled, permitted=permitted)
    settings = ini.parse_ini((tmp_path / content.CONFIG).read_bytes())
    assert ini.read_number(settings, "CUSTOM_AI", "ENABLED", -1.0) == float(enabled)
    data = content.surfaces_path(tmp_path, "kartwerk").read_bytes()
    assert surfaces.decode_surfaces(data, "").allows_custom_ai is permitted


@pytest.mark.parametrize("name", ["kartwerk", "serpent_pass"])
def test_the_share_of_the_spline_is_that_of_the_line_in_the_file(tmp_path, name):
    """A client that multiplies a car's share by the spline's length finds the point of the file abreast of the car."""
    track = load_track(name)
    lane = write_files(tmp_path, SimpleNamespace(track=track, cars=[load_car("gt3")])).lane
    progress = LaneProgress(track.road, lane)
    places = lane.points["place"].astype(np.float64)[:, [2, 0]]
    lengths = lane.points["length"].astype(np.float64)
    gap = math.dist(places[0], places[-1]) if track.road.closed else 0.0
    assert progress.length == pytest.approx(lengths[-1] + gap, abs=0.01)
    for k in range(0, len(places), 37):
        s, _, _ = track.road.locate(*places[k].tolist(), -1)
        assert progress.convert_progress(s / track.road.length) * progress.length == pytest.approx(lengths[k], abs=0.5)
    shares = [progress.convert_progress(k / 500.0) for k in range(501)]
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    assert shares == sorted(shares)
    assert math.isnan(progress.convert_progress(math.nan))
