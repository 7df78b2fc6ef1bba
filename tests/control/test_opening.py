import numpy as np
import pytest

from trailbrake.control.opening import bearing_of

BEARINGS = np.radians(np.arange(-40.0, 41.0, 1.0))


def depths(*openings, floor=0.5):
    found = np.full(len(BEARINGS), floor)
    for first, last, depth in openings:
        found[(np.degrees(BEARINGS) > first - 0.1) & (np.degrees(BEARINGS) < last + 0.1)] = depth
    return found


def test_the_middle_of_the_deepest_opening():
    assert np.degrees(bearing_of(BEARINGS, depths((10, 20, 4.0), (-30, -10, 2.0)), 0.0)) == pytest.approx(15.0)


def test_never_between_two_openings_but_into_the_one_that_was_taken():
    both = depths((10, 20, 4.0), (-20, -10, 4.0))
    assert np.degrees(bearing_of(BEARINGS, both, np.radians(12.0))) == pytest.approx(15.0)
    assert np.degrees(bearing_of(BEARINGS, both, np.radians(-12.0))) == pytest.approx(-15.0)


def test_a_side_takes_its_outermost_opening_that_leads_on():
    three = depths((30, 35, 0.9), (10, 20, 2.0), (-20, -10, 4.0))
    assert np.degrees(bearing_of(BEARINGS, three, 0.0, "left")) == pytest.approx(20.0)
    assert np.degrees(bearing_of(BEARINGS, three, 0.0, "right")) == pytest.approx(-20.0)


def test_a_dead_end_has_an_answer_too():
    shallow = depths((-5, 5, 0.4), floor=0.1)
    assert np.degrees(bearing_of(BEARINGS, shallow, 0.0)) == pytest.approx(0.0)
    assert np.isfinite(bearing_of(BEARINGS, np.full(len(BEARINGS), 1e-9), 0.0, "left"))
