"""Shares with their intervals, against values from a textbook."""

import math

import pytest

from trailbrake.evaluate.overtaking.scene_drive import SceneResult
from trailbrake.evaluate.overtaking.scene_scores import score_scenes, wilson_interval


@pytest.mark.parametrize(
    ("hits", "count", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),  # Newcombe, Statistics in Medicine 17 (1998) 857, table I
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_the_interval_is_that_of_the_literature(hits, count, low, high):
    assert wilson_interval(hits, count) == pytest.approx((low, high), abs=5e-5)


def test_of_nothing_nothing_is_known():
    assert wilson_interval(0, 0) == (0.0, 1.0)


def test_an_error_counts_as_not_passed():
    results = [
        SceneResult(passed=True, after_s=10.0, lost_s=1.0, rival_lost_s=0.2, ratio=0.93),
        SceneResult(contact=True, lost_s=3.0, rival_lost_s=0.4, ratio=0.93),
        SceneResult(error="broke"),
    ]
    score = score_scenes(results)
    assert score["passed"]["count"] == score["contact"]["count"] == score["errors"] == 1
    assert score["passed"]["share"] == pytest.approx(1.0 / 3.0)
    assert score["after_s"] == 10.0
    assert score["lost_s"] == 2.0
    assert math.isnan(score_scenes([])["passed"]["share"])
