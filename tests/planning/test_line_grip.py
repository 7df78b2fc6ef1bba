"""The grip that the speeds of a line need."""

from functools import cache

import numpy as np
import pytest
from helpers.stadiums import build_stadium

from trailbrake.cars.car_library import load_car
from trailbrake.planning.course import Course, path_shapes
from trailbrake.planning.line_grip import find_needed_grip
from trailbrake.tracks.track import Track


@cache
def course():
    return Course(Track("stadium", "", (build_stadium(),)), load_car("gt3"))


def needed_for(speeds):
    line = course().line
    return find_needed_grip(line, speeds, path_shapes(line), course().envelope)


@pytest.mark.parametrize("margin", [0.9, 1.0, 1.1])
def test_a_profile_needs_the_margin_that_it_was_planned_with(margin):
    profile = course().plan_speeds(course().line, start=-1.0, margin=margin)
    bends = profile.grip > 0.99 * margin
    np.testing.assert_allclose(needed_for(profile.speed)[bends], margin, atol=0.05)


def test_slow_speeds_say_nothing():
    np.testing.assert_array_equal(needed_for(np.full(len(course().line.table), 5.0)), 1.0)
