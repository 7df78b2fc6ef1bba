"""The plan that follows the grip: what it does ahead of the car, from lap to lap, and with a memory."""

import msgspec
import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.cars.learned import Uncertainty
from trailbrake.control.vehicle.grip_estimate import GripEstimate
from trailbrake.drivers.line_follow import Driver
from trailbrake.drivers.parts.adaptive_plan import (
    BRAKING,
    CAUTIOUS_GRIP,
    DOUBT_RESERVE,
    LEAST_STEER_CUT,
    RESERVE_RELEASE,
    UNDERSTEER_MARGIN,
    UNTESTED_GRIP,
    VERIFIED_GRIP,
    AdaptivePlan,
    Deviation,
    GripUse,
)
from trailbrake.errors import DataError
from trailbrake.planning.course import Course
from trailbrake.planning.lap_learning import CAUTIOUS_LIMITS, FAST_LIMIT, PEAK_LIMITS, Evidence, find_room
from trailbrake.state import Controls
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track_library import load_track
from trailbrake.world.plant import World

ON_PLAN = Deviation(0.0, 0.0, False)
DT = 0.01


@pytest.fixture(scope="module")
def course():
    return Course(load_track("kartwerk"), load_car("gt3"))


def at_limit(plan, s, slip, use, seconds=3.0):
    """Stay at s for so long with this slip and use: enough for the estimate."""
    for _ in range(round(seconds / DT)):
        plan.adapt(s, 0.0, DT, GripUse(use, slip, slip), ON_PLAN)


def test_a_car_as_believed_gets_the_course_s_own_plan(course):
    plan = AdaptivePlan(course, 1.0)
    for s in np.arange(0.0, course.line.length, 30.0):
        plan.replan(float(s))
    rows = np.arange(300, len(course.profile.speed), 7)  # the last part's end is before these
    now = [plan.speed_at(float(row * course.line.spacing)) for row in rows]
    assert now == pytest.approx(course.profile.speed[rows].tolist(), rel=1e-3)


def test_a_place_s_share_of_the_grip_is_planned_there_alone_and_remembered(course):
    plan = AdaptivePlan(course, 1.0)
    plan.places.shares[30:33] = 0.5
    for s in np.arange(0.0, course.line.length + 10.0, 10.0):
        plan.adapt(float(s % course.line.length), 0.0, DT, GripUse(0.2, 0.1, 0.1), ON_PLAN)
    plan.replan(0.0)
    grip = plan.road.table[:, RoadColumn.GRIP] / course.line.column(RoadColumn.GRIP)
    rows = course.line.stations()
    assert grip[(rows > 300.0) & (rows < 320.0)] == pytest.approx(0.5, rel=1e-3)
    assert grip[(rows < 290.0) | (rows > 330.0)] == pytest.approx(1.0, rel=1e-3)
    assert plan.export_memory()["factors"][31] == pytest.approx(0.5, rel=1e-3)


def test_a_slide_lowers_the_plan_ahead_at_once(course):
    plan = AdaptivePlan(course, 1.0)
    plan.replan(0.0)
    slowest = float(np.argmin(course.profile.speed[:150])) * course.line.spacing
    before = plan.speed_at(slowest)
    at_limit(plan, 1.0, 1.1, 0.8, seconds=1.0)
    grip = plan.estimate.grip
    assert grip < 0.9
    assert plan.speed_at(slowest) == pytest.approx(before * grip**0.5, rel=0.01)  # slow: no downforce to speak of
    assert plan.road.table[5, 11] == pytest.approx(grip, rel=0.02)


def test_it_learns_where_the_car_s_file_says_that_its_grip_is_an_estimate(course):
    gt3 = course.car
    doubt = Uncertainty(
        lateral_grip=0.04, braking=0.04, drive_force=0.05, downforce=0.1, steer_angle=0.02, delay=0.01, source=""
    )
    unsure = msgspec.structs.replace(gt3, uncertainty=doubt)
    starts = {}
    for name, car, gains in (("known", gt3, {}), ("unsure", unsure, {}), ("off", unsure, {"learn": 0.0}),
                             ("chosen", unsure, {"start_grip": 0.8}), ("forced", gt3, {"learn": 1.0})):  # fmt: skip
        driver = Driver(**gains)
        driver.reset(Course(course.track, car, given_line=course.line))
        starts[name] = (driver.learns, round(driver.plan.estimate.grip, 6))
    learning = {"unsure": CAUTIOUS_GRIP[0], "chosen": 0.8, "forced": 0.93}
    assert starts == {"known": (False, 1.0), "off": (False, 1.0)} | {k: (True, v) for k, v in learning.items()}


@pytest.mark.parametrize(("slip", "raised"), [(0.6, True), (0.9, False)])
def test_wheels_braked_as_far_as_the_law_lets_them_slip_leave_no_margin(course, slip, raised):
    plan = AdaptivePlan(course, 1.0, limits=PEAK_LIMITS)
    for s in np.arange(1.0, course.line.length, 2.0):
        plan.adapt(float(s), 2.0 * BRAKING, 10.0 * DT, GripUse(0.95, slip, 0.1), ON_PLAN)
    plan.adapt(1.0, 0.0, DT, GripUse(0.2, 0.1, 0.1), ON_PLAN)
    assert plan.learning.laps == 1
    assert bool(plan.learning.factors.max() > 1.0) == raised


@pytest.mark.parametrize(("forward", "slip", "raised"), [(2.0, 0.7, True), (2.0, 0.82, False), (0.0, 0.82, True)])
def test_where_the_law_gives_brakes_up_for_side_force_no_braking_is_later(course, forward, slip, raised):
    plan = AdaptivePlan(course, 1.0, limits=PEAK_LIMITS)
    for s in np.arange(1.0, course.line.length, 2.0):
        plan.adapt(float(s), forward * BRAKING, 10.0 * DT, GripUse(0.97, slip, slip), ON_PLAN)
    plan.adapt(1.0, 0.0, DT, GripUse(0.2, 0.1, 0.1), ON_PLAN)
    assert bool(np.median(plan.learning.factors) > 1.0) is raised


@pytest.mark.parametrize(("fast", "raised"), [(0.9 * FAST_LIMIT, True), (1.1 * FAST_LIMIT, False)])
def test_a_car_that_brakes_less_than_planned_has_no_margin(course, fast, raised):
    plan = AdaptivePlan(course, 1.0)
    for s in np.arange(1.0, course.line.length, 2.0):
        plan.adapt(float(s), 2.0 * BRAKING, 10.0 * DT, GripUse(0.95, 0.3, 0.1), Deviation(0.0, fast, False))
    plan.adapt(1.0, 0.0, DT, GripUse(0.2, 0.1, 0.1), ON_PLAN)
    assert bool(plan.learning.factors.max() > 1.0) == raised


@pytest.mark.parametrize(("locking", "raised"), [(0.5, True), (0.85, False), (9.0, False)])
def test_an_inner_wheel_that_nearly_locks_leaves_no_margin(course, locking, raised):
    """The mean of its axle slips by 0.5 of the peak: laps raised the braking until that wheel locked."""
    plan = AdaptivePlan(course, 1.0)
    for s in np.arange(1.0, course.line.length, 2.0):
        plan.adapt(float(s), 2.0 * BRAKING, 10.0 * DT, GripUse(0.95, 0.5, 0.1), ON_PLAN, locking=locking)
    plan.adapt(1.0, 0.0, DT, GripUse(0.2, 0.1, 0.1), ON_PLAN)
    assert bool(plan.learning.factors.max() > 1.0) == raised
    assert plan.learning.factors.min() > 0.8


@pytest.mark.parametrize(("cuts", "slip"), [(0.0, 0.6), (0.5, 0.6), (2.0, PEAK_LIMITS.target_slip - UNDERSTEER_MARGIN)])
def test_a_law_that_holds_the_front_tyres_below_the_target_leaves_little_margin(course, cuts, slip):
    plan = AdaptivePlan(course, 1.0, limits=PEAK_LIMITS)
    for s in np.arange(1.0, course.line.length, 2.0):
        off = Deviation(0.0, 0.0, False, steer_cut=cuts * LEAST_STEER_CUT)
        plan.adapt(float(s), 0.0, 10.0 * DT, GripUse(0.95, 0.6, 0.6), off)
    plan.adapt(1.0, 0.0, DT, GripUse(0.2, 0.1, 0.1), ON_PLAN)
    raised = min(find_room(PEAK_LIMITS.target_slip - slip), PEAK_LIMITS.most_raise)
    assert np.median(plan.learning.factors) == pytest.approx(1.0 + raised, abs=1e-3)


def test_an_uncertain_plan_rises_lap_by_lap(course):
    plan = AdaptivePlan(course, 1.0, cautious=True)
    assert plan.estimate.grip == CAUTIOUS_GRIP[0]
    by_laps = (*CAUTIOUS_GRIP, 1.0, 1.0, 1.0)
    for _ in range(4):
        drive_lap(plan, slip=0.5, use=0.8)
        assert plan.estimate.most == by_laps[plan.learning.laps]
    assert plan.learning.laps >= 3


def test_a_file_that_was_driven_with_all_its_grip_starts_less_cautiously(course):
    doubt = Uncertainty(lateral_grip=0.04, braking=0.04, drive_force=0.05, downforce=0.1, steer_angle=0.02, delay=0.01,
                        verified_laps=2, source="")  # fmt: skip
    car = msgspec.structs.replace(course.car, uncertainty=doubt)
    plan = AdaptivePlan(Course(course.track, car, given_line=course.line), 1.0, cautious=True)
    assert plan.estimate.grip == VERIFIED_GRIP[0] > CAUTIOUS_GRIP[0]


def test_a_cap_that_rises_raises_no_place_without_margin(course):
    plan = AdaptivePlan(course, 1.0, cautious=True)
    for _ in range(2):
        drive_lap(plan, slip=CAUTIOUS_LIMITS.target_slip, use=0.9)
    assert plan.learning.laps == 1
    assert plan.estimate.most == CAUTIOUS_GRIP[1]
    assert CAUTIOUS_GRIP[1] * np.median(plan.learning.factors) == pytest.approx(CAUTIOUS_GRIP[0], rel=0.01)


def test_off_the_road_it_does_not_estimate(course):
    plan = AdaptivePlan(course, 1.0)
    for _ in range(300):
        plan.adapt(1.0, 0.0, DT, GripUse(0.5, 1.1, 1.1), Deviation(3.0, 5.0, True))
    assert plan.estimate.grip == 1.0


def test_a_wheel_beyond_the_kerb_says_nothing_of_the_road(course):
    plan = AdaptivePlan(course, 1.0)
    for _ in range(300):
        plan.adapt(1.0, 0.0, DT, GripUse(0.7, 0.8, 0.8), Deviation(0.3, 0.0, False, 0.1, on_verge=True))
    assert plan.estimate.grip == 1.0


def test_what_a_place_shows_is_not_taken_for_more_where_the_estimate_lacks_only_its_tolerance(course):
    plan = AdaptivePlan(course, 1.0, limits=PEAK_LIMITS)
    assert plan.estimate.grip == 1.0
    for s in np.arange(0.0, course.line.length + 20.0, 0.5):
        plan.adapt(float(s % course.line.length), 2.0, 0.01, GripUse(0.5, 0.2, 0.1, traction=10.0), ON_PLAN)
    assert plan.learning.reference_at(100.0, Evidence.TRACTION) == pytest.approx(10.0, rel=0.001)


@pytest.mark.parametrize(("slip", "reference", "shown"), [(0.2, 1.1, 1.0), (0.4, 1.1, 1 / 1.1), (0.4, np.nan, np.nan),
                                                          (0.8, np.nan, 1.0)])  # fmt: skip
def test_stiff_tyres_do_not_end_a_place_where_no_lap_before_has_shown_what_they_give(course, slip, reference, shown):
    """In rain a car that began to brake showed the grip of before, so that a straight was planned at 0.4 of it."""
    plan = AdaptivePlan(course, 1.0, limits=PEAK_LIMITS)
    plan.estimate.combined_slip, plan.estimate.use = slip, plan.estimate._share_of_peak(slip)
    assert plan._compare_capacity(reference) == pytest.approx(shown, nan_ok=True)


def test_a_fast_bend_shows_rain_before_the_car_slides(course):
    """10 % less friction than in the lap before, at a greater slip: use and slip of one axle hide most of it."""
    plan = AdaptivePlan(course, 1.0, limits=PEAK_LIMITS)
    for s in np.arange(0.0, course.line.length + 20.0, 0.5):
        plan.adapt(float(s % course.line.length), 0.0, DT, GripUse(0.9, 0.55, 0.55, 1.04), ON_PLAN)
    assert plan.estimate.grip == 1.0
    for s in np.arange(20.0, 60.0, 0.5):
        plan.adapt(float(s), 0.0, DT, GripUse(0.9, 0.62, 0.62, 0.9 * 1.04), ON_PLAN)
    assert plan.estimate.shown_grip < 0.95
    assert plan.speed_at(80.0) < 0.99 * course.profile.speed[round(80.0 / course.line.spacing)]


def test_braking_across_the_end_of_a_lap_that_got_wet_does_not_count_the_fall_twice(course):
    plan = AdaptivePlan(course, 1.0, limits=PEAK_LIMITS)
    length, last = course.line.length, course.line.length - 1.0
    for s in np.arange(0.0, length + 20.0, 2.0):
        plan.adapt(float(s % length), 0.0, DT, GripUse(1.0, 0.9, 0.9), ON_PLAN)
    plan.estimate = GripEstimate(0.7, plan._curve)
    plan.replan(last)
    plan._acceleration[:] = np.full(len(plan.accelerations), 2.0 * BRAKING)
    planned = plan._planned_grip * plan._factors[-1]
    plan.adapt(last, 0.0, DT, GripUse(0.0, 0.0, 0.0), ON_PLAN)
    plan.adapt(1.0, 0.0, DT, GripUse(0.0, 0.0, 0.0), ON_PLAN)
    plan.replan(1.0)
    assert plan._factors[0] < 0.8
    assert plan._planned_grip * plan._factors[0] > 0.97 * planned


def drive_lap(plan, slip, use):
    length = plan.learning.factors.size * 10.0
    for s in np.arange(1.0, length, 2.0):
        plan.adapt(float(s), 0.0, DT, GripUse(use, slip, slip), ON_PLAN)


def test_laps_with_margin_are_driven_faster_and_never_beyond_the_bound(course):
    plan = AdaptivePlan(course, 1.0)
    speeds = []
    for _ in range(3):
        drive_lap(plan, 0.55, 0.95)
        speeds.append(plan.speed_at(130.0))
    assert speeds[0] < speeds[1] < speeds[2]
    for _ in range(12):
        drive_lap(plan, 0.55, 0.95)
    assert plan.learning.factors.max() == pytest.approx(CAUTIOUS_LIMITS.most_factor)


@pytest.mark.parametrize(("use", "expects"), [(1.0, True), (0.7, False)])
def test_a_fall_is_expected_to_go_on_only_after_a_lap_with_the_grip_of_the_file(course, use, expects):
    plan = AdaptivePlan(course, 1.0, limits=PEAK_LIMITS)
    drive_lap(plan, 0.9, use)
    plan.adapt(1.0, 0.0, DT, GripUse(use, 0.9, 0.9), ON_PLAN)
    assert plan.estimate.expects_fall is expects


def test_a_memory_is_taken_up_as_it_was_left(course):
    first, second = AdaptivePlan(course, 1.0), AdaptivePlan(course, 1.0)
    for _ in range(3):
        drive_lap(first, 0.6, 0.95)
    kept = msgspec.json.decode(msgspec.json.encode(first.export_memory()))
    second.import_memory(kept, "file")
    assert second.learning.laps == first.learning.laps == kept["laps"]
    assert second.learning.factors == pytest.approx(first.learning.best_factors, abs=1e-4)
    assert second.learning.trials.trust == pytest.approx(first.learning.trials.trust)
    second.replan(100.0)
    assert second.speed_at(130.0) > course.profile.speed[round(130.0 / course.line.spacing)]
    assert second.estimate.grip < first.estimate.grip


@pytest.mark.parametrize(
    "change",
    [
        {"grip": 1.5},
        {"grip": None},
        {"factors": []},
        {"factors": [9.0] * 109},
        {"laps": -1},
        {"trust": [1.5]},
        {"more": 1},
        {"grip": "a"},
    ],
)
def test_a_memory_that_does_not_fit_is_refused_and_changes_nothing(course, change):
    plan = AdaptivePlan(course, 1.0)
    kept = plan.export_memory()
    with pytest.raises(DataError, match=r"kept\.json"):
        plan.import_memory({**kept, **change}, "kept.json")
    assert plan.export_memory() == kept


def test_without_learning_the_plan_stays_the_course_s(course):
    driver = Driver()
    driver.reset(course)
    world, controls = World(course.track, [course.car]), Controls()
    for _ in range(900):
        world.step([controls])
        controls = driver.act(world.car_state(0), world.period)
    assert driver.plan.estimate.use == 0.0
    assert [driver.plan.speed_at(float(s)) for s in range(0, 1000, 50)] == pytest.approx(
        np.interp(np.arange(0, 1000, 50), course.line.stations(), course.profile.speed).tolist(), rel=1e-3
    )


def drive_true_car(course, grip, laps):
    """Drive another car than believed, with `grip` times its friction; return the laps and the least grip planned."""
    car = course.car
    tyres = {
        name: msgspec.structs.replace(tyre, mu_x=grip * tyre.mu_x, mu_y=grip * tyre.mu_y)
        for name, tyre in (("tyre_front", car.tyre_front), ("tyre_rear", car.tyre_rear))
    }
    world = World(course.track, [msgspec.structs.replace(car, **tyres)], period=0.01)
    driver, controls, least = Driver(learn=1.0), Controls(brake=1.0), 1.0
    driver.reset(course)
    for _ in range(round(70.0 * laps / world.period)):
        world.step([controls])
        controls = driver.act(world.car_state(0), world.period)
        least = min(least, driver.plan.estimate.grip)
        if len(world.laps(0)) == laps:
            break
    return world.laps(0), least


@pytest.mark.slow
def test_a_car_with_15_per_cent_less_grip_than_believed_stays_between_the_walls(course):
    """With the plan as it is, the car touches the walls of this track with 10 % less."""
    laps, least = drive_true_car(course, 0.85, 1)
    assert [lap.valid for lap in laps] == [True]
    assert 0.75 < least < 0.93


@pytest.mark.slow
def test_a_car_with_more_grip_than_believed_gets_faster_from_lap_to_lap(course):
    laps, _ = drive_true_car(course, 1.1, 3)
    assert all(lap.valid for lap in laps)
    times = [lap.time_s for lap in laps]
    assert times[1] > times[2]
    assert times[2] < course.profile.lap_time  # a lap that the plan as it is does not promise


@pytest.mark.parametrize("is_disturbed", [False, True])
def test_a_reserve_is_kept_until_the_car_has_braked_hard_for_others_too(course, is_disturbed):
    plan = AdaptivePlan(course, 1.0, tests_brakes=True)
    assert plan.estimate.grip == UNTESTED_GRIP
    for _ in range(100):  # a moment in a bend says nothing of the brakes
        plan.adapt(50.0, 0.0, 0.003, GripUse(1.0, 0.9, 0.9), ON_PLAN, is_disturbed=is_disturbed)
    assert plan.estimate.most == UNTESTED_GRIP
    grips = [UNTESTED_GRIP]
    for _ in range(2500):
        plan.adapt(50.0, -12.0, 0.003, GripUse(1.0, 0.9, 0.1), ON_PLAN, is_disturbed=is_disturbed)
        grips.append(plan.estimate.grip)
    assert grips[-1] > UNTESTED_GRIP + 0.09
    assert np.diff(grips).max() < 1.5 * RESERVE_RELEASE * 0.003  # no jump, which would jerk the steering


@pytest.mark.parametrize(("use", "released"), [(1.0, True), (0.9, False)])
def test_bends_that_show_the_grip_of_the_file_release_the_reserve_and_others_do_not(course, use, released):
    plan = AdaptivePlan(course, 1.0, tests_brakes=True)
    for _ in range(1500):
        plan.adapt(50.0, 0.0, 0.003, GripUse(use * 0.98, 0.8, 0.8), Deviation(0.0, 0.0, False))
    assert (plan.estimate.most > UNTESTED_GRIP) == released
    launched = AdaptivePlan(course, 1.0, tests_brakes=True)
    for _ in range(1500):  # wheels that spin: no bend
        launched.adapt(50.0, 3.0, 0.003, GripUse(0.98, 0.8, 0.1), Deviation(0.0, 0.0, False))
    assert launched.estimate.most == UNTESTED_GRIP


def test_among_others_a_fall_of_the_grip_is_planned_with_at_once_and_no_lap_learns(course):
    plan, length = AdaptivePlan(course, 1.0), course.line.length
    for s in np.arange(0.0, 1.2 * length, 5.0):
        plan.adapt(float(s % length), 0.0, 0.05, GripUse(0.65, 0.9, 0.9), ON_PLAN, is_disturbed=True)
    assert plan.estimate.grip < 0.7
    assert plan.speed_at(0.3 * length) < 0.9 * course.profile.speed[int(0.3 * length / course.line.spacing)]
    assert plan.learning.laps == 0


def test_where_the_car_brakes_the_plan_falls_but_does_not_rise(course):
    plan = AdaptivePlan(course, 0.9)
    braking = int(np.argmin(plan.accelerations)) * plan.road.spacing
    plan.replan(braking - 60.0)
    before = plan.speed_at(braking + 20.0)
    plan.estimate = GripEstimate(1.0, plan._curve)
    plan.replan(braking)
    assert plan.speed_at(braking + 20.0) == pytest.approx(before, rel=1e-3)
    plan.estimate = GripEstimate(0.8, plan._curve)
    plan.replan(braking)
    assert plan.speed_at(braking + 20.0) < 0.99 * before


def test_a_car_that_never_brakes_hard_learns_from_its_second_lap_on(course):
    plan = AdaptivePlan(course, 1.0, first_factor=0.9, tests_brakes=True)
    stations = len(plan.learning.factors)

    def drive_lap():
        for k in range(20 * stations):
            plan.adapt(0.5 * k, 0.0, 0.05, GripUse(0.86, 0.6, 0.6), Deviation(0.0, 0.0, False))

    drive_lap()
    drive_lap()
    assert np.allclose(plan.learning.factors, 0.9)
    drive_lap()
    assert plan.learning.factors.max() > 0.9


def test_a_car_that_brakes_worse_than_its_file_keeps_a_reserve_for_the_rest_of_the_lap(course):
    plan = AdaptivePlan(course, 1.0, tests_brakes=True)
    for _ in range(600):  # 0.87 of the envelope at the slip of the peak, of which braking uses 0.97
        plan.adapt(50.0, -12.0, 0.003, GripUse(0.87, 0.9, 0.1), Deviation(0.0, 0.0, False))
    grip = plan.estimate.grip
    assert 0.80 < grip < 0.92
    after = int(np.flatnonzero(plan.accelerations > 0.0)[0])  # within a braking nothing is given back
    plan.replan(after * plan.road.spacing)
    assert plan.road.table[after + 15, RoadColumn.GRIP] == pytest.approx((1.0 - DOUBT_RESERVE) * grip, rel=1e-3)


def test_a_car_that_brakes_as_its_file_says_gets_its_reserve_back_and_keeps_no_other_for_it(course):
    """The reserve itself counted as doubt: the plan fell while the car braked, and that place was too fast in lap 1."""
    plan = AdaptivePlan(course, 1.0, tests_brakes=True)
    for _ in range(300):
        plan.adapt(50.0, -12.0, 0.003, GripUse(0.97, 0.9, 0.1), Deviation(0.0, 0.0, False))
    assert plan.estimate.has_braked
    after = int(np.flatnonzero(plan.accelerations > 0.0)[0])
    plan.replan(after * plan.road.spacing)
    assert plan.road.table[after + 15, RoadColumn.GRIP] == pytest.approx(plan.estimate.grip, rel=1e-3)


@pytest.mark.parametrize(("locking", "least", "most"), [(0.0, 1.10, 1.13), (0.75, 1.02, 1.04), (0.9, 0.98, 1.0)])
def test_a_wheel_that_nearly_locks_leaves_less_than_the_mean_of_its_axle_says(course, locking, least, most):
    plan = AdaptivePlan(course, 1.0, limits=PEAK_LIMITS)
    for s in np.arange(1.0, course.line.length, 2.0):
        plan.adapt(float(s), 2.0 * BRAKING, 10.0 * DT, GripUse(0.95, 0.6, 0.1), ON_PLAN, locking=locking)
    plan.adapt(1.0, 0.0, DT, GripUse(0.2, 0.1, 0.1), ON_PLAN)
    assert least < np.median(plan.learning.factors) < most


@pytest.mark.parametrize("limits", [CAUTIOUS_LIMITS, PEAK_LIMITS])
def test_an_estimate_that_rises_in_a_lap_raises_no_place_beyond_what_its_tyres_have_left(course, limits):
    """Planned at 0.87 of the grip in one lap and at all of it in the next, braked wheels of random:587522 locked."""
    plan = AdaptivePlan(course, 1.0, limits=limits)
    plan.learning.most_plan[:] = 0.9
    plan._most_plan = plan.learning.most_plan_at(len(plan.speeds), course.line.spacing)
    plan.replan(0.0)
    assert plan.road.table[:, RoadColumn.GRIP].max() == pytest.approx(0.9)


def test_where_a_cautious_lap_is_followed_by_a_faster_one_the_tail_is_expected_farther_out(course):
    plan = AdaptivePlan(course, 1.0, limits=PEAK_LIMITS)
    places = course.line.stations()
    plan.learning.slip_rise[:] = 0.2
    expected, curvature = plan.expect_sideslip(places), course.line.column(RoadColumn.CURVATURE)
    bends = np.abs(curvature) > 0.02
    assert (np.sign(expected[bends]) == -np.sign(curvature[bends])).all()  # the rear axle slips to the outside
    assert np.abs(expected).max() == pytest.approx(0.2 * course.car.tyre_rear.peak_slip_angle, rel=0.05)
    assert np.abs(expected[np.abs(curvature) < 1e-4]).max() < 0.01
