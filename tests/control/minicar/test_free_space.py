import math

import numpy as np
import pytest

from trailbrake.control.minicar.free_space import (
    arc_free_distances,
    distances_near_walls,
    nearest_by_bearing,
    straight_free_distances,
)

BEARINGS = np.radians(np.arange(-60.0, 61.0, 1.0))


def test_the_nearest_of_each_bearing_is_kept():
    points = np.array([[2.0, 0.0], [1.0, 0.0], [1.0, 1.0], [-1.0, 0.0]])
    kept = nearest_by_bearing(points, BEARINGS)
    assert sorted(map(tuple, kept)) == [(1.0, 0.0), (1.0, 1.0)]
    assert nearest_by_bearing(np.empty((0, 2)), BEARINGS).shape == (0, 2)


def test_a_disc_stops_short_of_a_point_by_its_radius():
    free = straight_free_distances(np.array([[1.0, 0.0]]), BEARINGS, 0.1, 3.0)
    assert free[60] == pytest.approx(0.9)
    touching = math.degrees(math.asin(0.1))
    assert (free[np.abs(np.degrees(BEARINGS)) > touching] == 3.0).all()
    assert (free[np.abs(np.degrees(BEARINGS)) < touching] < 1.0).all()


def test_a_point_beside_does_not_stop_a_disc_that_leaves_it():
    free = straight_free_distances(np.array([[0.0, 0.05]]), BEARINGS, 0.1, 3.0)
    assert (free[BEARINGS < 0.0] == 3.0).all()
    assert (free[math.radians(1.0) < BEARINGS] == 0.0).all()
    assert (straight_free_distances(np.empty((0, 2)), BEARINGS, 0.1, 3.0) == 3.0).all()


def test_arcs_against_small_steps_along_them():
    rng = np.random.default_rng(4)
    curvatures = np.linspace(-3.0, 3.0, 13)
    half, nose, limit = 0.08, 0.2, 1.0
    for _ in range(40):
        point = np.array([rng.uniform(0.35, 1.2), rng.uniform(-0.8, 0.8)])
        free = arc_free_distances(point[None], curvatures, half, nose, limit)
        for k, way in zip(curvatures, free, strict=True):
            s = np.arange(0.0, limit + nose, 0.002)
            x, y = (s, 0.0 * s) if abs(k) < 1e-9 else (np.sin(k * s) / k, (1.0 - np.cos(k * s)) / k)
            # The nose's middle and the strip across it.
            hits = np.hypot(x - point[0], y - point[1]) < half
            if not hits.any():
                assert way > limit - half - 0.01
            else:
                # A strip's front reaches the point within `half` of where a disc on the path does.
                assert s[hits][0] - nose - 0.01 <= way <= s[hits][0] - nose + 2.0 * half + 0.01 or way == limit


def test_a_circle_is_known_as_far_as_a_wall_is_near():
    # A wall along y = 0.5: on a circle of radius r to the right the car is r (1 - cos(s / r)) farther from it.
    wall = np.column_stack([np.linspace(-1.0, 3.0, 2001), np.full(2001, 0.5)])
    ways = np.arange(0.05, 1.01, 0.05)
    radii = np.array([0.4, 0.8, 2.0])
    near = distances_near_walls(wall, -1.0 / radii, ways, 0.6)
    for radius, way in zip(radii, near, strict=True):
        leaves = radius * math.acos(1.0 - 0.1 / radius)
        assert leaves - 0.051 < way <= leaves
    assert distances_near_walls(wall, np.array([0.0]), ways, 0.6)[0] == ways[-1]
    assert distances_near_walls(wall, np.array([0.0]), ways, 0.4)[0] == 0.0
    assert distances_near_walls(np.empty((0, 2)), np.array([0.0]), ways, 0.4)[0] == 0.0
