import itertools
import json

import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.dashboard.scene_data import GROUND_CELLS, STRIPS, describe_scene
from trailbrake.tracks.road import RoadColumn
from trailbrake.tracks.track_library import load_track


@pytest.fixture(scope="module")
def road():
    return load_track("hartmoor").road


@pytest.fixture(scope="module")
def scene(road):
    return describe_scene(road, np.column_stack([road.column(RoadColumn.X), road.column(RoadColumn.Y)]), None)


def points(flat):
    return np.array(flat).reshape(-1, 3)


def test_the_strips_lie_side_by_side_on_the_road(road, scene):
    strips = {name: points(scene["strips"][name]) for name in STRIPS}
    assert len({len(strip) for strip in strips.values()}) == 1
    offsets = {name: road.locate_many(strip[:, :2])[:, 1] for name, strip in strips.items()}
    for left, right in itertools.pairwise(STRIPS):
        assert (offsets[left] - offsets[right] > -0.3).all(), (left, right)
    widths = np.hypot(*(strips["edge_left"] - strips["edge_right"])[:, :2].T)
    assert widths.min() > 11.9
    np.testing.assert_allclose(strips["edge_left"][0], road.edge_lines()[0][0], atol=0.01)


def test_kerbs_are_where_the_road_has_them(road, scene):
    kerbs = np.array(scene["kerbs"]).reshape(-1, 2)
    assert kerbs.max() == pytest.approx(road.column(RoadColumn.KERB_LEFT).max(), abs=0.01)
    assert (kerbs == 0.0).any()


def test_the_ground_stays_below_the_road(scene):
    ground = scene["ground"]
    heights = np.array(ground["z"]).reshape(GROUND_CELLS, GROUND_CELLS)
    for name in STRIPS:
        strip = points(scene["strips"][name])
        column, row = ((strip[:, :2] - [ground["x0"], ground["y0"]]) / ground["cell"]).T
        i, j = row.astype(int), column.astype(int)
        corners = np.max([heights[i + a, j + b] for a in (0, 1) for b in (0, 1)], axis=0)
        assert (corners < strip[:, 2]).all(), name


def test_the_line_lies_on_the_road(scene):
    line, strips = points(scene["line"]), points(scene["strips"]["edge_left"])
    assert len(line) > 500
    assert line[:, 2].min() > strips[:, 2].min() - 2.0


def test_what_is_not_known_is_none():
    scene = describe_scene(None, None, None)
    assert (scene["strips"], scene["line"], scene["car"]) == (None, None, None)
    json.dumps(scene, allow_nan=False)


def test_a_car_has_its_measures():
    car = load_car("gt3")
    assert describe_scene(None, None, car)["car"]["wheelbase"] == car.body.wheelbase
