import numpy as np
import pytest

from trailbrake.errors import DataError
from trailbrake.tracks.road import Road, RoadColumn
from trailbrake.tracks.track_library import load_track, track_names
from trailbrake.tracks.walls import MERGE_TOLERANCE, Walls, cut_wall_loops


def straight(n=51, spacing=2.0, closed=False, **columns):
    x = np.arange(n) * spacing
    return Road.from_columns(spacing, closed, x, 0.0 * x, 0.0 * x, 0.0 * x, **columns)


def bend(radius, degrees, *, left, reach, spacing=0.5):
    """A straight of 30 m along x, a bend, and 30 m more."""
    arc = radius * np.radians(degrees)
    s = np.arange(0.0, 60.0 + arc, spacing)
    sign = 1.0 if left else -1.0
    curvature = np.where((s > 30.0) & (s < 30.0 + arc), sign / radius, 0.0)
    yaw = sign * np.clip((s - 30.0) / radius, 0.0, np.radians(degrees))
    x = np.concatenate([[0.0], np.cumsum(spacing * np.cos(0.5 * (yaw[1:] + yaw[:-1])))])
    y = np.concatenate([[0.0], np.cumsum(spacing * np.sin(0.5 * (yaw[1:] + yaw[:-1])))])
    return Road.from_columns(
        spacing, False, x, y, yaw, curvature, width_left=0.4 * reach, width_right=0.4 * reach,
        runoff_left=0.6 * reach, runoff_right=0.6 * reach,
    )  # fmt: skip


NEAR = 40.0  # m: `distances` compares a point with pieces within this distance; without one the result is infinite


def distances(points, a, e):
    """From each point (k, 2) to the nearest of the pieces a, a + e (m, 2)."""
    low, high = np.minimum(a, a + e) - NEAR, np.maximum(a, a + e) + NEAR
    found = np.empty(len(points))
    for k in range(0, len(points), 16):  # neighbours along the road: a box around them leaves few pieces
        some = points[k : k + 16]
        close = np.all((low <= some.max(axis=0)) & (high >= some.min(axis=0)), axis=1)
        start, along = a[close], e[close]
        gap = some[:, None] - start
        share = np.clip(np.sum(gap * along, axis=2) / np.maximum(np.sum(along * along, axis=1), 1e-30), 0.0, 1.0)
        apart = np.hypot(*np.moveaxis(gap - share[:, :, None] * along, 2, 0))
        found[k : k + 16] = apart.min(axis=1, initial=np.inf)
    return np.where(found <= NEAR, found, np.inf)


@pytest.mark.parametrize("name", track_names())
def test_walls_are_those_of_the_road(name):
    road = load_track(name).road
    walls = Walls.from_roads(road)
    every = np.concatenate([side[::7, :2] for side in road.wall_lines()])
    gap = distances(every, walls.grid.segments[:, :2], walls.grid.segments[:, 2:])
    folded = gap > MERGE_TOLERANCE + 1e-9
    # Nothing but loops is missing, and a loop stands nearer to the road than its wall should.
    reach = (road.column(RoadColumn.WIDTH_LEFT) + road.column(RoadColumn.RUNOFF_LEFT)).min()
    for point in every[folded]:
        assert np.hypot(*(road.table[:, :2] - point).T).min() < reach - 1e-3
    assert folded.mean() < 0.01
    # And no wall is where the road has none.
    whole = [side[:, :2] for side in road.wall_lines()]
    ends = [np.roll(side, -1, axis=0) if road.closed else side[1:] for side in whole]
    start = np.concatenate([side[: len(end)] for side, end in zip(whole, ends, strict=True)])
    end = np.concatenate(ends)
    middle = (walls.grid.segments[:, :2] + 0.5 * walls.grid.segments[:, 2:])[::5]
    assert distances(middle, start, end - start).max() < MERGE_TOLERANCE + 1e-9


def test_a_straight_is_one_quad_and_an_open_end_has_no_link():
    walls = Walls.from_roads(straight(n=51))
    assert walls.cross_sections[:, :4] == pytest.approx(
        np.array([[0.0, 14.0, 0.0, -14.0], [100.0, 14.0, 100.0, -14.0]])
    )
    assert walls.cross_sections[:, 4] == pytest.approx([28.0**2] * 2)
    assert walls.links.tolist() == [[1, -1], [-1, 0]]
    assert len(walls.grid.segments) == 2


def test_links_go_round_a_circuit_and_back():
    walls = Walls.from_roads(load_track("hartmoor").road)
    n = len(walls.cross_sections)
    assert walls.links[:, 0].tolist() == [*range(1, n), 0]
    assert walls.links[:, 1].tolist() == [n - 1, *range(n - 1)]


def test_several_roads_are_not_linked():
    aside = straight()
    aside.table[:, RoadColumn.Y] += 100.0
    walls = Walls.from_roads(straight(), aside)
    assert walls.links.tolist() == [[1, -1], [-1, 0], [3, -1], [-1, 2]]
    assert len(walls.grid.segments) == 4


def test_a_wall_of_another_road_blocks_the_quads_that_it_stands_in():
    across = straight(n=201, spacing=0.5)
    turned = across.table.copy()
    turned[:, RoadColumn.X], turned[:, RoadColumn.Y] = 50.0, across.table[:, RoadColumn.X] - 50.0
    turned[:, RoadColumn.TANGENT_X], turned[:, RoadColumn.TANGENT_Y] = 0.0, 1.0
    turned[:, RoadColumn.YAW] = 0.5 * np.pi
    walls = Walls.from_roads(straight(), Road(turned, 0.5, False))
    assert walls.links[:2].tolist() == [[-1, -1], [-1, -1]]
    for row in range(2, len(walls.cross_sections) - 1):
        y = walls.cross_sections[[row, row + 1], 1]
        assert (walls.links[row, 0] == -1) == (y[0] < 14.0 and y[1] > -14.0)
    beyond = turned.copy()
    beyond[:, RoadColumn.X] = 200.0
    assert (Walls.from_roads(straight(), Road(beyond, 0.5, False)).links[:, 0] >= 0).sum() == len(
        walls.cross_sections
    ) - 2


@pytest.mark.parametrize("left", [True, False])
def test_loops_of_a_wall_beyond_the_centre_of_its_bend_are_cut_off_at_the_crossing(left):
    # Radius 8, wall 14 m to the inside: its two straight parts cross on the middle of the bend,
    # 14 m from both straights.
    road = bend(8.0, 90.0, left=left, reach=14.0)
    side = road.wall_lines()[0 if left else 1][:, :2].copy()
    heading = np.ascontiguousarray(road.table[:, [RoadColumn.TANGENT_X, RoadColumn.TANGENT_Y]])
    cut = side.copy()
    cut_wall_loops(cut, heading, False, left, 170)
    moved = np.flatnonzero(np.hypot(*(cut - side).T) > 0.0)
    assert len(moved) > 15
    assert np.all(cut[moved] == cut[moved[0]])
    sign = 1.0 if left else -1.0
    assert cut[moved[0]] == pytest.approx([38.0 - 14.0, sign * 14.0], abs=0.05)
    assert np.all(np.sum(np.diff(cut, axis=0) * heading[:-1], axis=1) >= -1e-9)
    assert np.all(Walls.from_roads(road).links[:-1, 0] >= 0)
    other = road.wall_lines()[1 if left else 0][:, :2].copy()
    before = other.copy()
    cut_wall_loops(other, heading, False, not left, 170)
    assert np.array_equal(other, before)


def test_a_fold_over_the_line_of_a_circuit_is_cut_too():
    road = load_track("pinegrove").road
    tight = road.table.copy()
    tight[:, RoadColumn.RUNOFF_LEFT] = 30.0
    plain = Walls.from_roads(Road(tight, road.spacing, True))
    row = int(np.argmax(tight[:, RoadColumn.CURVATURE]))
    moved = Walls.from_roads(Road(np.roll(tight, -row, axis=0), road.spacing, True))
    # The same pieces of wall, wherever the line is: compare their total length (merging depends on the line a little).
    total = [np.hypot(*walls.grid.segments[:, 2:].T).sum() for walls in (plain, moved)]
    raw = road.points(road.stations(), tight[:, RoadColumn.WIDTH_LEFT] + 30.0)[:, :2]
    raw_length = np.hypot(*(np.roll(raw, -1, axis=0) - raw).T).sum()
    right = np.hypot(*(np.roll(road.wall_lines()[1], -1, axis=0) - road.wall_lines()[1])[:, :2].T).sum()
    assert total[0] == pytest.approx(total[1], abs=0.1)
    assert total[0] < raw_length + right - 5.0


def test_what_is_no_wall_is_said():
    with pytest.raises(DataError, match="no walls without a road"):
        Walls.from_roads()
    with pytest.raises(DataError, match="not finite"):
        Walls.from_roads(straight(runoff_left=np.nan))
