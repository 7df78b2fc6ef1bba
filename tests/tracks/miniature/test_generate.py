import numpy as np
import pytest

from trailbrake.errors import UsageError
from trailbrake.tracks.miniature.generate import LENGTH, generate

SEEDS = range(8)


@pytest.fixture(scope="module")
def tracks():
    return [generate(seed) for seed in SEEDS]


def test_a_seed_is_always_the_same_track():
    first, again = generate(5), generate(5)
    assert np.array_equal(first.halves[0], again.halves[0])
    assert np.array_equal(first.walls, again.walls)
    assert first.boards == again.boards


def test_seeds_differ(tracks):
    assert len({round(track.length, 6) for track in tracks}) == len(tracks)


def test_every_track_is_as_long_as_the_real_ones_and_forks(tracks):
    for track in tracks:
        assert LENGTH[0] <= track.length <= LENGTH[1]
        assert len(track.forks) >= 2


def test_both_ways_are_the_shorter_one_about_equally_often(tracks):
    left = [fork.left < fork.right for track in tracks for fork in track.forks]
    assert 0.2 < np.mean(left) < 0.8


def test_a_negative_seed_is_refused():
    with pytest.raises(UsageError, match="no such seed"):
        generate(-1)
