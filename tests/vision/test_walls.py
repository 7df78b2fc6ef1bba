import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trailbrake.vision import walls
from trailbrake.vision.level_camera import TREND_CAMERA
from vision import draw


def test_a_gaussian_of_five_by_five():
    dot = np.zeros((9, 9, 3), np.uint8)
    dot[4, 4] = 255
    soft = walls.blur_picture(dot)[..., 0].astype(int)
    row = np.array([1, 4, 6, 4, 1])  # of Pascal's triangle
    expected = 255 * np.outer(row, row) / 256
    assert abs(soft[2:7, 2:7] - expected).max() <= 0.5
    assert soft.sum() == soft[2:7, 2:7].sum()
    assert (walls.blur_picture(np.full((6, 7, 3), 77, np.uint8)) == 77).all()


def test_wall_counts_are_shares_of_the_seed_s_halves():
    picture = np.full((240, 320, 3), 200, np.uint8)
    picture[:48] = 0  # above what is counted
    assert walls.wall_shares(picture)[0] < 0.002 * 3  # the blur reaches over the border
    picture[:] = 200
    picture[100:148, :160] = 0
    picture[100:124, 160:] = (170, 170, 0)
    left, right = walls.wall_shares(picture)
    assert left == pytest.approx(48 / 192, abs=0.03)  # less what the blur takes from the rim
    assert right == pytest.approx(24 / 192, abs=0.03)


@pytest.mark.parametrize("look", "AB")
def test_rates_on_a_straight_are_those_of_the_real_simulator(look):
    # Section 7.1: 0.03 .. 0.19 a side on straights; the nearer wall fills more.
    left, right = walls.wall_shares(draw.through_jpeg(draw.frame(look=look, y=0.25)))
    assert 0.19 > left > right > 0.02


@pytest.mark.parametrize("look", "AB")
@pytest.mark.parametrize(("y", "yaw"), [(0.0, 0.0), (0.4, 0.1), (-0.5, -0.2), (0.1, 0.5)])
def test_feet_lie_on_the_walls(look, y, yaw):
    distance = walls.free_distance(draw.through_jpeg(draw.frame(y=y, yaw=yaw, look=look)))
    points = walls.obstacle_points(distance)
    points = points[points[:, 0] < 2.5]  # farther out half a row is more than a tenth of the way
    assert len(points) > 40
    across = y + points[:, 0] * np.sin(yaw) + points[:, 1] * np.cos(yaw)
    assert abs(abs(across) - 3 * draw.LANE).max() < 0.11


def test_a_parked_car_and_a_yellow_wall_stand_in_the_way_and_a_gantry_does_not():
    box = [((1.0, -0.1), (1.0, 0.1), "car"), ((0.8, 0.3), (0.8, 0.5), "yellow")]
    picture = draw.frame(look="A", walls=draw.straight_walls() + box)
    picture[20:40] = 0  # a pipe across the sky
    distance = walls.free_distance(draw.through_jpeg(picture))
    assert np.median(distance[abs(TREND_CAMERA.column_slopes) < 0.08]) == pytest.approx(1.0, rel=0.05)
    seen = (TREND_CAMERA.column_slopes > 0.32 / 0.8) & (TREND_CAMERA.column_slopes < 0.48 / 0.8)
    assert np.median(distance[seen]) == pytest.approx(0.8, rel=0.05)


def test_a_speck_of_paint_is_no_wall():
    picture = np.full((240, 320, 3), (96, 126, 160), np.uint8)
    picture[150:152, 100] = (140, 130, 60)  # red paint meets green
    assert np.isinf(walls.free_distance(picture)).all()
    picture[110:152, 200] = (140, 130, 60)  # the end of a wall
    assert np.flatnonzero(np.isfinite(walls.free_distance(picture))).tolist() == [200]


def test_no_wall_is_infinitely_far():
    assert np.isinf(walls.free_distance(np.full((240, 320, 3), 255, np.uint8))).all()
    assert walls.obstacle_points(np.full(320, np.inf)).shape == (0, 2)


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 2]))
def test_any_picture_has_an_answer(seed, dim):
    pixels = np.random.default_rng(seed).integers(0, 256, (240, 320, 3), dtype=np.uint8) >> dim
    assert (walls.free_distance(pixels) > 0.1).all()
    assert all(0.0 <= rate <= 1.0 for rate in walls.wall_shares(pixels))
