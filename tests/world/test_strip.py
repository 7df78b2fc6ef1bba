"""The strip against the road's own table, read by plain interpolation."""

import math

import numpy as np
import pytest

from trailbrake.tracks.columns import Column
from trailbrake.tracks.load import load
from trailbrake.world.strip import Strip, strip

PAIRS = {
    Strip.CURVATURE: Column.CURVATURE, Strip.GRADE: Column.GRADE, Strip.BANK: Column.BANK, Strip.Z: Column.Z,
    Strip.GRIP: Column.GRIP, Strip.LEFT: Column.WIDTH_LEFT, Strip.RIGHT: Column.WIDTH_RIGHT,
    Strip.KERB_LEFT: Column.KERB_LEFT, Strip.KERB_RIGHT: Column.KERB_RIGHT,
}  # fmt: skip


@pytest.mark.parametrize("name", ["pinegrove", "hartmoor"])
def test_values_and_changes_are_those_of_the_road(name):
    road = load(name).road
    lines = strip(road, 3.0)
    assert len(lines) == len(road.table)
    assert road.closed
    after = np.roll(road.table, -1, axis=0)
    for u in (0.0, 0.3, 1.0):
        for here, column in PAIRS.items():
            expected = (1.0 - u) * road.table[:, column] + u * after[:, column]
            assert lines[:, here] + u * lines[:, here + 1] == pytest.approx(expected, abs=1e-9)
        yaw = lines[:, Strip.YAW] + u * lines[:, Strip.YAW + 1]
        turn = np.array(
            [
                math.remainder(b - a, 2.0 * math.pi)
                for a, b in zip(road.table[:, Column.YAW], after[:, Column.YAW], strict=True)
            ]
        )
        assert np.cos(yaw - road.table[:, Column.YAW] - u * turn) == pytest.approx(np.ones(len(yaw)), abs=1e-12)


@pytest.mark.parametrize("name", ["hartmoor", "pinegrove"])
def test_walls_are_the_nearest_that_a_car_by_the_row_can_touch(name):
    road = load(name).road
    lines, n = strip(road, 3.2), len(road.table)
    for here, width, runoff, left in ((Strip.WALL_LEFT, Column.WIDTH_LEFT, Column.RUNOFF_LEFT, 1.0),
                                      (Strip.WALL_RIGHT, Column.WIDTH_RIGHT, Column.RUNOFF_RIGHT, -1.0)):  # fmt: skip
        wall = road.table[:, width] + road.table[:, runoff]
        longest = 0
        for i in range(n):
            inside = (left * road.table[[i, (i + 1) % n], Column.CURVATURE]).max()
            # By the wall inside a bend a metre is more than one along the centreline, five at most.
            far = math.ceil(3.2 / (road.spacing * min(max(1.0 - inside * wall[i], 0.2), 1.0)))
            longest = max(longest, far)
            assert lines[i, here] == wall[[k % n for k in range(i - far, i + far + 2)]].min()
        assert longest > math.ceil(3.2 / road.spacing)
