"""What a plan believes of a learned car: less of what failed, and no more than was shown."""

from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from trailbrake.cars.car_library import load_car
from trailbrake.cars.learned import Uncertainty
from trailbrake.evaluate.car_comparison import restore_found_numbers
from trailbrake.learning.identification.lap_fault import LapFault
from trailbrake.learning.identification.planned_car import GRIP_STEPS, PlanReduction, lower_plan, plan_car


def learned(name="gt3", used=2.0, grip=0.0, used_rear=None, deviation=None):
    doubt = Uncertainty(source="test", lateral_grip=grip, braking=0.0, drive_force=0.0, downforce=0.0,
                        steer_angle=0.0, delay=0.0, deviation=deviation or {})  # fmt: skip
    car = replace(load_car(name), uncertainty=doubt)
    return SimpleNamespace(
        car=car, tyres=SimpleNamespace(used_front=used, used_rear=used if used_rear is None else used_rear)
    )


def test_a_sure_car_is_planned_as_it_is():
    made = learned()
    assert plan_car(made, PlanReduction()) == made.car


def test_reductions_are_in_the_numbers_and_stated():
    made = learned()
    car = plan_car(made, PlanReduction(0.9, 0.8, 0.5))
    assert car.tyre_front.mu_y == pytest.approx(0.9 * made.car.tyre_front.mu_y)
    assert car.tyre_rear.mu_x == pytest.approx(0.72 * made.car.tyre_rear.mu_x)
    assert car.aero.lift_area_rear == pytest.approx(0.5 * made.car.aero.lift_area_rear)
    doubt = car.uncertainty
    assert (doubt.planned_share, doubt.planned_along, doubt.planned_downforce) == (0.9, 0.8, 0.5)
    assert doubt.verified_laps == 0


def test_doubt_and_unshown_peaks_lower_the_grip():
    doubted = plan_car(learned(grip=0.1), PlanReduction())
    assert doubted.uncertainty.planned_share == pytest.approx(1.05 * (1.0 - 1.96 * 0.1))
    assert doubted.tyre_front.mu_y < learned().car.tyre_front.mu_y
    gentle = plan_car(learned(used=0.4), PlanReduction())
    assert gentle.tyre_front.mu_y < 0.9 * learned().car.tyre_front.mu_y
    assert gentle.uncertainty.planned_share == 1.0
    assert gentle.uncertainty.planned_front == pytest.approx(gentle.tyre_front.mu_y / learned().car.tyre_front.mu_y)
    assert restore_found_numbers(gentle).tyre_rear.mu_x == pytest.approx(learned().car.tyre_rear.mu_x)


def test_an_axle_that_never_slid_is_known_as_the_fit_says_where_the_other_one_did():
    friction = load_car("gt3").tyre_rear.mu_y
    deviation = {"tyre_rear.mu_y": 0.04 * friction}
    car = plan_car(learned(used=2.0, used_rear=0.4, deviation=deviation), PlanReduction())
    assert car.tyre_rear.mu_y == pytest.approx((1.0 - 1.96 * 0.04) * friction)
    assert car.tyre_front.mu_y == load_car("gt3").tyre_front.mu_y
    neither = plan_car(learned(used=0.4, deviation=deviation), PlanReduction())
    guessed = plan_car(learned(used=2.0, used_rear=0.4), PlanReduction())  # the fit has not narrowed the class's
    assert neither.tyre_rear.mu_y == guessed.tyre_rear.mu_y < 0.9 * friction


@pytest.mark.parametrize(
    ("fault", "along", "downforce"),
    [
        (LapFault("braking", 10.0), 0.9, 1.0), (LapFault("power", 10.0), 0.9, 1.0),
        (LapFault("cornering", 10.0), 1.0, 1.0), (LapFault("cornering", 60.0), 1.0, 0.8),
        (LapFault("standstill", 0.0), 1.0, 1.0),
    ],
)  # fmt: skip
def test_the_number_behind_a_fault_is_lowered(fault, along, downforce):
    lowered = lower_plan(PlanReduction(), fault, load_car("gt3"), 0)
    assert lowered == PlanReduction(GRIP_STEPS[0], along, downforce)


def test_steps_grow_until_what_is_left_holds_any_car():
    reduction = PlanReduction()
    for attempt in range(len(GRIP_STEPS)):
        lower = lower_plan(reduction, LapFault("cornering", 10.0), load_car("hatchback"), attempt)
        assert lower.grip < reduction.grip
        reduction = lower
    assert reduction.grip < 0.6
