"""The height of the ground by a file made of a track that climbs."""

from types import SimpleNamespace

import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.sims.assetto.install.ground_height import find_ground_height
from trailbrake.sims.assetto.install.served_files import write_files
from trailbrake.sims.assetto.wire import acpmf
from trailbrake.tracks.track_library import load_track

STATIC = acpmf.Static(track="serpent_pass", car_model="gt3")


def test_the_height_is_that_of_the_nearest_point_of_the_line(tmp_path):
    track = load_track("serpent_pass")
    write_files(tmp_path, SimpleNamespace(track=track, cars=[load_car("gt3")]))
    for s in (100.0, 1500.0, 3000.0):
        x, y, z, _ = track.road.points(s, 1.0)[0].tolist()
        found = find_ground_height(tmp_path, STATIC, x, y)
        assert found.z == pytest.approx(z, abs=0.3)  # points 2 m apart, on a grade of 8 %
        assert found.source.endswith("fast_lane.ai")
    assert track.road.points(3000.0, 0.0)[0][2] > 100.0  # far from 0


def test_without_the_game_its_file_or_its_session_there_is_none(tmp_path):
    assert find_ground_height(tmp_path, STATIC, 0.0, 0.0) is None
    assert find_ground_height(tmp_path, None, 0.0, 0.0) is None
    write_files(tmp_path, SimpleNamespace(track=load_track("kartwerk"), cars=[load_car("kart")]))
    assert find_ground_height(tmp_path, STATIC, 0.0, 0.0) is None
