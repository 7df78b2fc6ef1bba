"""Curvature and radius of a path against circles of known radius."""

import math

import numpy as np
import pytest

from trailbrake.observe.path_curvature import (
    PathBend,
    find_path_bend,
    path_curvature,
    path_radius,
    yaw_rate_from_positions,
)


def test_a_circle_of_35_m_has_that_radius_and_a_left_bend_is_positive():
    speed = np.array([5.0, 17.0, 33.0])
    assert path_curvature(speed, speed / 35.0) == pytest.approx([1 / 35.0] * 3)
    assert path_curvature(speed, -speed / 35.0) == pytest.approx([-1 / 35.0] * 3)
    assert path_radius(path_curvature(speed, -speed / 35.0)) == pytest.approx([35.0] * 3)


def test_at_rest_it_is_unknown_and_on_a_straight_there_is_no_radius():
    curvature = path_curvature(np.array([0.0, 0.5, math.nan, 20.0]), np.array([0.1, 0.1, 0.1, 0.0]))
    assert np.isnan(curvature[:3]).all()
    assert curvature[3] == 0.0
    assert math.isnan(path_radius(curvature)[3])
    assert math.isnan(path_radius(np.array([1e-5]))[0])


def test_positions_alone_give_the_same():
    time = np.arange(600) / 60.0
    angle = -17.0 / 40.0 * time  # to the right; passes the cut of atan2 several times
    rate = yaw_rate_from_positions(40.0 * np.cos(angle), 40.0 * np.sin(angle), time)
    assert path_radius(path_curvature(np.full(600, 17.0), rate))[5:-5] == pytest.approx(np.full(590, 40.0), rel=1e-3)
    assert (rate[5:-5] < 0.0).all()


@pytest.mark.parametrize(
    ("speed", "rate"), [(17.0, 0.5), (17.0, -0.5), (17.0, 0.0), (0.2, 0.5), (math.nan, 0.5), (17.0, math.nan)]
)
def test_one_moment_is_a_row_of_the_arrays(speed, rate):
    bend = find_path_bend(speed, rate)
    curvature = path_curvature(np.array([speed]), np.array([rate]))
    np.testing.assert_equal([bend.curvature, bend.path_radius], [curvature[0], path_radius(curvature)[0]])
    assert math.isnan(PathBend().curvature)
