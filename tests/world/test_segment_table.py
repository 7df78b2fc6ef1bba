"""The strip against the road's own table, read by plain interpolation."""

import math

import numpy as np
import pytest

from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track_library import load_track
from trailbrake.world.segment_table import GRIP_COLUMNS, GripPatch, SegmentColumn, build_segment_table

PAIRS = {
    SegmentColumn[name]: RoadColumn[name]
    for name in (
        "CURVATURE", "GRADE", "BANK", "Z", "GRIP", "WIDTH_LEFT", "WIDTH_RIGHT", "KERB_LEFT", "KERB_RIGHT",
    )
}  # fmt: skip


@pytest.mark.parametrize("name", ["pinegrove", "hartmoor"])
def test_values_and_changes_are_those_of_the_road(name):
    road = load_track(name).road
    lines = build_segment_table(road, 3.0)
    assert len(lines) == len(road.table)
    assert road.closed
    after = np.roll(road.table, -1, axis=0)
    for u in (0.0, 0.3, 1.0):
        for here, column in PAIRS.items():
            expected = (1.0 - u) * road.table[:, column] + u * after[:, column]
            assert lines[:, here] + u * lines[:, here + 1] == pytest.approx(expected, abs=1e-9)
        yaw = lines[:, SegmentColumn.YAW] + u * lines[:, SegmentColumn.YAW + 1]
        turn = np.array(
            [
                math.remainder(b - a, 2.0 * math.pi)
                for a, b in zip(road.table[:, RoadColumn.YAW], after[:, RoadColumn.YAW], strict=True)
            ]
        )
        assert np.cos(yaw - road.table[:, RoadColumn.YAW] - u * turn) == pytest.approx(np.ones(len(yaw)), abs=1e-12)


def test_a_patch_changes_the_grip_of_its_rows_alone_and_goes_over_the_start_line():
    road = load_track("hartmoor").road
    plain = build_segment_table(road, 3.0)
    assert (plain[:, SegmentColumn.GRIP] == plain[:, SegmentColumn.GRIP_RIGHT]).all()
    patched = build_segment_table(road, 3.0, GripPatch(road.length - 20.0, 50.0, 0.5, 0.8))
    s = road.stations()
    inside = (s >= road.length - 20.0) | (s < 30.0)
    for column, factor in ((SegmentColumn.GRIP, 0.5), (SegmentColumn.GRIP_RIGHT, 0.8)):
        assert patched[:, column] == pytest.approx(np.where(inside, factor, 1.0) * plain[:, column])
        assert patched[:, column] + patched[:, column + 1] == pytest.approx(np.roll(patched[:, column], -1))
    others = [column for column in range(SegmentColumn.COUNT) if column not in GRIP_COLUMNS]
    assert (patched[:, others] == plain[:, others]).all()
    open_road = load_track("serpent_pass").road
    rows = build_segment_table(open_road, 3.0, GripPatch(open_road.length - 20.0, 50.0, 0.5, 0.5))
    assert np.flatnonzero(rows[:, SegmentColumn.GRIP] < 0.9).min() > len(rows) - 30


@pytest.mark.parametrize("name", ["hartmoor", "pinegrove"])
def test_walls_are_the_nearest_that_a_car_by_the_row_can_touch(name):
    road = load_track(name).road
    lines, n = build_segment_table(road, 3.2), len(road.table)
    for here, width, runoff, left in (
        (SegmentColumn.WALL_LEFT, RoadColumn.WIDTH_LEFT, RoadColumn.RUNOFF_LEFT, 1.0),
        (SegmentColumn.WALL_RIGHT, RoadColumn.WIDTH_RIGHT, RoadColumn.RUNOFF_RIGHT, -1.0),
    ):
        wall = road.table[:, width] + road.table[:, runoff]
        longest = 0
        for i in range(n):
            inside = (left * road.table[[i, (i + 1) % n], RoadColumn.CURVATURE]).max()
            # By the wall inside a bend a metre is more than one along the centreline, five at most.
            far = math.ceil(3.2 / (road.spacing * min(max(1.0 - inside * wall[i], 0.2), 1.0)))
            longest = max(longest, far)
            assert lines[i, here] == wall[[k % n for k in range(i - far, i + far + 2)]].min()
        assert longest > math.ceil(3.2 / road.spacing)
