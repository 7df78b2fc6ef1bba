import math

import pytest
from helpers.race_policies import follow_plan

from trailbrake.train.rl.evaluation import LapEvaluator, TrackResult, score_results
from trailbrake.train.rl.options import RlOptions


def result(lap_time=50.0, crashes=0, laps=8.0):
    return TrackResult("a", 50.0, lap_time, laps, crashes, 4)


def test_no_crash_counts_more_than_any_speed_and_then_the_quicker_lap_wins():
    assert score_results([result(49.0)]) < score_results([result(51.0)])
    assert score_results([result(80.0)]) < score_results([result(45.0, crashes=1)])
    assert score_results([result(50.0), result(60.0)]) == pytest.approx(1.1)


def test_before_the_first_lap_the_one_that_gets_farther_is_better():
    assert score_results([result(math.nan, 4, 3.0)]) < score_results([result(math.nan, 4, 1.0)])
    assert score_results([result(60.0, 4, 6.0)]) < score_results([result(math.nan, 4, 3.9)])


@pytest.mark.slow
def test_laps_of_a_cautious_policy_are_timed_and_a_blind_one_crashes():
    options = RlOptions(track="pinegrove", kerbs=False)  # the policy made by hand needs room
    evaluator = LapEvaluator(options)
    try:
        (careful,) = evaluator.evaluate(follow_plan())
        (again,) = evaluator.evaluate(follow_plan())
        (blind,) = evaluator.evaluate(follow_plan(slower=-20.0))
    finally:
        evaluator.close()
    assert careful == again
    assert careful.crashes == 0
    assert careful.laps == pytest.approx(8.0, abs=0.1)
    assert 1.05 < careful.ratio < 1.7
    assert blind.crashes == 4
