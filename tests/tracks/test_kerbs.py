import numpy as np
import pytest

from trailbrake.kernels import jit
from trailbrake.tracks import layout
from trailbrake.tracks.kerbs import (
    EXIT_SHORTEST,
    KERB_HEIGHT,
    KERB_PITCH,
    KERB_TEETH,
    KERB_WIDTH,
    add_kerbs,
    find_bends,
    kerb_profile,
    kerb_widths,
)
from trailbrake.tracks.road import Road, RoadColumn
from trailbrake.tracks.road_builder import build_road
from trailbrake.tracks.track_library import load_track

CORNER = "[[segment]]\nradius = 30.0\nturn = 90.0\n"
SQUARE = "kerbs = false\nrunoff = 6.0\n" + CORNER.join(
    f"[[segment]]\nstraight = {length}\nadjust = true\n" for length in (100.0, 200.0, 200.0, 200.0, 100.0)
)


@pytest.fixture
def square():
    """Four left corners of radius 30."""
    return build_road(layout.parse_layout(SQUARE, "square.toml"))


def test_a_left_bend_has_its_apex_on_the_left_and_its_exit_on_the_right(square):
    left, right = kerb_widths(square)
    curvature = square.column(RoadColumn.CURVATURE)
    apex = curvature > 0.95 / 30.0
    assert np.all(left[apex] > 0.9 * KERB_WIDTH)
    assert np.all(left[curvature == 0.0] < 0.7 * KERB_WIDTH)  # only what tapers off
    s = square.stations()
    first = int(np.flatnonzero(apex)[0])
    last = first + int(np.flatnonzero(~apex[first:])[0])
    assert right[first] == 0.0
    behind = right[(s > s[last]) & (s < s[last] + EXIT_SHORTEST)]
    assert behind.max() == pytest.approx(KERB_WIDTH)
    assert right[(s > s[last] + 60.0) & (s < s[last] + 150.0)].max() == 0.0


def test_the_other_way_round_is_the_mirror_image(square):
    flipped = square.table.copy()
    flipped[:, RoadColumn.CURVATURE] *= -1.0
    left, right = kerb_widths(square)
    mirror_left, mirror_right = kerb_widths(Road(flipped, square.spacing, True))
    assert np.array_equal(mirror_left, right)
    assert np.array_equal(mirror_right, left)


def test_where_the_start_line_is_makes_no_difference():
    road = load_track("hartmoor").road
    left, right = kerb_widths(road)
    for shift in (1, 700, 1500):
        moved = kerb_widths(Road(np.roll(road.table, shift, axis=0), road.spacing, True))
        assert np.roll(left, shift) == pytest.approx(moved[0], abs=1e-12)
        assert np.roll(right, shift) == pytest.approx(moved[1], abs=1e-12)


def test_bends_are_the_corners_of_the_square(square):
    found = find_bends(square.column(RoadColumn.CURVATURE), square.spacing)
    assert len(found) == 4
    for first, last in found:
        turned = (
            square.column(RoadColumn.CURVATURE)[np.arange(first, last + 1) % len(square.table)].sum() * square.spacing
        )
        assert np.degrees(turned) == pytest.approx(90.0, abs=4.0)


def test_gentle_and_short_bends_have_none():
    assert find_bends(np.full(400, 1.0 / 300.0), 1.5) == []
    kink = np.zeros(400)
    kink[100:104] = 1.0 / 50.0  # 7 degrees
    assert find_bends(kink, 1.5) == []


def test_a_circle_is_one_bend():
    assert find_bends(np.full(400, 1.0 / 95.0), 1.5) == [(0, 399)]


def test_kerbs_end_at_walls_and_open_roads_have_none():
    assert not load_track("kartwerk").road.table[:, [RoadColumn.KERB_LEFT, RoadColumn.KERB_RIGHT]].any()
    assert not load_track("serpent_pass").road.table[:, [RoadColumn.KERB_LEFT, RoadColumn.KERB_RIGHT]].any()
    assert (
        not load_track("copperbowl").road.table[:, [RoadColumn.KERB_LEFT, RoadColumn.KERB_RIGHT]].any()
    )  # an oval, by its file


@pytest.mark.parametrize("name", ["hartmoor", "pinegrove", "gen:4"])
def test_circuits_have_kerbs_within_the_run_off(name):
    road = load_track(name).road
    for kerb, runoff in (
        (RoadColumn.KERB_LEFT, RoadColumn.RUNOFF_LEFT),
        (RoadColumn.KERB_RIGHT, RoadColumn.RUNOFF_RIGHT),
    ):
        width = road.column(kerb)
        assert 0.05 < (width > 0.0).mean() < 0.6
        assert width.max() == pytest.approx(KERB_WIDTH)
        assert np.all(width <= road.column(runoff))
        assert np.abs(np.diff(width)).max() < 0.6  # tapered


def test_nothing_but_the_kerbs_is_written(square):
    before = square.table.copy()
    add_kerbs(square)
    rest = [c for c in RoadColumn if c not in (RoadColumn.KERB_LEFT, RoadColumn.KERB_RIGHT)]
    assert np.array_equal(square.table[:, rest], before[:, rest])
    assert square.column(RoadColumn.KERB_LEFT).any()


@jit
def kerb_height(s, across, width):
    return kerb_profile(s, across, width)


def test_a_kerb_has_no_edge_to_hit():
    across = np.linspace(0.0, KERB_WIDTH, 2001)
    for s in (0.0, 0.5 * KERB_PITCH, 7.13):
        height = np.array([kerb_height(s, a, KERB_WIDTH) for a in across])
        assert height[0] == 0.0
        assert height[-1] == pytest.approx(0.0, abs=1e-12)
        slope = np.diff(height) / np.diff(across)
        assert np.abs(slope[[0, -1]]).max() < 1e-3  # tangent to road and ground
        assert np.abs(np.diff(slope)).max() < 1e-3  # and no crease between
        assert np.abs(slope).max() < 0.2
    assert max(kerb_height(0.5 * KERB_PITCH, a, KERB_WIDTH) for a in across) == pytest.approx(KERB_HEIGHT, rel=1e-5)


def test_teeth_repeat_along_the_road():
    s = np.linspace(0.0, 10.0 * KERB_PITCH, 4001)
    height = np.array([kerb_height(a, 0.65 * KERB_WIDTH, KERB_WIDTH) for a in s])
    assert np.ptp(height) == pytest.approx(KERB_TEETH, rel=1e-3)
    spectrum = np.abs(np.fft.rfft(height[:-1] - height[:-1].mean()))
    assert int(spectrum.argmax()) == 10


def test_a_kerb_that_narrows_is_lower():
    top = [max(kerb_height(0.3, a, width) for a in np.linspace(0.0, width, 101)) for width in (0.3, 0.6, 1.2, 2.0)]
    assert top[0] == pytest.approx(0.25 * top[2])
    assert top[1] == pytest.approx(0.5 * top[2])
    assert top[3] == pytest.approx(top[2])
