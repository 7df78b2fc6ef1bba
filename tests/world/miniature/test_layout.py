import math

import numpy as np
import pytest

from trailbrake.errors import DataError
from trailbrake.world.miniature.layout import (
    HALF_WIDTH,
    Fork,
    MiniatureLayout,
    draw_centre_lines,
    parse_layout,
    round_corners,
)

CORNERS = [(0.0, 0.0, 1.5), (12.0, 0.0, 1.5), (12.0, 6.0, 1.5), (0.0, 6.0, 1.5)]
GOOD = """
start = 4.0
corners = [[0, 0, 1.5], [12, 0, 1.5], [12, 6, 1.5], [0, 6, 1.5]]
forks = [{edge = 3, half = "right", out = 1.0, between = [3.0, 7.0]}]
"""
SQUARE = np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]])


def test_without_forks_the_halves_differ_by_a_full_turn_each_side():
    drawn = draw_centre_lines(MiniatureLayout(corners=CORNERS, start=4.0), "t")
    assert drawn.left.length == pytest.approx(drawn.road.length - 2.0 * math.pi * HALF_WIDTH)
    assert drawn.right.length == pytest.approx(drawn.road.length + 2.0 * math.pi * HALF_WIDTH)


def test_an_edge_further_out_makes_its_half_twice_that_longer():
    fork = Fork(edge=2, half="right", out=1.25)
    plain, longer = (
        draw_centre_lines(MiniatureLayout(corners=CORNERS, start=4.0, forks=forks), "t") for forks in ([], [fork])
    )
    assert longer.right.length == pytest.approx(plain.right.length + 2.5)
    assert longer.left.length == plain.left.length


def test_a_detour_is_as_long_as_its_slants_and_arcs_say():
    fork = Fork(edge=3, half="left", out=1.0, between=(3.0, 7.0))
    plain, longer = (
        draw_centre_lines(MiniatureLayout(corners=CORNERS, start=4.0, forks=forks), "t") for forks in ([], [fork])
    )
    # Two slants of 45 degrees instead of their shadow, and four arcs of radius 1 instead of their tangents.
    slants = 2.0 * (math.sqrt(2.0) - 1.0)
    arcs = 4.0 * (math.pi / 4.0 - 2.0 * math.tan(math.pi / 8.0))
    assert longer.left.length == pytest.approx(plain.left.length + slants + arcs)


def test_both_halves_start_beside_the_road_s_start():
    drawn = draw_centre_lines(parse_layout(GOOD, "t"), "t")
    zero = np.zeros(1)
    assert drawn.road.poses_at(zero)[0, :2] == pytest.approx([4.0, 0.0])
    assert drawn.left.poses_at(zero)[0, :2] == pytest.approx([4.0, HALF_WIDTH])
    assert drawn.right.poses_at(zero)[0, :2] == pytest.approx([4.0, -HALF_WIDTH])


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("start", "strat", "unknown field|missing required"),
        ("[12, 0, 1.5], ", "", "on the straight|does not turn|room|miniature"),
        ("0, 0, 1.5", "0, 0, nan", "finite"),
        ("6, 1.5]]", "6, 0.5]]", "too tight"),
        ("edge = 3", "edge = 1", "start line"),
        ('"right"', '"middle"', "left or right"),
        ("out = 1.0", "out = 0.1", "too little room"),
        ("[3.0, 7.0]", "[3.0, 4.0]", "too short to leave"),
        ("corners = [", "corners = [[", "not TOML"),
    ],
)
def test_a_bad_file_is_one_line(old, new, words):
    assert old in GOOD
    with pytest.raises(DataError, match=words) as error:
        draw_centre_lines(parse_layout(GOOD.replace(old, new), "mine.toml"), "mine.toml")
    assert "\n" not in str(error.value)
    assert "mine.toml" in str(error.value)


def test_a_square_with_rounded_corners_is_as_long_as_four_straights_and_a_circle():
    path = round_corners(SQUARE, np.full(4, 1.0), 2.0, "t")
    assert path.length == pytest.approx(4 * 2.0 + 2.0 * math.pi)


def test_the_path_begins_at_the_start_and_closes():
    path = round_corners(SQUARE, np.full(4, 1.0), 2.5, "t")
    assert path.poses_at(np.array([0.0, path.length])) == pytest.approx(np.array([[2.5, 0.0, 0.0, 0.0]] * 2))


def test_an_arc_goes_round_its_centre_at_its_radius():
    path = round_corners(SQUARE, np.full(4, 1.0), 2.5, "t")
    on_arc = path.poses_at(0.5 + np.linspace(0.0, 0.5 * math.pi, 9))
    assert np.hypot(on_arc[:, 0] - 3.0, on_arc[:, 1] - 1.0) == pytest.approx(np.ones(9))
    assert on_arc[-1, 2] == pytest.approx(0.5 * math.pi)


def test_heading_is_the_direction_in_which_the_places_go():
    corners = np.array([[0.0, 0.0], [6.0, -1.0], [7.0, 5.0], [3.0, 3.0], [-1.0, 6.0]])
    path = round_corners(corners, np.array([0.8, 1.0, 0.9, 1.2, 0.7]), 3.0, "t")
    s = np.linspace(0.0, path.length, 4000)
    row = path.poses_at(s)
    step = np.diff(row[:, :2], axis=0)
    gone = np.arctan2(step[:, 1], step[:, 0])
    error = np.abs(np.angle(np.exp(1j * (gone - row[:-1, 2]))))
    assert error.max() < 0.01  # half the turn of a step
    assert np.hypot(*step.T).sum() == pytest.approx(path.length, rel=1e-5)


@pytest.mark.parametrize(
    ("corners", "radius", "start", "words"),
    [
        (SQUARE, 2.5, 2.0, "no room for the arcs"),
        (SQUARE, 1.0, 0.2, "not on the straight"),
        ([[0.0, 0.0], [2.0, 0.0], [4.0, 0.0], [4.0, 4.0]], 0.5, 1.0, "does not turn"),
        ([[0.0, 0.0], [0.0, 0.0], [4.0, 0.0], [4.0, 4.0]], 0.5, 1.0, "same place"),
    ],
)
def test_what_cannot_be_drawn_is_refused(corners, radius, start, words):
    with pytest.raises(DataError, match=words):
        round_corners(np.array(corners), np.full(4, radius), start, "t")
