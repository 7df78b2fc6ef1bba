import math
from functools import cache

import numpy as np
import pytest

from trailbrake.errors import DataError
from trailbrake.world.miniature import track_library
from trailbrake.world.miniature.layout import HALF_WIDTH, Fork, MiniatureLayout
from trailbrake.world.miniature.track import HalfColumn, RoadHalf, assemble_track
from trailbrake.world.miniature.track_library import miniature_track_names

CORNERS = [(0.0, 0.0, 1.5), (14.0, 0.0, 1.5), (14.0, 6.0, 1.5), (0.0, 6.0, 1.5)]
load_miniature_track = cache(track_library.load_miniature_track)  # no test changes one
DETOUR = Fork(edge=3, half="right", out=1.0, between=(4.0, 8.0))


def made(*forks, corners=CORNERS):
    return assemble_track(MiniatureLayout(corners=corners, start=4.0, forks=list(forks)), "t", "", "t")


def test_a_fork_lies_where_the_half_leaves_the_straight():
    (fork,) = made(DETOUR).forks
    # Edge 3 begins at corner 3: s there, less what the two corners before it cut off.
    cut = 2.0 * 1.5 - 0.5 * math.pi * 1.5
    corner = (14.0 - 4.0) + 6.0 - 2.0 * cut + 0.5 * cut
    assert fork.start == pytest.approx(corner + 4.0 - math.tan(math.pi / 8.0), abs=0.25 + cut)
    assert fork.end - fork.start == pytest.approx(4.0 + 2.0 * math.tan(math.pi / 8.0), abs=0.5)
    assert fork.shorter_half == RoadHalf.LEFT
    assert fork.right_length > fork.left_length


def test_stations_grow_along_both_halves_and_end_at_the_road_s_length():
    track = made(DETOUR)
    for table in track.halves:
        assert (np.diff(table[:, HalfColumn.ROAD_S]) >= 0.0).all()
        assert table[0, HalfColumn.ROAD_S] == pytest.approx(0.0, abs=1e-6)
        assert table[-1, HalfColumn.ROAD_S] == pytest.approx(track.length, abs=0.05)


@pytest.mark.parametrize("name", [*miniature_track_names(), "gen:3"])
def test_walls_stand_at_the_edges_and_inner_ones_only_in_forks(name):
    track = load_miniature_track(name)
    middles = 0.5 * (track.walls[:, 0:2] + track.walls[:, 2:4])
    for x, y in track.walls[:, :2].tolist():
        gaps = [np.hypot(table[:, HalfColumn.X] - x, table[:, HalfColumn.Y] - y).min() for table in track.halves]
        assert min(gaps) == pytest.approx(HALF_WIDTH, abs=0.002)
    # On the undivided road each half's inner edge is free.
    for table, side in zip(track.halves, (-1.0, 1.0), strict=True):
        joined = ~track.is_apart(table[:, HalfColumn.ROAD_S])
        x = table[joined, HalfColumn.X] - side * HALF_WIDTH * table[joined, HalfColumn.SIN]
        y = table[joined, HalfColumn.Y] + side * HALF_WIDTH * table[joined, HalfColumn.COS]
        inner = middles[track.walls[:, 4] == 1.0]
        gap = ((x[:, None] - inner[:, 0]) ** 2 + (y[:, None] - inner[:, 1]) ** 2).min(axis=1)
        assert (gap > 0.005**2).mean() > 0.99
    assert len(track.wall_corners) == 4 * len(track.forks)


@pytest.mark.parametrize("name", [*miniature_track_names(), "gen:3"])
def test_the_outer_wall_is_closed(name):
    walls = load_miniature_track(name).walls
    outer = walls[walls[:, 4] == 0.0]
    starts = {(round(x, 9), round(y, 9)) for x, y in outer[:, 0:2].tolist()}
    ends = {(round(x, 9), round(y, 9)) for x, y in outer[:, 2:4].tolist()}
    assert starts == ends


@pytest.mark.parametrize("name", [*miniature_track_names(), *(f"gen:{seed}" for seed in range(4))])
def test_the_sign_before_a_fork_shows_the_shorter_way(name):
    track = load_miniature_track(name)
    assert track.forks
    for fork in track.forks:
        (board,) = [b for b in track.signs if b.symbol.startswith("fork") and fork.start - 2.0 < b.s < fork.start]
        assert board.symbol == ("fork_left" if fork.left_length < fork.right_length else "fork_right")
        assert not track.is_apart(np.array(board.s))


@pytest.mark.parametrize("name", miniature_track_names())
def test_library_tracks_are_as_long_as_the_real_ones(name):
    assert 60.0 <= load_miniature_track(name).length <= 90.0


def test_between_them_the_library_has_everything():
    tracks = [load_miniature_track(name) for name in miniature_track_names()]
    signs = {board.symbol for track in tracks for board in track.signs}
    assert {"fork_left", "fork_right", "turn_left", "turn_right", "u_turn_left", "u_turn_right"} <= signs
    assert len(tracks) >= 5


def test_a_place_is_on_the_road_where_it_is_asked_for():
    track = made()
    assert track.pose_at(3.0, 0.2) == pytest.approx((7.0, 0.2, 0.0))
    assert track.pose_at(3.01, -0.6) == pytest.approx((7.01, -0.6, 0.0))
    assert track.pose_at(3.0 + track.length, 0.2) == pytest.approx((7.0, 0.2, 0.0))


def test_a_road_that_meets_itself_is_refused():
    tight = [(0.0, 0.0, 1.5), (12.0, 0.0, 1.5), (12.0, 6.0, 1.5), (6.0, 6.0, 1.2), (6.0, 1.6, 1.2), (0.0, 1.6, 1.2)]
    with pytest.raises(DataError, match=r"too near|room|crosses"):
        made(corners=tight)


def test_a_fork_that_reaches_another_stretch_is_refused():
    with pytest.raises(DataError, match=r"too near|crosses"):
        made(Fork(edge=3, half="left", out=4.6, between=(1.95, 12.05)))


@pytest.mark.parametrize("name", miniature_track_names())
def test_edges_for_a_map_are_where_the_outer_walls_are(name):
    track = load_miniature_track(name)
    outer = track.walls[track.walls[:, 4] == 0.0]
    corners = np.vstack([outer[:, :2], outer[:, 2:4]])
    edges = np.vstack(track.edge_lines())
    gaps = [np.hypot(*(edges - corner).T).min() for corner in corners]
    assert max(gaps) < 1e-9  # every wall's corner is a point of an edge
    centre = track.centre_line()
    steps = np.hypot(*np.diff(centre, axis=0).T)
    assert len(centre) * steps.max() == pytest.approx(track.length, rel=0.01)
    assert np.hypot(*(centre[0] - centre[-1])) < 2.0 * steps.max()
    beside = np.hypot(*(track.edge_lines()[0] - np.array(track.pose_at(0.0, HALF_WIDTH)[:2])).T).min()
    assert beside == pytest.approx(HALF_WIDTH, abs=0.02)
