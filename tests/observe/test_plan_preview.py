import numpy as np
import pytest
from helpers.planned_road import ROAD, N, even_plan, observe_plan

from trailbrake.cars.car_library import load_car
from trailbrake.errors import UsageError
from trailbrake.observe.parts import PARTS, PlanPart
from trailbrake.observe.state_observer import StateObserver
from trailbrake.observe.task_spec import TaskSpec


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
