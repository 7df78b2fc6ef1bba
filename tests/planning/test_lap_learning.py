"""Learning from lap to lap, on made-up laps."""

import math

import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.planning.lap_learning import (
    AHEAD,
    BEHIND,
    CAUTIOUS_LIMITS,
    LEAST_FACTOR,
    MOST_FACTOR,
    MOST_PROVEN,
    OFF_ROAD_STEP,
    PEAK_LIMITS,
    PLANNED_USE,
    STATION,
    Evidence,
    LapLearning,
    LapSample,
    LearningLimits,
    find_room,
    find_slip_rise,
    find_sure_room,
    rate_fault,
)
from trailbrake.planning.section_trials import SURE_STEP, TRUST_SHRINKAGE

LENGTH = 1000.0
LIMITS = CAUTIOUS_LIMITS


def observe(learning, s, grip, use, slip, fault):
    """Take a sample of a car that keeps no reserve."""
    return learning.observe(s, LapSample(grip, learning.usable_grip(s, grip), use, slip, fault))


def drive_lap(learning, slip_at, grip=1.0, fault_at=lambda s: 0.0, use=0.95):
    """Pass the line once and cross its start; return how often a lap ended."""
    ended = 0
    for s in np.arange(5.0, LENGTH, 2.0):
        ended += observe(learning, s, grip, use, slip_at(s), fault_at(s))
    return ended + observe(learning, 1.0, grip, 0.0, 0.0, 0.0)


def circuit():
    return LapLearning(LENGTH, closed=True)


def test_margin_raises_the_plan_by_a_step_a_lap_up_to_a_bound():
    learning = circuit()
    assert drive_lap(learning, lambda s: 0.5) == 1
    assert learning.factors == pytest.approx(1.0 + LIMITS.most_raise)
    for _ in range(20):
        drive_lap(learning, lambda s: 0.5)
    assert learning.factors == pytest.approx(LIMITS.most_factor)
    assert learning.laps == 21


@pytest.mark.parametrize(("fault", "left"), [(0.2, 1.0), (0.35, 0.65 / 0.7)])
def test_what_goes_wrong_behind_a_fall_of_the_grip_is_the_fault_of_the_plan_before_it(fault, left):
    learning = LapLearning(LENGTH, closed=True, limits=PEAK_LIMITS)
    for s in np.arange(5.0, LENGTH, 2.0):
        grip = 1.0 if s < 500.0 else 0.7
        learning.observe(s, LapSample(grip, grip, 0.95, 0.9, fault if 500.0 < s < 520.0 else 0.0))
    learning.observe(1.0, LapSample(0.7, 0.7, 0.0, 0.0, 0.0))
    assert learning.factors[[50, 51]] == pytest.approx(0.7 * left, rel=0.03)


def test_a_car_that_brakes_across_the_line_too_fast_for_the_new_plan_does_not_lower_it_again():
    learning = LapLearning(LENGTH, closed=True, limits=PEAK_LIMITS)
    for fault in (0.15, 0.1):
        drive_lap(learning, lambda s: 0.9, fault_at=lambda s, fault=fault: fault if s < 100.0 else 0.0)
        lowered = learning.factors[:9].copy()
    assert lowered == pytest.approx(0.85, abs=0.02)
    for _ in range(2):  # a fault that the lap before has planned for as well is its own
        drive_lap(learning, lambda s: 0.9, fault_at=lambda s: 0.1 if s < 100.0 else 0.0)
    assert np.all(learning.factors[:9] < 0.95 * lowered)


@pytest.mark.parametrize("slip", [0.75, LIMITS.target_slip])
def test_where_a_lap_had_no_margin_the_factor_makes_up_for_an_estimate_that_may_rise(slip):
    learning, rise, risen = circuit(), 1.04, 1.0 + find_room(LIMITS.target_slip - slip)
    learning.lap_grip = 0.9
    for s in np.arange(5.0, LENGTH, 2.0):
        learning.observe(s, LapSample(0.9, 0.9, 0.95, slip, 0.0, rise))
    learning.observe(1.0, LapSample(0.9, 0.9, 0.0, 0.0, 0.0, rise))
    assert rise * learning.factors == pytest.approx(risen, rel=1e-6)


def test_it_settles_where_the_tyres_slip_as_far_as_aimed_at():
    """A tyre whose slip grows by 4 per unit of grip: the factor comes to rest at the target."""
    learning = circuit()
    for _ in range(30):
        factors = learning.factors.copy()
        drive_lap(learning, lambda s, f=factors: LIMITS.target_slip + 4.0 * (f[min(int(s / STATION), 99)] - 1.05))
    assert learning.factors == pytest.approx(1.05, abs=0.003)


def test_a_slide_lowers_the_way_to_it_and_a_little_behind_and_nothing_else():
    learning = circuit()
    drive_lap(learning, lambda s: 1.3 if 500.0 <= s < 510.0 else LIMITS.target_slip)
    lowered = np.flatnonzero(learning.factors < 0.999)
    assert lowered.min() in (50 - AHEAD, 50 - AHEAD - 1)
    assert lowered.max() in (50 + BEHIND, 50 + BEHIND + 1)
    assert learning.factors.min() == pytest.approx(1.0 - 0.15 * (1.3 - LIMITS.target_slip))


def test_where_it_slides_nothing_is_raised_by_its_neighbours():
    learning = circuit()
    drive_lap(learning, lambda s: 0.9 if 500.0 <= s < 510.0 else 0.4)
    assert learning.factors[50 - AHEAD : 51 + BEHIND].max() < 1.0
    assert learning.factors[20] > 1.0


def test_a_place_at_the_limit_does_not_hold_back_the_way_to_it():
    learning = LapLearning(LENGTH, closed=True, limits=PEAK_LIMITS)
    drive_lap(learning, lambda s: PEAK_LIMITS.target_slip if 500.0 <= s < 510.0 else 0.4)
    raised = 1.0 + PEAK_LIMITS.most_raise
    first = 50 - PEAK_LIMITS.raise_ahead
    assert learning.factors[first : 51 + BEHIND].max() == pytest.approx(1.0)
    assert learning.factors[50 - AHEAD : first - 1] == pytest.approx(raised)


def test_stations_near_which_nothing_was_told_stay_as_they_are():
    learning = LapLearning(LENGTH, closed=True, limits=PEAK_LIMITS)
    for s in np.arange(5.0, LENGTH, 2.0):
        observe(learning, s, 1.0, 0.95 if 500.0 <= s < 510.0 else 0.3, 0.3, 0.0)
    observe(learning, 1.0, 1.0, 0.0, 0.0, 0.0)
    assert learning.factors[50] > 1.0
    assert learning.factors[50 - AHEAD] == pytest.approx(1.0)


def test_straights_say_nothing():
    learning = circuit()
    drive_lap(learning, lambda s: 0.2, use=0.5)
    assert learning.factors == pytest.approx(1.0)


def test_bounds_hold_whatever_a_lap_was_like():
    learning = circuit()
    drive_lap(learning, lambda s: 30.0)
    assert learning.factors == pytest.approx(1.0 - LIMITS.most_lowering)
    for _ in range(20):
        drive_lap(learning, lambda s: 30.0)
    assert learning.factors == pytest.approx(LEAST_FACTOR)


def test_a_fault_before_the_grip_was_lowered_is_not_lowered_twice():
    learning = circuit()
    for s in np.arange(5.0, LENGTH, 2.0):
        observe(learning, s, 1.0 if s < 600.0 else 0.9, 0.95, 1.2 if 500.0 <= s < 510.0 else 0.0, 0.0)
    observe(learning, 1.0, 0.9, 0.0, 0.0, 0.0)
    assert learning.factors.min() >= 1.0  # the slide asked for 6 % less, the estimate has taken 10 %


@pytest.mark.parametrize(("slip", "expected"), [(0.6, 0.9 * 1.072), (0.7, 0.9 * 1.024), (0.2, 1.0 + LIMITS.most_raise)])
def test_a_cautious_lap_vouches_for_its_grip_and_what_its_slip_leaves(slip, expected):
    learning = circuit()
    for s in np.arange(5.0, LENGTH, 2.0):
        observe(learning, s, 0.9 if s < 500.0 else 1.0, 0.95, slip, 0.0)
    observe(learning, 1.0, 1.0, 0.0, 0.0, 0.0)
    assert learning.factors[10:40] == pytest.approx(expected, abs=0.002 if slip > 0.4 else 0.05)
    step = min(LIMITS.most_raise, find_room(LIMITS.target_slip - slip))
    assert learning.factors[60:90] == pytest.approx(1.0 + step)


def test_an_open_line_learns_when_it_is_told_its_end():
    learning = LapLearning(LENGTH, closed=False)
    for s in np.arange(5.0, LENGTH, 2.0):
        assert not observe(learning, s, 1.0, 0.95, 1.2 if s > 980.0 else 0.5, 0.0)
    assert not observe(learning, 1.0, 1.0, 0.0, 0.0, 0.0)  # put back to its beginning
    learning.finish_lap(1.0)
    assert learning.factors[-1] < 1.0 < learning.factors[0]


def test_factors_are_interpolated_between_stations_and_over_the_start():
    learning = circuit()
    learning.factors[:] = 1.0
    learning.factors[0] = 0.9
    rows = learning.factors_at(1000, 1.0)
    assert rows[[0, 5, 10, 995]] == pytest.approx([0.9, 0.95, 1.0, 0.95])


def test_faults_add_up_beyond_what_every_lap_has():
    assert rate_fault(0.3, 0.5, off_road=False) == 0.0
    assert rate_fault(1.4, 0.0, off_road=False) == pytest.approx(0.04)
    assert rate_fault(0.0, 0.0, off_road=False, overrun=0.4) == pytest.approx(0.02)
    assert rate_fault(0.0, 3.0, off_road=True) == pytest.approx(0.04 + OFF_ROAD_STEP)


def test_a_law_that_holds_the_peak_learns_faster_and_further():
    limits = LearningLimits(1.0, 0.05, 1.2, 1.0, 0.12, AHEAD, 0.0)
    learning = LapLearning(LENGTH, closed=True, limits=limits)
    drive_lap(learning, lambda s: 0.6)
    assert learning.factors == pytest.approx(1.05)
    for _ in range(9):
        drive_lap(learning, lambda s: 0.6)
    assert learning.factors == pytest.approx(1.2)
    drive_lap(learning, lambda s: 1.0)
    assert learning.factors == pytest.approx(1.2)
    drive_lap(learning, lambda s: 1.2)
    assert learning.factors == pytest.approx(1.2 * (1.0 - 0.15 * 0.2))


def test_the_step_is_what_the_slip_leaves_large_far_from_the_limit_and_small_near_it():
    for slip in (0.5, 0.8, 0.93):
        learning = LapLearning(LENGTH, closed=True, limits=PEAK_LIMITS)
        drive_lap(learning, lambda s, slip=slip: slip)
        step = min(find_room(PEAK_LIMITS.target_slip - slip), PEAK_LIMITS.most_raise)
        assert learning.factors == pytest.approx(1.0 + step)


def test_a_step_far_from_the_limit_is_more_than_in_proportion_to_its_margin():
    near, far = find_room(np.array([0.05, 0.20]))
    assert far > 6.0 * near
    assert near < 0.01


def pass_line(learning, *, pace, slip, late=0.0, length=LENGTH):
    """Pass the line once, `pace` s a metre, `late` of it more from 400 to 600 m; cross its start."""
    dt = 2.0 * pace
    for s in np.arange(1.0, length, 2.0):
        here = 1.0 + late if 400.0 <= s < 600.0 else 1.0
        learning.observe(s, LapSample(1.0, learning.usable_grip(s, 1.0), 0.95, slip, 0.0, 1.0, here * dt))
    learning.observe(1.0, LapSample(1.0, 1.0, 0.0, 0.0, 0.0, 1.0, dt))


def lap_at(learning, slip, use=PLANNED_USE, grip=1.0):
    for s in np.arange(1.0, LENGTH, 2.0):
        learning.observe(s, LapSample(grip, learning.usable_grip(s, grip), use, slip, 0.0, 1.0, 0.05))
    learning.observe(1.0, LapSample(grip, grip, 0.0, 0.0, 0.0, 1.0, 0.05))


@pytest.mark.parametrize(("use", "vouched"), [(PLANNED_USE, 1.0), (0.95 * PLANNED_USE, 0.95), (0.8 * PLANNED_USE, 0.0)])
def test_a_plan_is_raised_by_what_tyres_leave_beyond_the_grip_that_was_used(use, vouched):
    """A car that the engine holds below its plan slips little, and has not shown that it can hold the plan."""
    learning, slip = LapLearning(LENGTH, closed=True, limits=PEAK_LIMITS), 0.65
    lap_at(learning, slip)  # from rest
    before = learning.factors.copy()
    lap_at(learning, slip, use)
    room = max(find_sure_room(PEAK_LIMITS.target_slip - slip) - (1.0 - vouched), 0.0)
    assert learning.factors / before == pytest.approx(1.0 + room + SURE_STEP)


@pytest.mark.parametrize("slip", [0.5, 0.75])
def test_a_place_is_planned_no_further_than_its_tyres_vouch_for_whatever_the_estimate_rises_to(slip):
    """A lap on 0.87 of the grip was followed by one on all of it: wheels without anti-lock brakes locked."""
    learning = circuit()
    assert np.isinf(learning.most_plan).all()
    learning.lap_grip = 0.87  # until the brakes are tested
    lap_at(learning, slip, grip=0.87)
    sure = find_sure_room(PEAK_LIMITS.target_slip - slip)
    assert learning.most_plan == pytest.approx(0.87 * (1.0 + sure + SURE_STEP))
    assert learning.most_plan_at(50, 20.0) == pytest.approx(np.minimum(learning.most_plan[0], MOST_FACTOR))
    lap_at(learning, slip, grip=0.7)  # a fall, after which nothing is known
    assert np.isinf(learning.most_plan).all()


@pytest.mark.parametrize("margin", [0.05, 0.2, 0.4])
def test_tyres_slip_to_the_target_where_a_plan_takes_all_that_they_leave(margin):
    found = find_slip_rise(np.full(3, margin), find_room(margin) * np.array([0.0, 1.0, 0.5]))
    assert found[:2] == pytest.approx([0.0, margin])
    assert 0.0 < found[2] < 0.5 * margin  # the curve of a tyre gets flatter


def test_after_a_cautious_first_lap_tyres_are_expected_to_slip_more():
    learning = LapLearning(LENGTH, closed=True, limits=PEAK_LIMITS)
    for s in np.arange(1.0, LENGTH, 2.0):
        learning.observe(s, LapSample(0.9, 0.9, 0.0, 0.6, 0.0))  # a reserve: the use says nothing
    learning.observe(1.0, LapSample(1.0, 1.0, 0.0, 0.0, 0.0))
    rise = learning.factors / 0.9 - 1.0
    margin = np.full(len(rise), PEAK_LIMITS.target_slip - 0.6)
    assert learning.slip_rise[1:] == pytest.approx(find_slip_rise(margin, rise)[1:])
    lap_at(learning, 0.7)
    assert learning.slip_rise == pytest.approx(0.0)  # from here on the steering is learned


def test_a_place_that_gets_slower_by_learning_gets_its_best_plan_back_and_smaller_steps():
    learning = LapLearning(LENGTH, closed=True, limits=PEAK_LIMITS, sections=(0, 40, 60))
    pass_line(learning, pace=0.030, slip=0.6)  # from rest: it says nothing of the time
    pass_line(learning, pace=0.025, slip=0.6)
    best = learning.best_factors.copy()
    tried = learning.factors.copy()
    assert tried[50] > 1.05 * best[50]
    pass_line(learning, pace=0.024, slip=0.6, late=0.1)  # faster, but for 200 m
    assert learning.best_factors[50] == pytest.approx(best[50])
    assert best[50] < learning.factors[50] < 0.5 * (best[50] + tried[50])
    assert learning.best_factors[20] == pytest.approx(tried[20])
    for _ in range(10):  # whatever it tries there is slower
        pass_line(learning, pace=0.023, slip=0.6, late=0.2)
    assert learning.best_factors[50] == pytest.approx(best[50])
    assert learning.factors[50] == pytest.approx(best[50], rel=0.02)


def test_a_last_station_shorter_than_the_way_of_a_sample_hides_no_section_s_time():
    """Its section was judged in the few laps with a sample there: in all others any step was taken, faster or not."""
    learning = LapLearning(LENGTH + 0.5, closed=True, limits=PEAK_LIMITS, sections=(0, 50))
    pass_line(learning, pace=0.030, slip=0.6)
    pass_line(learning, pace=0.025, slip=0.6)
    best = learning.best_factors.copy()
    pass_line(learning, pace=0.026, slip=0.6)
    assert learning.best_factors == pytest.approx(best)


def test_the_best_plan_is_given_back_as_it_was_driven_whatever_the_estimate_is_at_the_lap_s_end():
    """Over the lower estimate of a lap's last bend it was 3 % too high in all others, and a car locked its wheels."""
    learning = LapLearning(LENGTH, closed=True, limits=LIMITS, sections=(0, 50))
    driven = []
    for pace in (0.030, 0.025, 0.026, 0.026, 0.026):
        driven.append(learning.factors[20])
        for s in np.arange(1.0, LENGTH, 2.0):
            grip = 1.0 if s < 900.0 else 0.97
            learning.observe(s, LapSample(grip, learning.usable_grip(s, grip), 0.95, 0.7, 0.0, 1.0, 2.0 * pace))
        learning.observe(1.0, LapSample(0.97, 0.97, 0.0, 0.0, 0.0, 1.0, 2.0 * pace))
    assert learning.best_factors[20] == pytest.approx(driven[1])


def test_a_lap_in_which_the_grip_has_fallen_forgets_the_best_plans():
    learning = LapLearning(LENGTH, closed=True, limits=PEAK_LIMITS)
    pass_line(learning, pace=0.025, slip=0.9)
    pass_line(learning, pace=0.025, slip=0.9)
    dry = learning.best_factors.copy()
    drive_lap(learning, lambda s: 0.9, grip=0.7)
    assert learning.best_factors.max() < 0.8 * dry.min()


@pytest.mark.parametrize("here", [0.88, 1.12])
def test_an_estimate_that_differs_from_bend_to_bend_in_each_lap_is_no_reason_to_change_the_plan(here):
    """One place is estimated at `here` of the grip at the end of the lap, in each lap; there it is too fast by 5 %."""
    learning = LapLearning(LENGTH, closed=True, limits=PEAK_LIMITS)
    for lap in range(3):
        before = learning.factors[50]
        for s in np.arange(5.0, LENGTH, 2.0):
            is_here = 500.0 <= s < 510.0
            grip, fault = (0.88 * here, 0.05) if is_here else (0.88, 0.0)
            observe(learning, s, grip, 0.95, PEAK_LIMITS.target_slip, fault)
        observe(learning, 1.0, 0.88, 0.0, 0.0, 0.0)
        if lap > 0:
            assert learning.factors[50] == pytest.approx(0.95 * before)


def test_an_estimate_that_fell_in_the_lap_before_does_not_lower_the_next_lap_s_beginning():
    learning = LapLearning(LENGTH, closed=True, limits=PEAK_LIMITS)
    for s in np.arange(5.0, LENGTH, 2.0):
        observe(learning, s, 0.85 - 0.1 * s / LENGTH, 0.95, 0.9, 0.0)
    observe(learning, 1.0, 0.75, 0.0, 0.0, 0.0)
    assert learning.usable_grip(100.0, 0.75) == 1.0
    assert learning.usable_grip(100.0, 0.65) < 0.9


def test_an_estimate_lowers_the_plan_by_what_it_lacks_to_that_of_the_lap_before():
    learning = LapLearning(LENGTH, closed=True, limits=PEAK_LIMITS)
    assert learning.usable_grip(500.0, 0.9) == 0.9  # in the first lap it is all that is known
    drive_lap(learning, lambda s: PEAK_LIMITS.target_slip, grip=0.9)
    assert learning.factors == pytest.approx(0.9)  # straights as well, of which no sample says anything
    assert learning.usable_grip(500.0, 0.9) == 1.0
    assert learning.usable_grip(500.0, 1.0) == 1.0  # what the next bend shows raises nothing here
    assert learning.usable_grip(500.0, 0.9 - 0.5 * PEAK_LIMITS.recurring_grip) == 1.0
    assert learning.usable_grip(500.0, 0.72) == pytest.approx(0.76)  # rain: it may go on to fall
    careful = circuit()
    drive_lap(careful, lambda s: LIMITS.target_slip, grip=0.9)
    assert careful.usable_grip(500.0, 0.9) == 0.9


@pytest.mark.parametrize("wet", [0.7, 0.6])
def test_a_fall_counts_once_also_where_a_lap_met_it_too_fast(wet):
    """A fall is no fault of the plan: the next lap has all the grip of the road, before and behind a wet bend."""
    learning = LapLearning(LENGTH, closed=True, limits=PEAK_LIMITS)
    drive_lap(learning, lambda s: PEAK_LIMITS.target_slip)
    for s in np.arange(5.0, LENGTH, 2.0):  # wide at 300 m, then half of the road is driven below its grip
        observe(learning, s, 1.0 if s < 320.0 else wet, 0.95, PEAK_LIMITS.target_slip, 0.15 if s < 320.0 else 0.0)
    observe(learning, 1.0, wet, 0.0, 0.0, 0.0)
    for s in (105.0, 305.0, 505.0, 905.0):
        assert learning.factors[int(s / STATION)] * learning.usable_grip(s, wet) == pytest.approx(wet)


def test_a_fall_leaves_a_part_of_the_step_that_no_lap_has_proven():
    learning = LapLearning(LENGTH, closed=True, limits=PEAK_LIMITS)
    for _ in range(2):
        drive_lap(learning, lambda s: 0.5)
    proven, tried = learning.best_factors.copy(), learning.factors.copy()
    assert np.all(tried > 1.05 * proven)
    drive_lap(learning, lambda s: 0.5, grip=0.7)
    assert learning.factors == pytest.approx(0.7 * (proven + TRUST_SHRINKAGE * (tried - proven)))
    assert learning.trials.trust == pytest.approx(TRUST_SHRINKAGE)  # near the limit of the new road already


@pytest.mark.parametrize("slip", [0.5, 0.6, 0.7, 0.8])
def test_on_poor_ground_a_step_is_no_more_than_the_curve_of_a_tyre_leaves(slip):
    learning = LapLearning(LENGTH, closed=True, limits=PEAK_LIMITS)
    drive_lap(learning, lambda s: PEAK_LIMITS.target_slip, grip=0.7)
    before = learning.factors.copy()
    drive_lap(learning, lambda s: slip, grip=0.7)
    law = load_car("gt3").tyre_front.tyre_law()

    def share(x):
        bent = law.b * x - law.e * (law.b * x - math.atan(law.b * x))
        return math.sin(law.c * math.atan(bent))

    room = share(PEAK_LIMITS.target_slip) / share(slip) - 1.0
    assert learning.factors / before - 1.0 == pytest.approx(min(room, PEAK_LIMITS.most_raise), abs=0.012)
    assert find_sure_room(PEAK_LIMITS.target_slip - slip) < find_room(PEAK_LIMITS.target_slip - slip)


def test_where_the_lap_before_had_little_grip_places_may_differ_by_more():
    learning = LapLearning(LENGTH, closed=True, limits=PEAK_LIMITS)
    drive_lap(learning, lambda s: PEAK_LIMITS.target_slip, grip=0.7)
    assert learning.usable_grip(500.0, 0.66) == 1.0
    assert learning.usable_grip(500.0, 0.60) < 0.92


def test_a_station_without_a_sample_has_no_plan_of_an_older_lap():
    """It had the grip of the last lap that went wrong there, of any time: a place was lowered for nothing."""
    learning = LapLearning(LENGTH, closed=True, limits=PEAK_LIMITS)
    for grip in (1.0, 0.7):
        drive_lap(learning, lambda s: PEAK_LIMITS.target_slip, grip=grip)
    before = learning.factors.copy()
    drive_lap(learning, lambda s: PEAK_LIMITS.target_slip, grip=0.7, use=0.3)
    assert learning.factors == pytest.approx(before)


def test_a_place_keeps_the_capacity_that_laps_have_shown_apart_for_braking():
    learning, careful = LapLearning(LENGTH, closed=True, limits=PEAK_LIMITS), circuit()
    assert math.isnan(learning.reference_at(205.0, Evidence.CORNERING))
    careful.add_capacity(205.0, 1.0, 0.2, Evidence.CORNERING)
    drive_lap(careful, lambda s: 0.5)  # a plan that follows the estimate itself has no places to compare with
    assert math.isnan(careful.reference_at(205.0, Evidence.CORNERING))
    for capacity in (1.0, 1.2):
        learning.add_capacity(205.0, capacity, 0.1, Evidence.CORNERING)
    learning.add_capacity(305.0, 1.3, 0.05, Evidence.CORNERING)  # too short to say anything
    drive_lap(learning, lambda s: 0.5)
    assert learning.reference_at(205.0, Evidence.CORNERING) == pytest.approx(1.1)
    assert math.isnan(learning.reference_at(205.0, Evidence.BRAKING))
    assert math.isnan(learning.reference_at(305.0, Evidence.CORNERING))
    drive_lap(learning, lambda s: 0.5)  # a lap that shows nothing there forgets nothing
    assert learning.reference_at(205.0, Evidence.CORNERING) == pytest.approx(1.1)


def test_a_lap_in_which_the_grip_has_fallen_raises_nothing():
    learning = circuit()
    drive_lap(learning, lambda s: 0.5, grip=0.9)
    first = learning.factors.max()
    assert first <= 1.0
    drive_lap(learning, lambda s: 0.5, grip=0.9)
    assert learning.factors.max() > first


def test_a_first_lap_below_the_file_s_grip_vouches_for_little_more_than_was_driven():
    """The tyres slip little, so that they have margin; but the file is wrong, and the plan says too much."""
    learning = LapLearning(LENGTH, closed=True, limits=PEAK_LIMITS)
    drive_lap(learning, lambda s: 0.3, grip=0.85)
    assert learning.factors == pytest.approx(0.85 * (1.0 + MOST_PROVEN))
    right = LapLearning(LENGTH, closed=True, limits=PEAK_LIMITS)
    for s in np.arange(5.0, LENGTH, 2.0):
        observe(right, s, 1.0 if s < 700.0 else 0.85, 0.95, 0.3, 0.0)  # wheels spin at the last exit
    observe(right, 1.0, 0.85, 0.0, 0.0, 0.0)
    assert right.factors.min() > 0.85 * (1.0 + MOST_PROVEN)
    assert right.factors[10:60].min() == pytest.approx(1.0)


@pytest.mark.parametrize(("end", "rise"), [(0.98, find_room), (0.94, find_sure_room)])
def test_a_first_lap_at_whose_end_the_file_s_grip_is_shown_again_was_not_on_poor_ground(end, rise):
    """One braking into a bend had lowered the estimate, and slips of that plan hardly raised it again."""
    learning, margin = LapLearning(LENGTH, closed=True, limits=PEAK_LIMITS), 0.25
    for s in np.arange(5.0, LENGTH, 2.0):
        observe(learning, s, 0.94 if s < 900.0 else end, 0.95, PEAK_LIMITS.target_slip - margin, 0.0)
    observe(learning, 1.0, end, 0.0, 0.0, 0.0)
    assert learning.factors[10:60] == pytest.approx(0.94 * (1.0 + rise(margin)))


def test_straights_of_a_first_lap_get_the_grip_that_was_driven_at_its_end():
    learning = LapLearning(LENGTH, closed=True, limits=PEAK_LIMITS)
    for s in np.arange(5.0, LENGTH, 2.0):
        learning.observe(s, LapSample(0.9, 0.86, 0.3, 0.1, 0.0))
    assert learning.observe(1.0, LapSample(0.9, 0.86, 0.0, 0.0, 0.0))
    assert learning.factors == pytest.approx(0.86)


def test_an_estimate_that_a_slide_lowers_at_the_lap_s_end_raises_no_place():
    """With a factor for what the last bend took, places before it were planned above their grip: wheels locked."""
    learning = circuit()
    for s in np.arange(5.0, LENGTH, 2.0):
        observe(learning, s, 1.0 if s < 900.0 else 0.95, 0.95, LIMITS.target_slip + 0.05, 0.0)
    observe(learning, 1.0, 0.95, 0.0, 0.0, 0.0)
    assert learning.factors.max() <= 1.0


def test_what_a_place_shows_for_itself_lowers_nothing():
    learning = LapLearning(LENGTH, closed=True, limits=PEAK_LIMITS)
    place = np.arange(30, 45)
    for s in np.arange(5.0, LENGTH, 2.0):
        here = 300.0 <= s < 440.0
        observe(learning, s, 0.6 if here else 1.0, 0.95, 1.3 if here else PEAK_LIMITS.target_slip, 0.1 if here else 0.0)
        if s == 441.0:
            learning.discard_stations(place, 1.0)
    observe(learning, 1.0, 1.0, 0.0, 0.0, 0.0)
    assert np.all(learning.factors > 0.999)
    assert learning.usable_grip(350.0, 1.0) == 1.0
