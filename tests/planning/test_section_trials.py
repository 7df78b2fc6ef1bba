"""Acceptance of a plan's steps, on made-up laps."""

import numpy as np
import pytest

from trailbrake.planning.section_trials import (
    BACK_OFF,
    MOST_TRUST,
    PROMINENCE,
    SAME_GRIP,
    SEVERE_FAULT,
    SURE_STEP,
    TRUST_GROWTH,
    TRUST_SHRINKAGE,
    SectionLap,
    SectionTrials,
    find_sections,
)

COUNT = 30
STARTS = (0, 10, 20)


def lap_of(plan, cost, *, step=0.04, usable=1.0, fault=-0.02, room=1.0):
    """A lap whose three sections cost so many s a station."""
    costs = np.repeat(np.broadcast_to(cost, 3), 10).astype(float)
    faults = np.repeat(np.broadcast_to(fault, 3), 10).astype(float)
    return SectionLap(
        np.asarray(plan), np.full(COUNT, step), costs, np.full(COUNT, usable), faults, np.full(COUNT, room)
    )


def trials():
    return SectionTrials(STARTS, COUNT)


def test_the_first_lap_is_the_best_so_far_and_its_whole_step_is_tried():
    assert trials().judge(lap_of(np.ones(COUNT), 1.0)) == pytest.approx(1.04)


@pytest.mark.parametrize("room", [0.0, 0.02, 0.2])
def test_a_step_that_pays_is_never_doubled_beyond_what_the_tyres_vouch_for(room):
    """Plans rose by 24 % in a lap, to where no tyre holds: clean laps were followed by one beside the road."""
    made = trials()
    tried = made.judge(lap_of(np.ones(COUNT), 1.0, step=0.06, room=room))
    following = made.judge(lap_of(tried, 0.99, step=0.06, room=room))
    assert tried == pytest.approx(1.0 + min(0.06, room + SURE_STEP))
    assert following / tried == pytest.approx(1.0 + min(TRUST_GROWTH * 0.06, room + SURE_STEP))


def test_a_slower_section_gets_its_best_plan_back_with_a_smaller_step_and_others_go_on():
    made = trials()
    tried = made.judge(lap_of(np.ones(COUNT), 1.0))
    following = made.judge(lap_of(tried, (0.99, 1.01, 0.99)))
    assert following[5] == following[25] == pytest.approx(1.04 * (1.0 + TRUST_GROWTH * 0.04))
    assert following[10:20] == pytest.approx(1.0 + TRUST_SHRINKAGE * 0.04)
    assert made.restore(following)[10:20] == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(20))
def test_whatever_a_plan_costs_the_best_one_is_never_lost_and_later_laps_stay_near_it(seed):
    """The cost of a section is least at a factor that nobody knows; evidence points anywhere, always by 5 %."""
    draw = np.random.default_rng(seed)
    optimum = draw.uniform(0.9, 1.2, 3)
    made, plan, best, late = trials(), np.ones(COUNT), np.inf, []
    for lap in range(40):
        means = plan.reshape(3, 10).mean(axis=1)
        costs = 1.0 + 2.0 * (means - optimum) ** 2
        best = min(best, costs.sum()) if lap else costs.sum()
        sent = lap_of(plan, costs)
        plan = made.judge(sent._replace(step=np.full(COUNT, draw.choice([-0.05, 0.05]))))
        kept = made.restore(plan).reshape(3, 10).mean(axis=1)
        assert (1.0 + 2.0 * (kept - optimum) ** 2).sum() <= 1.002 * best
        late.append(costs.sum() / best)
    assert max(late[10:]) < 1.03


def test_where_a_step_went_wrong_none_is_tried_again_until_the_road_is_another():
    made = trials()
    tried = made.judge(lap_of(np.ones(COUNT), 1.0))
    plan = made.judge(lap_of(tried, (0.99, 1.5, 0.99), fault=(-0.02, 2.0 * SEVERE_FAULT, -0.02)))
    assert plan[5] > tried[5]  # what went wrong costs only its own section
    for _ in range(5):
        assert plan[10:20] == pytest.approx(plan[10])
        assert made.trust[1] == 0.0
        plan = made.judge(lap_of(plan, (0.98, 1.3, 0.98)))
    made.forget()
    assert made.trust == pytest.approx(1.0)


def test_the_best_plan_that_goes_wrong_itself_is_forgotten_the_road_has_changed():
    made = trials()
    made.judge(lap_of(np.ones(COUNT), 1.0, step=0.0))
    worse = lap_of(np.ones(COUNT), 1.2, step=-0.1, fault=2.0 * SEVERE_FAULT)
    assert made.judge(worse) == pytest.approx(0.9)


def test_a_step_off_an_edge_gives_some_of_the_best_plan_up():
    made = trials()
    tried = made.judge(lap_of(np.ones(COUNT), 1.0))
    assert made.judge(lap_of(tried, 1.4, fault=2.0 * SEVERE_FAULT)) == pytest.approx(1.0 - BACK_OFF)


def test_a_slower_lap_on_less_grip_says_nothing_of_its_plan_and_a_quicker_one_is_the_best():
    made = trials()
    made.judge(lap_of(np.ones(COUNT), 1.0))
    trust = made.trust.copy()
    less, plan = 0.99 * SAME_GRIP, np.full(COUNT, 0.9)
    assert made.judge(lap_of(plan, 1.1, usable=less)) == pytest.approx(1.0)
    assert made.trust == pytest.approx(trust)
    assert made.judge(lap_of(plan, 0.9, usable=less)) == pytest.approx(0.9 * (1.0 + TRUST_GROWTH * 0.04))


@pytest.mark.parametrize(("step", "next_plan"), [(0.04, 1.04), (-0.02, 1.04 * 0.98), (-0.1, 1.0)])
def test_a_lap_on_less_grip_leaves_the_step_to_be_tried_again_as_far_as_its_tyres_allow(step, next_plan):
    made = trials()
    tried = made.judge(lap_of(np.ones(COUNT), 1.0))
    following = made.judge(lap_of(tried, 1.2, step=step, usable=SAME_GRIP - 0.05))
    assert following == pytest.approx(next_plan)
    assert made.restore(following) == pytest.approx(1.0)


def test_doubt_of_the_ground_ends_with_a_lap_that_holds_on_it():
    made = trials()
    made.forget(TRUST_SHRINKAGE)
    made.judge(lap_of(np.ones(COUNT), 1.0, fault=(-0.02, 2.0 * SEVERE_FAULT, -0.02)))
    assert made.trust == pytest.approx([1.0, TRUST_SHRINKAGE, 1.0])


def test_a_section_that_was_not_measured_keeps_its_best_plan():
    made = trials()
    tried = made.judge(lap_of(np.ones(COUNT), 1.0))
    assert made.judge(lap_of(tried, np.nan)) == pytest.approx(1.0)
    assert trials().judge(lap_of(tried, np.nan)) == pytest.approx(1.04 * tried)  # nothing to compare with


def test_steps_that_never_pay_vanish_and_grow_again_where_a_lap_is_faster():
    made, plan = trials(), np.ones(COUNT)
    made.judge(lap_of(plan, 1.0))
    for lap in range(1, 10):
        plan = made.judge(lap_of(np.full(COUNT, 1.1), 1.1))
        assert plan == pytest.approx(1.0 + TRUST_SHRINKAGE**lap * 0.04)
    made.judge(lap_of(plan, 1.0))
    assert made.trust == pytest.approx(TRUST_SHRINKAGE**9)  # the same plan again costs the same
    made.judge(lap_of(plan, 0.99))
    assert made.trust == pytest.approx(TRUST_GROWTH * TRUST_SHRINKAGE**9)


def test_steps_that_pay_grow_beyond_what_evidence_asks_for_and_those_that_lower_a_plan_do_not():
    made, plan = trials(), np.ones(COUNT)
    for lap in range(4):
        plan = made.judge(lap_of(np.ones(COUNT), 1.0 - 0.01 * lap))
    assert plan == pytest.approx(1.0 + MOST_TRUST * 0.04)
    assert made.judge(lap_of(np.ones(COUNT), 0.9, step=-0.04)) == pytest.approx(0.96)


def test_sections_begin_where_the_plan_is_fastest():
    s = np.arange(1000)
    assert find_sections(50.0 - 10.0 * np.cos(2.0 * np.pi * s / 250.0), 100) == [0, 12, 37, 62, 87]
    shallow = 0.4 * PROMINENCE * 50.0
    assert find_sections(50.0 - shallow * np.cos(2.0 * np.pi * s / 250.0), 100) == [0]
    assert find_sections(np.full(1000, 30.0), 100) == [0]


def test_what_was_driven_beside_a_best_plan_comes_back_with_it():
    """The same speeds with other steering are slower: a section got its best plan back, and never its time again."""
    made, steer = trials(), np.zeros((2, 75))
    tried = made.judge(lap_of(np.ones(COUNT), 1.0))
    wanted = steer + 0.02
    assert made.judge_beside(steer, wanted) == pytest.approx(wanted)
    made.judge(lap_of(tried, (0.99, 1.01, 0.99)))
    following = made.judge_beside(wanted, wanted + 0.02)
    assert following[:, 5] == pytest.approx(0.04)
    assert following[:, 37] == pytest.approx(TRUST_SHRINKAGE * 0.02)


def test_a_section_whose_road_is_another_is_judged_anew():
    found = trials()
    found.judge(lap_of(np.ones(COUNT), 1.0))
    found.forget_sections(np.array([9, 10]))
    following = found.judge(lap_of(np.full(COUNT, 0.9), 1.2))
    assert following[:20] == pytest.approx(0.9 * 1.04)  # the slower lap is the best of these two
    assert following[20:] == pytest.approx(1.0 + TRUST_SHRINKAGE * 0.04)
