import math

import numpy as np
import pytest
from helpers.synthetic_drives import LENGTH, edges, place

from trailbrake.analysis.reference_line import driven_distance, locate_points, make_line


def test_distance_and_offset_on_a_closed_line_over_two_rounds():
    centre = edges(0.0, step=1.0)
    line = make_line(centre[:, 0], centre[:, 1])
    assert line.closed
    assert line.length == pytest.approx(LENGTH, abs=0.1)
    at = np.arange(-30.0, 2 * LENGTH, 1.7)
    offsets = 3.0 * np.sin(at / 50.0)
    points = np.array([place(s, o)[:2] for s, o in zip(at, offsets, strict=True)])
    s, lateral = locate_points(line, points[:, 0], points[:, 1])
    s = s - s[0] + at[0]
    np.testing.assert_allclose(s, at, atol=0.2)
    np.testing.assert_allclose(lateral, offsets, atol=0.01)


def test_an_open_line_does_not_join_its_ends():
    line = make_line(np.arange(0.0, 100.0), np.zeros(100))
    assert not line.closed
    s, lateral = locate_points(line, np.array([-5.0, 50.5, 200.0]), np.array([1.0, -2.0, 0.0]))
    assert s.tolist() == [0.0, 50.5, 99.0]
    assert lateral[1] == -2.0


def test_a_track_that_crosses_itself():
    t = np.linspace(0.0, 2 * math.pi, 2000, endpoint=False)
    x, y = 400.0 * np.sin(t), 200.0 * np.sin(2 * t)  # a figure of eight
    line = make_line(x, y)
    s, lateral = locate_points(line, np.roll(x, 300) + 0.01, np.roll(y, 300))  # not from the crossing itself
    assert (np.diff(s) > 0.0).all()
    assert np.abs(lateral).max() < 0.1


def test_points_that_are_not_known():
    line = make_line(np.arange(0.0, 100.0), np.zeros(100))
    s, lateral = locate_points(line, np.array([1.0, math.nan, 3.0]), np.array([0.5, math.nan, 0.5]))
    assert s[[0, 2]].tolist() == [1.0, 3.0]
    assert math.isnan(lateral[1])


def test_a_car_that_is_put_elsewhere_is_found_again():
    line = make_line(np.arange(0.0, 1000.0), np.zeros(1000))
    s, _ = locate_points(line, np.array([10.0, 11.0, 700.0, 701.0]), np.zeros(4))
    assert s.tolist() == [10.0, 11.0, 700.0, 701.0]


def test_no_line_without_two_points():
    assert make_line(np.array([1.0, 1.0, math.nan]), np.array([2.0, 2.0, 0.0])) is None


def test_driven_distance_falls_back_on_the_speed():
    time, speed = np.array([0.0, 1.0, 2.0]), np.array([10.0, 20.0, 20.0])
    x = np.array([0.0, 12.0, math.nan])
    assert driven_distance(x, np.zeros(3), speed, time).tolist() == [0.0, 12.0, 32.0]
