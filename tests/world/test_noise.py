import math

import numpy as np
import pytest

from trailbrake.world.noise import blur, lose, normal, philox


@pytest.mark.parametrize(
    ("counter", "seed", "words"),
    [  # known answers published with the generator: counter words and key words, lowest first
        ((0, 0, 0, 0), 0, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            0x299F31D0_A4093822,
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_philox_gives_the_published_answers(counter, seed, words):
    assert philox(*counter, seed) == words


def test_machine_code_and_plain_python_give_the_same_words():
    plain = getattr(philox, "py_func", philox)
    for k in range(20):
        assert philox(k, 3, 2**32 - 1, 5, 12345678901234567 + k) == plain(k, 3, 2**32 - 1, 5, 12345678901234567 + k)


def test_normal_numbers_are_normal():
    words = [philox(k, 0, 0, 0, 7) for k in range(50_000)]
    draws = np.array([[normal(word, k, 0, 0, 1, 7) for word in four] for k, four in enumerate(words)])
    assert abs(draws.mean()) < 4.0 / np.sqrt(draws.size)
    assert draws.std() == pytest.approx(1.0, abs=4.0 / np.sqrt(2.0 * draws.size))
    ordered = np.sort(draws.ravel())
    truth = 0.5 * np.array([math.erfc(-x / math.sqrt(2.0)) for x in ordered])
    gap = np.abs(truth - (np.arange(draws.size) + 0.5) / draws.size).max()
    assert gap < 1.95 / np.sqrt(draws.size)  # Kolmogorov's test: one seed in a thousand is further off
    for edge in (3.0, 3.442619855899, 4.0):  # the tail has a branch of its own
        expected = draws.size * math.erfc(edge / math.sqrt(2.0))
        assert abs(np.sum(np.abs(draws) > edge) - expected) < 4.0 * math.sqrt(expected)
    assert np.abs(np.corrcoef(draws.T) - np.eye(4)).max() < 0.02
    assert abs(np.corrcoef(draws[:-1, 0], draws[1:, 0])[0, 1]) < 0.02


def noisy(lo=0, hi=50, tick=1, seed=11, stream=0, dtype=np.float64):
    ranges = np.full((50, 101), 10.0, dtype)
    ranges[:, 100] = 30.0  # met nothing
    blur(ranges, 0.03, 0.004, 30.0, seed, stream, tick, lo, hi)
    return ranges


def test_noise_has_the_spread_that_was_asked_for_and_leaves_misses_alone():
    noise = noisy()[:, :100] - 10.0
    assert noise.std() == pytest.approx(np.hypot(0.03, 0.004 * 10.0), rel=0.04)
    assert abs(noise.mean()) < 4.0 * 0.05 / np.sqrt(noise.size)
    assert np.all(noisy()[:, 100] == 30.0)
    assert noisy(dtype=np.float32)[:, :100] == pytest.approx(10.0 + noise, abs=1e-5)


def test_noise_does_not_depend_on_how_cars_are_shared_out_and_changes_with_the_tick():
    whole = noisy()
    parts = noisy(0, 20)
    parts[20:] = noisy(20, 50)[20:]
    assert np.array_equal(whole, parts)
    for other in (noisy(tick=2), noisy(seed=12), noisy(stream=1)):
        assert np.mean(other[:, :100] == whole[:, :100]) < 0.01
    assert np.mean(whole[1:, :100] == whole[:-1, :100]) < 0.01


def test_noise_stays_within_the_range():
    ranges = np.full((20, 100), 0.01)
    ranges[:, 50:] = 29.99
    blur(ranges, 0.5, 0.0, 30.0, 1, 0, 0, 0, 20)
    assert ranges.min() == 0.0
    assert ranges.max() == 30.0


def test_beams_are_lost_as_often_as_asked():
    whole = np.full((50, 1001), 10.0)
    lose(whole, 0.2, 99.0, 3, 1, 4, 0, 50)
    lost = whole == 99.0
    assert np.all(whole[~lost] == 10.0)
    assert lost.mean() == pytest.approx(0.2, abs=4.0 * np.sqrt(0.16 / lost.size))
    assert lost.mean(axis=0).max() < 0.6  # not always the same beams
    parts = np.full((50, 1001), 10.0)
    lose(parts, 0.2, 99.0, 3, 1, 4, 20, 50)
    assert np.all(parts[:20] == 10.0)
    lose(parts, 0.2, 99.0, 3, 1, 4, 0, 20)
    assert np.array_equal(whole, parts)
    none = np.full((5, 7), 10.0)
    lose(none, 0.0, 99.0, 3, 1, 4, 0, 5)
    assert np.all(none == 10.0)
