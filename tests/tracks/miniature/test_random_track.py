import numpy as np
import pytest

from trailbrake.errors import UsageError
from trailbrake.tracks.miniature.random_track import LENGTH_RANGE, generate_miniature_track

SEEDS = range(8)


@pytest.fixture(scope="module")
def tracks():
    return [generate_miniature_track(seed) for seed in SEEDS]


def test_a_seed_is_always_the_same_track(tracks):
    first, again = tracks[5], generate_miniature_track(5)
    assert np.array_equal(first.halves[0], again.halves[0])
    assert np.array_equal(first.walls, again.walls)
    assert first.signs == again.signs


def test_seeds_differ(tracks):
    assert len({round(track.length, 6) for track in tracks}) == len(tracks)


def test_every_track_is_as_long_as_the_real_ones_and_forks(tracks):
    for track in tracks:
        assert LENGTH_RANGE[0] <= track.length <= LENGTH_RANGE[1]
        assert len(track.forks) >= 2


def test_both_ways_are_the_shorter_one_about_equally_often(tracks):
    left = [fork.left_length < fork.right_length for track in tracks for fork in track.forks]
    assert 0.2 < np.mean(left) < 0.8


def test_a_negative_seed_is_refused():
    with pytest.raises(UsageError, match="no such seed"):
        generate_miniature_track(-1)
