import numpy as np
import pytest

from trailbrake.env.domain_randomisation import MAX_BRAKING, Start, StartSampler, limit_by_braking
from trailbrake.tracks.track_library import load_track


def test_speeds_before_a_slow_row_are_those_of_a_braking_car():
    limits = np.array([30.0, 60.0, 60.0, 10.0, 60.0])
    before = np.sqrt(10.0**2 + 2.0 * MAX_BRAKING * 100.0)
    assert limit_by_braking(limits, 100.0, False) == pytest.approx([30.0, np.sqrt(2900.0), before, 10.0, 60.0])
    assert limit_by_braking(limits, 100.0, True)[-1] == pytest.approx(np.sqrt(30.0**2 + 2.0 * MAX_BRAKING * 100.0))


def test_no_start_is_too_fast_for_the_braking_distance_to_any_place_ahead():
    road = load_track("hartmoor").road
    sampler = StartSampler(road, Start(offset=0.0, speed=(80.0, 80.0)))
    places = sampler.sample_grids(np.random.default_rng(0), 400, 1)
    s, speed = road.locate_many(places[:, :2])[:, 0], places[:, 3]
    order = np.argsort(s)
    s, speed = s[order], speed[order]
    # Two rows of tolerance: a start lies between rows, and takes the speed of the one before it.
    room = np.diff(s) + 2.0 * road.spacing
    assert (speed[:-1] ** 2 <= speed[1:] ** 2 + 2.0 * MAX_BRAKING * room + 1.0).all()
    assert speed.max() > 60.0
    assert speed.min() < 20.0
