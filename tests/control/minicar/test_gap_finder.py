import numpy as np
import pytest

from trailbrake.control.minicar.free_space import BranchChoice, choose_bearing

BEARINGS = np.radians(np.arange(-40.0, 41.0, 1.0))


def depths(*openings, floor=0.5):
    found = np.full(len(BEARINGS), floor)
    for first, last, depth in openings:
        found[(np.degrees(BEARINGS) > first - 0.1) & (np.degrees(BEARINGS) < last + 0.1)] = depth
    return found


def test_the_middle_of_the_deepest_opening():
    assert np.degrees(choose_bearing(BEARINGS, depths((10, 20, 4.0), (-30, -10, 2.0)), 0.0)) == pytest.approx(15.0)


def test_never_between_two_openings_but_into_the_one_that_was_taken():
    both = depths((10, 20, 4.0), (-20, -10, 4.0))
    assert np.degrees(choose_bearing(BEARINGS, both, np.radians(12.0))) == pytest.approx(15.0)
    assert np.degrees(choose_bearing(BEARINGS, both, np.radians(-12.0))) == pytest.approx(-15.0)


def test_a_side_takes_its_outermost_opening_that_leads_on():
    three = depths((30, 35, 0.9), (10, 20, 2.0), (-20, -10, 4.0))
    assert np.degrees(choose_bearing(BEARINGS, three, 0.0, BranchChoice("left", True))) == pytest.approx(15.0)
    assert np.degrees(choose_bearing(BEARINGS, three, 0.0, BranchChoice("right", True))) == pytest.approx(-15.0)


def test_a_side_that_need_not_lead_on_is_taken_among_the_deepest_only():
    two = depths((10, 20, 2.0), (-20, -10, 4.0))
    assert np.degrees(choose_bearing(BEARINGS, two, 0.0, BranchChoice("left"))) == pytest.approx(-15.0)
    two = depths((10, 20, 3.5), (-20, -10, 4.0))
    assert np.degrees(choose_bearing(BEARINGS, two, 0.0, BranchChoice("left"))) == pytest.approx(15.0)


def test_a_side_is_seen_from_afar_where_both_ways_are_deep():
    far = depths((2, 20, 4.0), (-20, -6, 3.8), floor=2.0)
    assert np.degrees(choose_bearing(BEARINGS, far, 0.0, BranchChoice("right", True))) == pytest.approx(-13.0)
    assert np.degrees(choose_bearing(BEARINGS, far, 0.0, BranchChoice("left", True))) == pytest.approx(11.0)


def test_where_nothing_parts_the_road_yet_it_keeps_to_the_side_that_leads_on():
    road = depths((-12, 0, 1.4), (0, 25, 2.5))
    assert np.degrees(choose_bearing(BEARINGS, road, 0.0, BranchChoice("left", True))) == pytest.approx(25.0)
    assert np.degrees(choose_bearing(BEARINGS, road, 0.0, BranchChoice("right", True))) == pytest.approx(-12.0)
    assert choose_bearing(BEARINGS, road, 0.0, BranchChoice("right")) == choose_bearing(BEARINGS, road, 0.0)


def test_a_dead_end_has_an_answer_too():
    shallow = depths((-5, 5, 0.4), floor=0.1)
    assert np.degrees(choose_bearing(BEARINGS, shallow, 0.0)) == pytest.approx(0.0)
    assert np.isfinite(choose_bearing(BEARINGS, np.full(len(BEARINGS), 1e-9), 0.0, BranchChoice("left", True)))
