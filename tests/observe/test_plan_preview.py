import math

import numpy as np
import pytest
from helpers.planned_road import ROAD, N, even_plan, observe_plan

from trailbrake.cars.car_library import load_car
from trailbrake.errors import UsageError
from trailbrake.observe.parts import PARTS, LinePart, PlanPart
from trailbrake.observe.state_observer import StateObserver
from trailbrake.observe.task_spec import TaskSpec
from trailbrake.tracks.road_columns import RoadColumn


def preview(plan, ahead=(0.5, 1.0), **features):
    return observe_plan(PlanPart("plan", "", ahead), plan, **features)


def test_numbers_are_the_line_and_the_speeds_relative_to_the_car():
    here = preview(even_plan(), OFFSET=-1.5, HEADING=-0.1, VELOCITY_X=20.0)
    assert here == pytest.approx([1.0, 1.0, 1.0, 0.4, 1.0, 1.0, 0.4, 1.0])


def test_a_car_that_stands_looks_ten_metres_a_second_ahead_and_a_quick_one_farther():
    speeds = np.arange(N) * ROAD.spacing  # the speed tells the place
    plan = even_plan()._replace(speed=speeds)
    assert preview(plan, (1.0,), S=5.0)[4] == pytest.approx(1.5, abs=1e-6)
    assert preview(plan, (0.2,), S=5.0, VELOCITY_X=50.0)[4] == pytest.approx((15.0 - 50.0) / 10.0, abs=1e-5)


def test_the_preview_goes_on_beyond_the_finish_line_and_headings_wrap():
    plan = even_plan()
    plan.offset[:10] = 3.0
    numbers = preview(plan, (1.0,), S=ROAD.length - 5.0, VELOCITY_X=10.0, HEADING=0.1 - 2.0 * np.pi)
    assert numbers[1] == pytest.approx(0.0, abs=1e-5)
    assert numbers[0] == pytest.approx(0.5)
    assert numbers[2] == pytest.approx(1.0)


def test_a_task_that_needs_a_plan_is_refused_without_one():
    task = TaskSpec(["plan"])
    assert task.needs_plan
    assert not TaskSpec(["lane"]).needs_plan
    assert task.width == PARTS["plan"].width
    with pytest.raises(UsageError, match="needs a plan of the road"):
        StateObserver(task, ROAD, load_car("gt3"))
    with pytest.raises(UsageError, match="needs a plan of the road"):
        preview(None)


def find_pose(s, offset):
    """Return x, y of the place `offset` to the left of the centreline (m), and the direction of the road (rad)."""
    x, y, yaw = (ROAD.value_at(s, column) for column in (RoadColumn.X, RoadColumn.Y, RoadColumn.YAW))
    return x - offset * math.sin(yaw), y + offset * math.cos(yaw), yaw


def preview_line(plan, ahead=(0.5, 1.0), **features):
    return observe_plan(LinePart("line", "", ahead), plan, **features)


def test_the_first_numbers_are_the_line_beside_the_car():
    here = preview_line(even_plan(), OFFSET=-1.5, HEADING=-0.1, VELOCITY_X=20.0)
    assert here[:2] == pytest.approx([1.0, 1.0])
    assert here[[3, 5]] == pytest.approx([1.0, 1.0])  # (30 - 20) / 10


@pytest.mark.parametrize("s", [0.0, 300.0, ROAD.length - 5.0])
def test_bearings_are_those_of_points_of_the_line_in_the_axes_of_the_car(s):
    offset, turned, speed, ahead = -0.7, 0.2, 25.0, (0.2, 1.0, 2.0)
    numbers = preview_line(even_plan(), ahead, S=s, OFFSET=offset, HEADING=turned, VELOCITY_X=speed)
    x, y, yaw = find_pose(s, offset)
    for k, time in enumerate(ahead):
        px, py, _ = find_pose(s + time * speed, 1.5)
        angle = math.atan2(py - y, px - x) - yaw - turned
        expected = math.atan2(math.sin(angle), math.cos(angle)) / 0.2
        assert numbers[2 + 2 * k] == pytest.approx(expected, abs=0.02)


def test_it_does_not_matter_how_the_centreline_bends_beneath_the_line():
    """A straight line across a bend of the road is straight ahead, wherever the road turns."""
    x, y, yaw = find_pose(300.0, 0.0)
    stations = ROAD.stations()
    points = np.column_stack([x + (stations - 300.0) * math.cos(yaw), y + (stations - 300.0) * math.sin(yaw)])
    place = ROAD.locate_many(points[(stations > 290.0) & (stations < 330.0)])
    offset = np.interp(stations, place[:, 0], place[:, 1])
    numbers = preview_line(even_plan(heading=0.0)._replace(offset=offset), (0.5, 1.0), S=300.0, VELOCITY_X=15.0)
    assert numbers[[2, 4]] == pytest.approx([0.0, 0.0], abs=0.02)


def test_numbers_are_bounded_and_the_width_is_that_of_the_part():
    numbers = preview_line(even_plan(speed=500.0), VELOCITY_X=-400.0, HEADING=3.0)
    assert np.abs(numbers).max() <= 10.0
    task = TaskSpec(["line"])
    assert task.needs_plan
    assert task.width == PARTS["line"].width == 20
