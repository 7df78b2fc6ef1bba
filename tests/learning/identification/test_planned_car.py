"""What a plan believes of a learned car: less of what failed, and no more than was shown."""

import math
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from trailbrake.cars.car_library import load_car
from trailbrake.cars.learned import Uncertainty
from trailbrake.evaluate.car_comparison import restore_found_numbers
from trailbrake.learning.identification.planned_car import (
    GRIP_STEPS,
    FaultSample,
    LapFault,
    PlanReduction,
    classify_fault,
    describe_fault,
    lower_plan,
    measure_sideslip,
    plan_car,
)


def learned(name="gt3", used=2.0, grip=0.0, used_rear=None, deviation=None):
    doubt = Uncertainty(source="test", lateral_grip=grip, braking=0.0, drive_force=0.0, downforce=0.0,
                        steer_angle=0.0, delay=0.0, deviation=deviation or {})  # fmt: skip
    car = replace(load_car(name), uncertainty=doubt)
    return SimpleNamespace(car=car, used=(used, used if used_rear is None else used_rear))


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


def drive(*parts, rate=50.0):
    """Return the samples of parts (seconds, speed, sideslip, acceleration, throttle, brake) behind each other."""
    samples, time = [], 100.0
    for seconds, *values in parts:
        for _ in range(round(seconds * rate)):
            samples.append(FaultSample(time, *values))
            time += 1.0 / rate
    return samples


def test_a_slide_is_blamed_on_the_pedal_before_it():
    straight, slide = (3.0, 30.0, 0.0, 0.0, 0.2, 0.0), (1.0, 25.0, 0.3, -2.0, 0.0, 0.0)
    braked = drive(straight, (1.0, 28.0, 0.05, -9.0, 0.0, 0.8), slide)
    assert classify_fault(braked).phase == "braking"
    pushed = drive(straight, (1.0, 28.0, 0.05, 3.0, 0.9, 0.0), slide)
    assert classify_fault(pushed).phase == "power"
    turned = drive(straight, (1.0, 28.0, 0.05, -1.0, 0.1, 0.0), slide)
    assert classify_fault(turned) == LapFault("cornering", pytest.approx(28.0, abs=0.5))


def test_a_car_that_ran_wide_without_a_slide_was_too_fast_before_it_left():
    wide = drive((2.0, 40.0, 0.0, -8.0, 0.0, 0.9), (1.4, 33.0, 0.02, -1.0, 0.1, 0.0))
    assert classify_fault(wide).phase == "braking"
    late = drive((2.0, 40.0, 0.0, -8.0, 0.0, 0.9), (2.5, 33.0, 0.02, -1.0, 0.1, 0.0))
    assert classify_fault(late).phase == "cornering"


def test_an_older_slide_and_one_at_a_crawl_do_not_count():
    old = drive((1.0, 30.0, 0.4, -9.0, 0.0, 0.9), (5.0, 30.0, 0.0, 3.0, 0.9, 0.0))
    assert classify_fault(old).phase == "power"
    crawl = drive((0.2, 30.0, 0.0, -9.0, 0.0, 0.9), (1.0, 2.0, 1.2, 0.5, 0.1, 0.0), (2.0, 20.0, 0.0, 3.0, 0.8, 0.0))
    assert classify_fault(crawl).phase == "power"


def test_accelerations_that_are_not_supplied_leave_the_pedals():
    samples = [sample._replace(acceleration=math.nan) for sample in drive((3.0, 20.0, 0.0, 0.0, 0.8, 0.0))]
    assert classify_fault(samples).phase == "power"
    assert classify_fault([]) == LapFault("standstill", 0.0)


def test_faults_have_words():
    assert describe_fault(LapFault("braking", 31.4)) == "left the road while braking, at 31 m/s"
    assert describe_fault(LapFault("standstill", 0.0)) == "the car got stuck"


def test_the_sideslip_of_the_rear_axle_is_that_of_a_rotating_body():
    # A car that turns about a point 10 m to the left of its rear axle has no sideslip there.
    assert measure_sideslip(10.0, 1.0 * 1.4, 1.0, 1.4) == pytest.approx(0.0)
    assert measure_sideslip(10.0, 2.0, 0.0, 1.4) == pytest.approx(math.atan2(2.0, 10.0))
    assert measure_sideslip(0.5, 0.5, 0.0, 1.4) == 0.0
