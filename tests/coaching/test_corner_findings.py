from dataclasses import replace

import numpy as np
import pytest
from helpers.coached_laps import make_corners, make_laps, make_model

from trailbrake.analysis.comparison import measure_zones
from trailbrake.analysis.corner_figures import measure_corner
from trailbrake.coaching.corner_findings import (
    blame_downshift,
    calibrate_figures,
    describe_evidence,
    find_clues,
    find_mean_costs,
    find_mistakes,
    find_slow_corners,
    find_uneven_corners,
)


@pytest.mark.parametrize("number", [2, 4, 8])
def test_a_corner_that_costs_more_than_the_pace_explains_is_found_with_its_cost(number):
    laps = make_laps(np.random.default_rng(number), lost={number: 0.4})
    model, times = make_model(laps)
    found = find_slow_corners(model, laps, times)
    assert [finding.corner.number for finding in found] == [number]
    assert found[0].cost_s == pytest.approx(0.4, abs=0.06)
    assert found[0].chance >= 0.95
    assert f": {found[0].cost_s:.2f} s lost" in found[0].advice  # no more digits than are known
    quick = times.copy()
    quick[:, 3] -= 2.0
    assert find_slow_corners(model, laps, quick)[0].error_s < 0.15  # the quick one is no doubt of the slow one


def with_change_down(lap, corner):
    """Return a lap that changes from second gear to first at the apex of a corner, which takes 1.5 m/s off."""
    at = float(np.interp(corner.apex, lap.s, lap.time))
    taken = np.clip((lap.time - at) / 0.3, 0.0, 1.0) * (lap.s < corner.end)
    inside = (lap.s >= corner.apex) & (lap.s < corner.end)
    speed = lap.channels["speed"] - 1.5 * taken
    return replace(lap, channels=lap.channels | {"speed": speed, "gear": np.where(inside, 1.0, 2.0)})


def test_a_bend_that_is_slow_by_changing_down_in_it_is_told_by_the_gear():
    laps = make_laps(np.random.default_rng(2), lost={4: 0.4})
    corner = next(corner for corner in make_corners() if corner.number == 4)
    model, times = make_model(laps)
    found = find_slow_corners(model, [with_change_down(lap, corner) for lap in laps], times)
    assert [(finding.kind, finding.corner.number) for finding in found] == [("shifting", 4)]
    assert found[0].cost_s == pytest.approx(0.4, abs=0.06)
    assert found[0].advice.startswith("Stay in gear 2, or change down before the bend and match the revs")
    early = replace(found[0], kind="pace", own=replace(found[0].own, brake_point=found[0].expected.brake_point - 10.0))
    assert blame_downshift(early) is early


def test_straights_of_their_own_pace_hide_no_slow_bend_and_change_no_cost():
    """The straights differ by 0.1 s, as with an engine that is not known well; one bend costs 0.25 s."""
    laps, corners = make_laps(np.random.default_rng(3), spread=0.01), make_corners()
    lost = np.random.default_rng(4).normal(0.0, 0.1, len(corners))
    marks, gaps = [corners[0].start], [0.0]
    for corner, behind in zip(corners, lost, strict=True):
        marks += [corner.exit, corner.end]
        gaps += [0.25 if corner.number == 4 else 0.0, behind if corner.exit < corner.end else 0.0]
    late = [np.interp(lap.s, marks, np.cumsum(gaps)) for lap in laps]
    laps = [replace(lap, time=lap.time + more, time_s=lap.time_s + sum(gaps))
            for lap, more in zip(laps, late, strict=True)]  # fmt: skip
    model, times = make_model(laps)
    found = find_slow_corners(model, laps, times)
    assert [finding.corner.number for finding in found] == [4]
    assert found[0].cost_s == pytest.approx(0.25, abs=0.05)
    at = [corner.number for corner in corners].index(4)
    assert find_mean_costs(model, laps, times)[0][at] == pytest.approx(0.25, abs=0.05)


def test_an_engine_that_was_learned_too_strong_hides_no_bend_without_a_straight():
    """All straights take 15 % longer than planned, which passed for less grip; bend 7 has none behind it."""
    laps, corners = make_laps(np.random.default_rng(3), spread=0.01, lost={7: 0.12}), make_corners()
    marks, gaps = [corners[0].start], [0.0]
    for corner in corners:
        straight = np.array([min(corner.exit, corner.end), corner.end])
        marks += straight.tolist()
        gaps += [0.0, 0.15 * float(np.diff(laps[0].interpolate("time", straight))[0])]
    laps = [replace(lap, time=lap.time + np.interp(lap.s, marks, np.cumsum(gaps)), time_s=lap.time_s + sum(gaps))
            for lap in laps]  # fmt: skip
    model, times = make_model(laps)
    found = find_slow_corners(model, laps, times)
    assert [finding.corner.number for finding in found] == [7]
    assert found[0].cost_s == pytest.approx(0.12, abs=0.04)


def test_differences_below_a_tenth_of_a_second_are_no_habit_however_even_the_laps_are():
    laps = make_laps(np.random.default_rng(5), spread=0.003, lost={4: 0.08})
    model, times = make_model(laps)
    assert not find_slow_corners(model, laps, times)
    uneven = times.copy()
    uneven[:, 4] += np.linspace(0.0, 0.16, len(laps))
    assert not find_uneven_corners(make_corners(), laps, uneven)


def test_a_corner_that_fails_in_some_laps_is_a_mistake_with_its_share_of_the_laps():
    laps = make_laps(np.random.default_rng(7), laps=5, spread=0.01)
    times, numbers = make_model(laps)[1], [corner.number for corner in make_corners()]
    usual, at = times.copy(), numbers.index(5)
    times[[0, 3], at] += [1.3, 1.5]
    late = times.copy()
    for k in (0, 3):
        laps[k] = replace(laps[k], channels=laps[k].channels | {"speed": 0.6 * laps[k].channels["speed"]})
    found, rest = find_mistakes(make_corners(), laps, times)
    assert [(finding.kind, finding.corner.number) for finding in found] == [("mistakes", 5)]
    assert found[0].cost_s == pytest.approx(1.4 * 2.0 / 5.0, abs=0.03)
    assert "in 2 of 5 laps" in found[0].advice
    assert rest == pytest.approx(usual, abs=0.05)
    assert not find_uneven_corners(make_corners(), laps, rest)
    assert not find_mistakes(make_corners(), laps[1:2] * 5, late)[0]  # as slow in the bend: braked early


def test_one_failed_lap_or_another_time_in_each_is_no_repeated_mistake():
    laps = make_laps(np.random.default_rng(7), laps=5, spread=0.01)
    times = make_model(laps)[1]
    for more in ([0.0, 0.0, 1.3, 0.0, 0.0], [0.0, 0.2, 0.3, 0.45, 0.6]):
        driven = times.copy()
        driven[:, 5] += more
        found, rest = find_mistakes(make_corners(), laps, driven)
        assert not found
        assert rest == pytest.approx(driven)


def test_an_early_braking_or_a_slow_entry_is_a_clue_in_its_corner_alone():
    lap = make_laps(np.random.default_rng(0), laps=1)[0]
    planned = [measure_corner(lap, corner) for corner in make_corners() if corner.number]
    rng = np.random.default_rng(1)
    own = [
        replace(each, brake_point=each.brake_point + rng.normal(-5.0, 1.0), entry_speed=0.95 * each.entry_speed)
        for each in planned
    ]
    braked = next(k for k, each in enumerate(planned) if np.isfinite(each.brake_point))
    assert min(find_clues(planned, own)) > 0.02  # everywhere is no clue
    own[braked] = replace(own[braked], brake_point=own[braked].brake_point - 15.0)
    slow = len(planned) - 1
    own[slow] = replace(own[slow], entry_speed=0.85 * planned[slow].entry_speed)
    clues = find_clues(planned, own)
    assert max(clues[braked], clues[slow]) < 0.01
    assert min(np.delete(clues, [braked, slow])) > 0.1


def test_a_person_who_is_slow_everywhere_has_no_habit():
    named = 0
    model, _ = make_model(make_laps(np.random.default_rng(0), share=0.8))
    for seed in range(40):
        laps = make_laps(np.random.default_rng(seed), share=0.8)
        times = measure_zones(laps, make_corners())
        model = replace(model, share=model.find_usual_share(np.median(times, axis=0)))
        named += bool(find_slow_corners(model, laps, times)) or bool(find_uneven_corners(make_corners(), laps, times))
    assert named <= 2


def test_a_corner_that_is_driven_otherwise_in_each_lap_is_found():
    laps = make_laps(np.random.default_rng(7), laps=12, uneven={5: 0.6})
    times = make_model(laps)[1]
    found = find_uneven_corners(make_corners(), laps, times)
    assert [finding.corner.number for finding in found] == [5]
    assert found[0].kind == "evenness"
    assert 0.1 < found[0].cost_s < 0.5


def test_one_mistake_is_no_habit_and_uneven_laps_of_a_corner_without_brakes_name_no_place():
    laps = make_laps(np.random.default_rng(7), laps=6)
    times = make_model(laps)[1]
    corner = next(k for k, c in enumerate(make_corners()) if c.number == 5)
    once, often, beside = times.copy(), times.copy(), times.copy()
    once[2, corner] += 0.6
    beside[:, corner] += [0.03, 1.13, 0.1, 0.1, 0.0, 0.06]
    often[:, corner] += [0.0, 0.1, 0.3, 0.4, 0.5, 0.7]
    assert not find_uneven_corners(make_corners(), laps, once)
    assert not find_uneven_corners(make_corners(), laps, beside, ((beside - times).mean(axis=0), 0.0))
    unbraked = [replace(lap, channels=lap.channels | {"brake": np.zeros(len(lap.s))}) for lap in laps[:1]] + laps[1:]
    for driven in (laps, unbraked):
        found = find_uneven_corners(make_corners(), driven, often)
        assert [finding.corner.number for finding in found] == [5]
        assert "nan" not in found[0].advice


def test_a_corner_with_a_long_braking_is_as_uneven_as_that_makes_it():
    """Laps of pinegrove spread by 20 ms in a zone; T1 takes 25 m/s off, T6 5 m/s."""
    laps, named = make_laps(np.random.default_rng(7), laps=6), []
    times, numbers = make_model(laps)[1], [corner.number for corner in make_corners()]
    for number in (1, 6):
        uneven = times.copy()
        uneven[:, numbers.index(number)] += [0.0, 0.045, 0.12, 0.18, 0.21, 0.3]
        named.append([finding.corner.number for finding in find_uneven_corners(make_corners(), laps, uneven)])
    assert named == [[], [6]]


def test_what_an_uneven_corner_costs_is_weighed_of_the_pace_and_of_the_best_lap_there():
    laps = make_laps(np.random.default_rng(7), laps=6)
    times = make_model(laps)[1]
    corner = next(k for k, c in enumerate(make_corners()) if c.number == 5)
    usual = np.median(times, axis=0)
    times[:, corner] += [0.2, 0.3, 0.4, 0.5, 0.6, 0.7]
    costs = times.mean(axis=0) - usual  # 0.45 s there; 0.35 s by the best lap
    sure, doubted, alone = (find_uneven_corners(make_corners(), laps, times, pace)[0]
                            for pace in ((costs, 0.0), (costs, 0.5), None))  # fmt: skip
    assert alone.cost_s < doubted.cost_s < sure.cost_s == pytest.approx(0.42, abs=0.02)
    assert doubted.cost_s == pytest.approx(alone.cost_s, abs=0.01)
    assert sure.error_s < doubted.error_s < alone.error_s


def test_two_laps_say_nothing_of_habits():
    laps = make_laps(np.random.default_rng(8), laps=2, lost={4: 0.5})
    model, times = make_model(laps)
    assert not find_slow_corners(model, laps, times)
    assert not find_uneven_corners(make_corners(), laps, times)


def test_a_brake_point_that_is_early_everywhere_is_the_pace_and_no_fault_of_a_corner():
    lap = make_laps(np.random.default_rng(9), laps=1)[0]
    planned = [measure_corner(lap, corner) for corner in make_corners()]
    braked = [k for k, figures in enumerate(planned) if np.isfinite(figures.brake_point)]
    own = [vars(figures) | {"brake_point": figures.brake_point - (12.0 if k == braked[2] else 4.0)}
           for k, figures in enumerate(planned)]  # fmt: skip
    own = [type(planned[0])(**values) for values in own]
    moved = calibrate_figures(planned, own)
    assert moved[braked[0]].brake_point - own[braked[0]].brake_point == pytest.approx(0.0, abs=1e-6)
    assert moved[braked[2]].brake_point - own[braked[2]].brake_point == pytest.approx(8.0, abs=1e-6)
    assert "brake at" in describe_evidence(own[braked[2]], moved[braked[2]])
