import numpy as np
import pytest

from trailbrake.tracks import layout
from trailbrake.tracks.build import build
from trailbrake.tracks.kerbs import EXIT_SHORTEST, WIDTH, add_kerbs, bends, kerbs
from trailbrake.tracks.load import load
from trailbrake.tracks.road import Column, Road

CORNER = "[[segment]]\nradius = 30.0\nturn = 90.0\n"
SQUARE = "kerbs = false\nrunoff = 6.0\n" + CORNER.join(
    f"[[segment]]\nstraight = {length}\nadjust = true\n" for length in (100.0, 200.0, 200.0, 200.0, 100.0)
)


@pytest.fixture
def square():
    """Four left corners of radius 30."""
    return build(layout.parse(SQUARE, "square.toml"))


def test_a_left_bend_has_its_apex_on_the_left_and_its_exit_on_the_right(square):
    left, right = kerbs(square)
    curvature = square.column(Column.CURVATURE)
    apex = curvature > 0.95 / 30.0
    assert np.all(left[apex] > 0.9 * WIDTH)
    assert np.all(left[curvature == 0.0] < 0.7 * WIDTH)  # only what tapers off
    s = square.stations()
    first = int(np.flatnonzero(apex)[0])
    last = first + int(np.flatnonzero(~apex[first:])[0])
    assert right[first] == 0.0
    behind = right[(s > s[last]) & (s < s[last] + EXIT_SHORTEST)]
    assert behind.max() == pytest.approx(WIDTH)
    assert right[(s > s[last] + 60.0) & (s < s[last] + 150.0)].max() == 0.0


def test_the_other_way_round_is_the_mirror_image(square):
    flipped = square.table.copy()
    flipped[:, Column.CURVATURE] *= -1.0
    left, right = kerbs(square)
    mirror_left, mirror_right = kerbs(Road(flipped, square.spacing, True))
    assert np.array_equal(mirror_left, right)
    assert np.array_equal(mirror_right, left)


def test_where_the_start_line_is_makes_no_difference():
    road = load("hartmoor").road
    left, right = kerbs(road)
    for shift in (1, 700, 1500):
        moved = kerbs(Road(np.roll(road.table, shift, axis=0), road.spacing, True))
        assert np.roll(left, shift) == pytest.approx(moved[0], abs=1e-12)
        assert np.roll(right, shift) == pytest.approx(moved[1], abs=1e-12)


def test_bends_are_the_corners_of_the_square(square):
    found = bends(square.column(Column.CURVATURE), square.spacing)
    assert len(found) == 4
    for first, last in found:
        turned = square.column(Column.CURVATURE)[np.arange(first, last + 1) % len(square.table)].sum() * square.spacing
        assert np.degrees(turned) == pytest.approx(90.0, abs=4.0)


def test_gentle_and_short_bends_have_none():
    assert bends(np.full(400, 1.0 / 300.0), 1.5) == []
    kink = np.zeros(400)
    kink[100:104] = 1.0 / 50.0  # 7 degrees
    assert bends(kink, 1.5) == []


def test_a_circle_is_one_bend():
    assert bends(np.full(400, 1.0 / 95.0), 1.5) == [(0, 399)]


def test_kerbs_end_at_walls_and_open_roads_have_none():
    assert not load("kartwerk").road.table[:, [Column.KERB_LEFT, Column.KERB_RIGHT]].any()
    assert not load("serpent_pass").road.table[:, [Column.KERB_LEFT, Column.KERB_RIGHT]].any()
    assert not load("copperbowl").road.table[:, [Column.KERB_LEFT, Column.KERB_RIGHT]].any()  # an oval, by its file


@pytest.mark.parametrize("name", ["hartmoor", "pinegrove", "gen:4"])
def test_circuits_have_kerbs_within_the_run_off(name):
    road = load(name).road
    for kerb, runoff in ((Column.KERB_LEFT, Column.RUNOFF_LEFT), (Column.KERB_RIGHT, Column.RUNOFF_RIGHT)):
        width = road.column(kerb)
        assert 0.05 < (width > 0.0).mean() < 0.6
        assert width.max() == pytest.approx(WIDTH)
        assert np.all(width <= road.column(runoff))
        assert np.abs(np.diff(width)).max() < 0.6  # tapered


def test_nothing_but_the_kerbs_is_written(square):
    before = square.table.copy()
    add_kerbs(square)
    rest = [c for c in Column if c not in (Column.KERB_LEFT, Column.KERB_RIGHT)]
    assert np.array_equal(square.table[:, rest], before[:, rest])
    assert square.column(Column.KERB_LEFT).any()
