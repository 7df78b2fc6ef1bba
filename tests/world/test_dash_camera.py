import math

import numpy as np
import pytest

from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track_library import load_track
from trailbrake.vision.roadway import road_middle
from trailbrake.world.dash_camera import ABOVE, VERTICAL_FOV, DashCamera


@pytest.fixture(scope="module")
def road():
    return load_track("lakeside").road


@pytest.mark.parametrize(("width", "height"), [(320, 240), (640, 480), (320, 180), (160, 120)])
def test_the_picture_has_the_size_and_the_vertical_view_stays(road, width, height):
    camera = DashCamera(road, width, height)
    x, y, _, yaw = road.points(0.0)[0].tolist()
    assert camera.render_frame(x, y, yaw).shape == (height, width, 3)
    focal = camera._renderer.camera.focal_length
    assert 2.0 * math.atan(0.5 * height / focal) == pytest.approx(VERTICAL_FOV)


def test_the_edges_of_the_road_are_where_a_pinhole_puts_them(road):
    width, height = 640, 480
    camera = DashCamera(road, width, height)
    x, y, _, yaw = road.points(0.0)[0].tolist()
    pixels = camera.render_frame(x, y, yaw).astype(int)
    row = 330
    focal = 0.5 * height / math.tan(0.5 * VERTICAL_FOV)
    ahead = focal * ABOVE / (row - 0.5 * (height - 1))  # m from the lens to the ground of this row
    left, right = (float(road.column_at(ahead, column)) for column in (RoadColumn.WIDTH_LEFT, RoadColumn.WIDTH_RIGHT))
    grey = np.flatnonzero(np.ptp(pixels[row], axis=-1) < 16)
    expected = [0.5 * (width - 1) - focal * left / ahead, 0.5 * (width - 1) + focal * right / ahead]
    assert [grey[0], grey[-1]] == pytest.approx(expected, abs=6.0)  # the road may bend a little within `ahead`


def test_a_car_that_points_to_the_right_sees_the_road_on_its_left(road):
    camera = DashCamera(road, 320, 240)
    x, y, _, yaw = road.points(0.0)[0].tolist()
    straight, turned = (road_middle(camera.render_frame(x, y, yaw + angle), 0.62) for angle in (0.0, -0.2))
    assert abs(straight) < 0.1
    assert turned < -0.2
