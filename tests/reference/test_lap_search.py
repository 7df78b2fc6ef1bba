"""The search: its parts by closed forms, and that it finds quicker laps."""

from functools import cache

import numpy as np
import pytest
from helpers.stadiums import build_stadium

from trailbrake.cars.car_library import load_car
from trailbrake.planning.course import Course
from trailbrake.planning.path_margins import KERB_MARGIN
from trailbrake.planning.path_room import PathRoom, find_path_bounds
from trailbrake.reference import lap_search
from trailbrake.reference.lap_search import (
    GRIP_LIMITS,
    PROVEN_LAPS,
    LapBatch,
    LapPlan,
    LapSearch,
    PlanBuilder,
    blend_periodic,
    pack_plans,
    rank_weights,
)
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track import Track
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


def test_a_path_keeps_to_the_room_of_lines():
    """On pinegrove, whose edges have kerbs in bends alone."""
    course = Course(load_track("pinegrove"), load_car("gt3"), on_kerbs=True)
    gates, body = 40, course.known_car().body
    half_track = 0.5 * min(body.track_front, body.track_rear)
    room = PathRoom(0.5 * body.width, half_track, KERB_MARGIN, kerbs=True)
    outward = LapPlan(np.ones(gates), np.full(gates, 50.0))
    line = PlanBuilder(course, gates).build_line(outward)
    place = course.track.road.locate_many(line.table[:, :2])
    most = find_path_bounds(course.track.road, place[:, 0], room)[1]
    # Paths are smoothed over some rows, which cuts steps of the room.
    assert float(np.max(place[:, 1] - most)) < 0.6


@pytest.mark.slow
def test_it_finds_quicker_clean_laps_and_repeats_to_the_bit():
    road = build_stadium(straight=60.0, radius=25.0, half_width=4.0)
    course = Course(Track("stadium", "", (road,)), load_car("kart"))
    search = LapSearch(course, count=16, seed=3)
    search.run_generations(1)
    first = search.best_time
    assert np.isfinite(first)
    search.run_generations(3)
    assert search.best_time < first
    again = LapSearch(course, count=16, seed=3)
    assert again.prove_candidates() is None
    again.run_generations(1)
    assert again.best_time == first
    proven = search.prove_candidates()
    assert proven is not None
    assert len(proven.laps) == PROVEN_LAPS
    assert proven.laps[0] >= search.best_time - 1e-6
    times = [time for time, _ in search.candidates]
    assert times == sorted(times)
    assert len(times) <= 16


@pytest.mark.slow
def test_a_search_whose_cars_all_leave_the_road_begins_again_with_less_grip(monkeypatch):
    monkeypatch.setattr(lap_search, "FIRST_GRIP", 1.5)
    monkeypatch.setattr(lap_search, "PATIENCE", 1)
    search = LapSearch(make_course(), count=16, seed=3)
    search.run_generations(1)
    assert not search.candidates
    search.run_generations(3)
    assert search.mean.grip.max() < 1.3
    assert np.isfinite(search.best_time)


@cache
def course():
    return Course(load_track("kartwerk"), load_car("kart"))


def plans(*grips):
    batch = LapBatch(course().track, course().known_car(), len(grips))
    builder = PlanBuilder(course(), batch.gates)
    made = [builder.build_plan(LapPlan(np.full(batch.gates, grip), np.zeros(batch.gates))) for grip in grips]
    return batch, made


@pytest.mark.slow
def test_more_planned_grip_is_a_quicker_lap_and_cars_do_not_touch_each_other():
    batch, made = plans(0.8, 0.8, 0.9)
    marks, off = batch.drive_laps(made)
    assert np.all(np.diff(marks, axis=1) > 0.0)
    np.testing.assert_array_equal(marks[0], marks[1])  # the same plan, beside another car
    assert marks[2, -1] < 0.97 * marks[0, -1]
    assert not off.any()
    # The plan of a flying lap is driven to a few percent.
    speeds = made[0].table[:, 0]
    assert marks[0, -1] == pytest.approx(np.sum(made[0].line.spacing / speeds), rel=0.04)


@pytest.mark.slow
def test_a_plan_beyond_all_grip_leaves_the_road():
    batch, made = plans(1.5)
    marks, off = batch.drive_laps(made)
    assert off.sum() > 0.0 or np.isnan(marks[0, -1])


def test_plans_of_different_lengths_are_padded():
    _, (one, two) = plans(0.8, 0.9)
    shorter = two._replace(table=two.table[:-5], line=two.line._replace(table=two.line.table[:-5]))
    packed = pack_plans([one, shorter])
    assert packed.rows.tolist() == [len(one.table), len(one.table) - 5]
    np.testing.assert_array_equal(packed.tables[1, : packed.rows[1]], shorter.table)
    assert not packed.tables[1, packed.rows[1] :].any()
