import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.control.minicar.point_memory import PointMemory, dead_reckon


def test_a_bicycle_follows_its_circle():
    wheelbase, angle = 0.2, math.radians(30.0)
    radius = wheelbase / math.tan(angle)
    forward, left, turned = dead_reckon(math.pi * radius / 2, angle, wheelbase)  # a quarter of the circle
    assert (forward, left, turned) == pytest.approx((radius, radius, math.pi / 2))
    assert dead_reckon(0.3, 0.0, wheelbase) == (0.3, 0.0, 0.0)
    assert dead_reckon(0.3, -angle, wheelbase)[1] < 0.0


@given(st.lists(st.tuples(st.floats(-0.2, 0.2), st.floats(-0.7, 0.7)), max_size=12))
def test_points_stay_where_they_are_in_the_world(steps):
    memory = PointMemory(10.0, 5.0)
    memory.add_points(np.array([[1.0, 0.4]]))
    x = y = yaw = 0.0
    for distance, angle in steps:
        memory.advance(distance, angle, 0.2)
        forward, left, turned = dead_reckon(distance, angle, 0.2)
        x += forward * math.cos(yaw) - left * math.sin(yaw)
        y += forward * math.sin(yaw) + left * math.cos(yaw)
        yaw += turned
    (px, py) = memory.points[0]
    world = x + px * math.cos(yaw) - py * math.sin(yaw), y + px * math.sin(yaw) + py * math.cos(yaw)
    assert world == pytest.approx((1.0, 0.4), abs=1e-9)


def test_points_are_forgotten_after_their_way_and_far_ones_are_not_kept():
    memory = PointMemory(1.0, 2.0)
    memory.add_points(np.array([[1.5, 0.0], [2.5, 0.0]]))
    assert len(memory.points) == 1
    memory.advance(-0.6, 0.0, 0.2)  # backwards counts as well
    memory.advance(0.3, 0.0, 0.2)
    assert len(memory.points) == 1
    memory.advance(0.2, 0.0, 0.2)
    assert len(memory.points) == 0
    memory.add_points(np.array([[1.0, 0.0]]))
    memory.clear()
    assert len(memory.points) == 0
