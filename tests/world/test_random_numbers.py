import math

import numpy as np
import pytest

from trailbrake.world.random_numbers import normal_from_word, philox


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


@pytest.mark.slow
def test_normal_numbers_are_normal():
    words = [philox(k, 0, 0, 0, 7) for k in range(50_000)]
    draws = np.array([[normal_from_word(word, k, 0, 0, 1, 7) for word in four] for k, four in enumerate(words)])
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
