"""The picture of a road against plain projection by hand, in places where the answer is known."""

import math

import numpy as np
import pytest

from trailbrake.tracks.road import Road
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track_library import load_track
from trailbrake.vision.lanes import road_middle
from trailbrake.world.pinhole_camera import PinholeCamera
from trailbrake.world.road_renderer import ABOVE, VERTICAL_FOV, DashCamera, RoadRenderer

CAMERA = PinholeCamera(width=320, height=160, fov=math.radians(90.0), forward=0.0, above=1.5)
FOCAL = 160.0  # pixels, at 90 degrees across 320


def straight(width=4.0):
    x = np.arange(0.0, 400.0, 2.0)
    return Road.from_columns(2.0, False, x, 0.0 * x, 0.0 * x, 0.0 * x, width_left=width, width_right=width)


def is_green(pixels):
    return (pixels[..., 1] > pixels[..., 0] + 15) & (pixels[..., 1] > pixels[..., 2] + 15)


def is_grey(pixels):
    return np.ptp(pixels.astype(int), axis=-1) < 15


@pytest.mark.parametrize("offset", [-1.5, 0.0, 2.0])
def test_the_edges_are_where_they_project_to(offset):
    picture = RoadRenderer(straight(), CAMERA).render_frame(100.0, offset, 0.0)
    for row in (110, 130, 159):
        far = 1.5 * FOCAL / (row - 79.5)
        left, right = 159.5 - FOCAL * (4.0 - offset) / far, 159.5 + FOCAL * (4.0 + offset) / far
        green = np.flatnonzero(~is_green(picture[row]))
        assert green[0] == pytest.approx(max(left, 0.0), abs=1.6)
        assert green[-1] == pytest.approx(min(right, 319.0), abs=1.6)


def test_sky_above_and_ground_below_and_the_horizon_in_the_middle():
    picture = RoadRenderer(straight(), CAMERA).render_frame(100.0, 0.0, 0.0).astype(int)
    assert (picture[:75, :, 2] > picture[:75, :, 0] + 5).all()
    assert is_grey(picture[150, 150:158]).all()
    tilted = PinholeCamera(
        width=320, height=160, fov=math.radians(90.0), forward=0.0, above=1.5, pitch=math.radians(10.0)
    )
    lower = RoadRenderer(straight(), tilted).render_frame(100.0, 0.0, 0.0).astype(int)
    horizon = 79.5 - FOCAL * math.tan(math.radians(10.0))  # higher up: it looks down
    assert (lower[: int(horizon) - 3, :, 2] > lower[: int(horizon) - 3, :, 0] + 5).all()
    assert is_green(lower[int(horizon) + 20, :20]).all()


def test_a_left_bend_is_to_the_left():
    track = load_track("lakeside").road
    curvature = track.table[:, 4]
    row = int(np.argmax(curvature))
    x, y, _, yaw = track.points((row - 8) * track.spacing)[0]
    picture = RoadRenderer(track, CAMERA).render_frame(x, y, yaw)
    columns = np.flatnonzero(~is_green(picture[92]))
    assert columns.mean() < 130.0


def test_lines_at_the_edges_are_white_and_in_the_middle_yellow():
    picture = RoadRenderer(straight(), CAMERA).render_frame(100.0, 0.0, 0.0).astype(int)
    assert (picture[120:].min(axis=-1) > 200).any()
    assert (picture[82:, 155:165, 0] - picture[82:, 155:165, 2] > 60).any()


def test_the_same_on_either_side_of_the_seam_of_a_circuit():
    road = load_track("lakeside").road
    renderer = RoadRenderer(road, CAMERA)
    a, b = (renderer.render_frame(*road.points(s)[0][[0, 1, 3]]).astype(int) for s in (road.length - 1e-6, 1e-6))
    assert np.abs(a - b).mean() < 1.0


@pytest.mark.parametrize("place", [(1e5, 1e5), (-300.0, 3.0), (math.nan, 0.0)])
def test_a_car_beside_the_road_gets_a_picture_and_no_crash(place):
    picture = RoadRenderer(straight(), CAMERA).render_frame(*place, 0.3)
    assert picture.shape == (160, 320, 3)


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
