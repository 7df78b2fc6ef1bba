"""Laps of many cars at once: gate times, and agreement with a drive through the world."""

from functools import cache

import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.planning.course import Course
from trailbrake.reference.lap_batch import LapBatch, pack_plans
from trailbrake.reference.lap_search import LapPlan, PlanBuilder
from trailbrake.tracks.track_library import load_track


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
