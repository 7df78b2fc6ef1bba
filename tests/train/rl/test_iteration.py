import numpy as np
import pytest

from trailbrake.train.rl.iteration import IterationOutcome, describe_rollout, join_outcomes
from trailbrake.train.rl.rollout import Rollout


def test_figures_of_a_rollout():
    def full(value, kind=np.float32):
        return np.full((10, 2), value, kind)

    ended = full(False, bool)
    ended[3, 1] = True
    rollout = Rollout(np.zeros((11, 2, 1)), np.zeros((10, 2, 2)), full(0.0), full(0.5), ended, full(20.0))
    figures = describe_rollout(rollout, 0.1)
    assert figures == pytest.approx({"reward": 0.5, "speed": 20.0, "crashes_per_km": 1000.0 / 40.0})


def test_outcomes_of_workers_are_sums_and_means():
    times = {"world": 1.0, "actor": 2.0}
    joined = join_outcomes([IterationOutcome(5, 3.0, times, {"speed": 10.0}),
                            IterationOutcome(5, 4.0, times, {"speed": 20.0})])  # fmt: skip
    assert joined == IterationOutcome(10, 7.0, {"world": 2.0, "actor": 4.0}, {"speed": 15.0})
