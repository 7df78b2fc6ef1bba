"""Where a car may be placed."""

import math

import pytest
from helpers.roads import circle

from trailbrake.tracks.track_bounds import NEAR_TRACK, TrackBounds


@pytest.mark.parametrize("axis", [0, 1])
def test_the_box_of_the_roads_and_a_kilometre_around_it(axis):
    track = circle(30.0)
    bounds, places = TrackBounds(track), track.road.table[:, axis]
    for edge, outward in ((places.min() - NEAR_TRACK, -1.0), (places.max() + NEAR_TRACK, 1.0)):
        for beyond in (-0.01, 0.01):
            place = [0.0, 0.0]
            place[axis] = edge + outward * beyond
            assert bounds.contain(*place) == (beyond < 0.0)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e30])
def test_what_is_no_place_is_outside(value):
    bounds = TrackBounds(circle(30.0))
    assert not bounds.contain(value, 0.0)
    assert not bounds.contain(0.0, value)
