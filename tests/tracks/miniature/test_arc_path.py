import math

import numpy as np
import pytest

from trailbrake.errors import DataError
from trailbrake.tracks.miniature.arc_path import round_corners

SQUARE = np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]])


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
