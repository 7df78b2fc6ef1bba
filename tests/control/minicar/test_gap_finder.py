import numpy as np
import pytest

from trailbrake.control.minicar.free_space import BranchChoice, choose_bearing

BEARINGS = np.radians(np.arange(-40.0, 41.0, 1.0))


def depths(*openings, floor=0.5):
    found = np.full(len(BEARINGS), floor)
    for first, last, depth in openings:
        found[(np.degrees(BEARINGS) > first - 0.1) & (np.degrees(BEARINGS) < last + 0.1)] = depth
    return found


def test_of_the_deepest_bearings_the_straightest():
    assert np.degrees(choose_bearing(BEARINGS, depths((10, 20, 4.0), (-30, -8, 2.0)))) == pytest.approx(10.0)
    assert np.degrees(choose_bearing(BEARINGS, depths((10, 20, 4.0), (-30, -8, 4.0)))) == pytest.approx(-8.0)


def test_past_a_corner_it_is_the_bearing_that_just_clears_it():
    # The inner wall ends at 7 degrees; beyond it the outer one comes nearer with every degree.
    bend = np.where(np.degrees(BEARINGS) > 7.0, 0.6, 3.0 + 0.02 * np.degrees(BEARINGS))
    assert np.degrees(choose_bearing(BEARINGS, bend)) == pytest.approx(7.0, abs=1.1)


def test_a_side_takes_its_outermost_opening_that_leads_on():
    three = depths((30, 35, 0.9), (10, 20, 2.0), (-20, -10, 4.0))
    assert np.degrees(choose_bearing(BEARINGS, three, BranchChoice("left", True))) == pytest.approx(10.0)
    assert np.degrees(choose_bearing(BEARINGS, three, BranchChoice("right", True))) == pytest.approx(-10.0)


def test_a_side_that_need_not_lead_on_is_taken_among_the_deepest_only():
    two = depths((10, 20, 2.0), (-20, -10, 4.0))
    assert np.degrees(choose_bearing(BEARINGS, two, BranchChoice("left"))) == pytest.approx(-10.0)
    two = depths((10, 20, 3.5), (-20, -10, 4.0))
    assert np.degrees(choose_bearing(BEARINGS, two, BranchChoice("left"))) == pytest.approx(10.0)


def test_a_side_is_seen_from_afar_where_both_ways_are_deep():
    far = depths((2, 20, 4.0), (-20, -6, 3.8), floor=2.0)
    assert np.degrees(choose_bearing(BEARINGS, far, BranchChoice("right", True))) == pytest.approx(-6.0)
    assert np.degrees(choose_bearing(BEARINGS, far, BranchChoice("left", True))) == pytest.approx(2.0)


def test_where_nothing_parts_the_road_yet_it_keeps_to_the_side_that_leads_on():
    road = depths((-12, 25, 2.5), floor=1.4)
    assert np.degrees(choose_bearing(BEARINGS, road, BranchChoice("left", True))) == pytest.approx(25.0)
    assert np.degrees(choose_bearing(BEARINGS, road, BranchChoice("right", True))) == pytest.approx(-12.0)
    assert choose_bearing(BEARINGS, road, BranchChoice("right")) == choose_bearing(BEARINGS, road)


def test_a_dead_end_has_an_answer_too():
    shallow = depths((-5, 5, 0.4), floor=0.1)
    assert np.degrees(choose_bearing(BEARINGS, shallow)) == pytest.approx(0.0)
    assert np.isfinite(choose_bearing(BEARINGS, np.full(len(BEARINGS), 1e-9), BranchChoice("left", True)))
