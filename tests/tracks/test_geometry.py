"""Splines and curvature, against circles. Crossings and blending are tested where tracks are built."""

import numpy as np
import pytest

from trailbrake.tracks.geometry import chord_lengths, hermite, menger_curvature, spline_slopes

N, RADIUS = 48, 30.0
CIRCLE = RADIUS * np.exp(2j * np.pi * np.arange(N) / N)


def test_chords_of_a_circle():
    knots = chord_lengths(CIRCLE)
    assert len(knots) == N + 1
    assert knots[0] == 0.0
    assert knots[-1] == pytest.approx(2 * N * RADIUS * np.sin(np.pi / N))


def test_a_line_that_drifts_leads_on_to_its_first_point_further_on():
    corner = np.array([0j, 3.0 + 0j, 3.0 + 4.0j])
    assert chord_lengths(corner) == pytest.approx([0.0, 3.0, 7.0, 12.0])
    assert chord_lengths(corner, 6.0 + 8.0j) == pytest.approx([0.0, 3.0, 7.0, 12.0])
    assert chord_lengths(corner, 3.0 + 5.0j) == pytest.approx([0.0, 3.0, 7.0, 8.0])


def test_a_spline_through_a_circle_stays_on_it():
    knots = chord_lengths(CIRCLE)
    slopes = spline_slopes(knots, CIRCLE)
    assert np.angle(slopes / CIRCLE) == pytest.approx(np.full(N, 0.5 * np.pi))
    between = hermite(knots, CIRCLE, slopes, np.linspace(0.0, knots[-1], 777, endpoint=False))
    assert np.abs(between) == pytest.approx(np.full(777, RADIUS), abs=2e-4)
    assert hermite(knots, CIRCLE, slopes, knots[:-1]) == pytest.approx(CIRCLE)


@pytest.mark.parametrize(("points", "sign"), [(CIRCLE, 1.0), (CIRCLE[::-1], -1.0)])
def test_curvature_of_a_circle_is_positive_to_the_left(points, sign):
    assert menger_curvature(points) == pytest.approx(np.full(N, sign / RADIUS))


def test_points_on_top_of_each_other_have_no_infinite_curvature():
    points = np.array([0.0, 1.0, 1.0, 2.0 + 1j, 1j])
    assert np.isfinite(menger_curvature(points)).all()
