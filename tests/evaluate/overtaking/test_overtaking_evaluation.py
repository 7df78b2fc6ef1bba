"""Which scenes are driven together, what is refused before any is driven, and what a task returns."""

import math
from pathlib import Path

import msgspec
import pytest

from trailbrake.errors import UsageError
from trailbrake.evaluate.options import EvaluationOptions, EvaluationRunOptions
from trailbrake.evaluate.overtaking.overtaking_evaluation import (
    SCENES_PER_CASE,
    evaluate_overtaking,
    list_cases,
    run_scenes_task,
    score_scenes,
    wilson_interval,
)
from trailbrake.evaluate.overtaking.scene_drive import JudgedDriver, SceneResult
from trailbrake.evaluate.overtaking.scenes import load_overtaking_suite

NAME = "suite/overtake-v1"


def test_each_scene_is_in_one_case_of_its_class_and_venue():
    suite = load_overtaking_suite(NAME)
    cases = list_cases(suite, JudgedDriver("convoy"), 0, 12)
    scenes = [scene for case in cases for scene in case.scenes]
    assert len(scenes) == len({(scene.kind, scene.number) for scene in scenes}) == 12 * len(suite.classes)
    for case in cases:
        assert 1 <= len(case.scenes) <= SCENES_PER_CASE
        assert len({(scene.kind, scene.venue) for scene in case.scenes}) == 1


@pytest.mark.parametrize(
    ("options", "running", "where"),
    [
        ({"tracks": "pinegrove"}, {}, "--tracks"),
        ({"laps": 7}, {}, "--laps"),
        ({}, {"scenes": -1}, "--scenes"),
        ({}, {"check": Path("a.json")}, "--check"),
        ({"drivers": "nobody"}, {}, "nobody"),
    ],
)
def test_what_the_suite_decides_and_what_is_not_there_is_refused(options, running, where, tmp_path):
    with pytest.raises(UsageError) as caught:
        evaluate_overtaking(NAME, EvaluationOptions(**options), EvaluationRunOptions(out=tmp_path, **running), print)
    assert where in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_driver_that_cannot_be_loaded_is_the_result_of_its_scenes():
    case = list_cases(load_overtaking_suite(NAME), JudgedDriver("nobody"), 0, 1)[0]
    results = msgspec.msgpack.decode(run_scenes_task(msgspec.msgpack.encode(case)), type=list[SceneResult])
    assert len(results) == 1
    assert "nobody" in results[0].error


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
