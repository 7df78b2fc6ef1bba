"""Splines and curvature, against circles; crossings, against the search over all pairs; averages."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trailbrake.tracks.geometry import (
    chord_lengths,
    cosine_average,
    first_crossing,
    hermite_curve,
    menger_curvature,
    spline_slopes,
)

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
    between = hermite_curve(knots, CIRCLE, slopes, np.linspace(0.0, knots[-1], 777, endpoint=False))
    assert np.abs(between) == pytest.approx(np.full(777, RADIUS), abs=2e-4)
    assert hermite_curve(knots, CIRCLE, slopes, knots[:-1]) == pytest.approx(CIRCLE)


@pytest.mark.parametrize(("points", "sign"), [(CIRCLE, 1.0), (CIRCLE[::-1], -1.0)])
def test_curvature_of_a_circle_is_positive_to_the_left(points, sign):
    assert menger_curvature(points) == pytest.approx(np.full(N, sign / RADIUS))


def test_points_on_top_of_each_other_have_no_infinite_curvature():
    points = np.array([0.0, 1.0, 1.0, 2.0 + 1j, 1j])
    assert np.isfinite(menger_curvature(points)).all()


def brute_crossing(x, y):
    n = len(x)
    for i in range(n):
        for j in range(i + 2, n if i else n - 1):
            a, b = complex(x[i], y[i]), complex(x[(i + 1) % n], y[(i + 1) % n])
            c, d = complex(x[j], y[j]), complex(x[(j + 1) % n], y[(j + 1) % n])
            side = [((q - p).conjugate() * (r - p)).imag for p, q, r in ((a, b, c), (a, b, d), (c, d, a), (c, d, b))]
            if side[0] * side[1] < 0 and side[2] * side[3] < 0:
                return i, j
    return -1, -1


@settings(max_examples=100)
@given(st.integers(0, 10**6), st.integers(4, 60))
def test_crossings_are_those_of_the_plain_search(seed, n):
    walk = np.cumsum(np.random.default_rng(seed).normal((1.5, 0.0), 1.0, (n, 2)), axis=0)
    x, y = walk.T.copy()
    longest = float(np.hypot(*(np.roll(walk, -1, 0) - walk).T).max())
    assert first_crossing(x, y, True, longest) == brute_crossing(x, y)


def test_blend_keeps_the_mean_of_a_loop_and_the_ends_of_a_line():
    step = np.repeat([0.0, 1.0], 50)
    assert cosine_average(step, 10.0, 1.0, True).mean() == pytest.approx(0.5)
    line = cosine_average(step, 10.0, 1.0, False)
    assert (line[0], line[-1]) == pytest.approx((0.0, 1.0))
    assert np.all(np.diff(line) >= -1e-12)
