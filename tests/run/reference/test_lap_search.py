"""The search: its parts by closed forms, and that it finds quicker laps."""

import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.planning.course import Course
from trailbrake.run.reference.lap_search import (
    GRIP_LIMITS,
    LapPlan,
    LapSearch,
    PlanBuilder,
    blend_periodic,
    rank_weights,
)
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track_library import load_track


def make_course():
    return Course(load_track("kartwerk"), load_car("kart"))


def test_a_blend_of_equal_points_is_equal_and_goes_round():
    phase = np.linspace(0.0, 8.0, 33)
    np.testing.assert_allclose(blend_periodic(np.full(8, 0.7), phase), 0.7)
    one = np.eye(8)[0]
    # The cubic B-spline is 2/3 at its knot, 1/6 at the next ones and 0 beyond.
    found = blend_periodic(one, np.array([0.0, 1.0, 7.0, 2.0, 8.0]))
    np.testing.assert_allclose(found, [2 / 3, 1 / 6, 1 / 6, 0.0, 2 / 3], atol=1e-12)


def test_weights_fall_and_their_sum_is_one():
    weights = rank_weights(5)
    assert weights.sum() == pytest.approx(1.0)
    assert np.all(np.diff(weights) < 0.0)
    assert weights[-1] > 0.0


def test_a_path_stays_on_the_road():
    course = make_course()
    builder, gates = PlanBuilder(course, 20), 20
    wild = LapPlan(np.full(gates, 9.0), np.full(gates, 50.0))
    plan = builder.limit_plan(wild)
    assert np.all(plan.grip == GRIP_LIMITS[1])
    line = builder.build_line(plan)
    # Between the gates the road may be narrower than at them.
    assert line.column(RoadColumn.WIDTH_LEFT).min() > 0.0


@pytest.mark.slow
def test_it_finds_quicker_clean_laps_and_repeats_to_the_bit():
    search = LapSearch(make_course(), count=16, seed=3)
    search.run_generations(1)
    first = search.best_time
    assert np.isfinite(first)
    search.run_generations(3)
    assert search.best_time < first
    again = LapSearch(make_course(), count=16, seed=3)
    again.run_generations(1)
    assert again.best_time == first
