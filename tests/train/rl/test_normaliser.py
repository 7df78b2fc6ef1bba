import numpy as np
import pytest

from trailbrake.train.rl.networks import LEAST_SCALE, Normaliser


def test_moments_of_batches_are_those_of_all_together():
    rng = np.random.default_rng(0)
    seen = rng.normal([3.0, -100.0], [0.5, 20.0], (1000, 2)).astype(np.float32)
    moments = Normaliser(2)
    for part in (seen[:1], seen[1:700], seen[700:]):
        moments.merge(len(part), part.mean(axis=0), part.var(axis=0))
    assert moments.offset == pytest.approx(seen.mean(axis=0), rel=1e-5)
    assert moments.scale == pytest.approx(seen.std(axis=0), rel=1e-4)
    assert moments.count == 1000


def test_a_number_that_never_varies_is_not_divided_by_zero():
    moments = Normaliser(1)
    moments.merge(10, np.full(1, 4.0), np.zeros(1))
    assert moments.scale == pytest.approx([LEAST_SCALE])
