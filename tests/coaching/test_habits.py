import re
from dataclasses import replace

import numpy as np
import pytest
from helpers.coached_laps import make_corners, make_laps, make_model, make_place

from trailbrake.analysis.comparison import measure_zones
from trailbrake.coaching.habits import (
    find_fading,
    find_gentle_braking,
    find_lifts,
    find_uneven_laps,
    gain_time,
)
from trailbrake.coaching.pace_model import plan_lap


def lap_with(lap, **channels):
    return replace(lap, channels=lap.channels | channels)


def brake_with(share):
    """Return laps planned with a share of the car's deceleration."""
    course, common = make_place()
    limits = course.envelope._replace(brake=share * course.envelope.brake)
    slow = plan_lap(course, common, 0.85, limits=limits)
    return [replace(slow, number=number) for number in range(1, 6)]


def test_gentle_braking_is_found_with_what_it_costs():
    gentle = brake_with(0.7)
    model, times = make_model(make_laps(np.random.default_rng(0), 0.85, spread=0.0))
    found = find_gentle_braking(model, gentle)
    assert [finding.kind for finding in found] == ["braking"]
    true = float((measure_zones(gentle, make_corners()).mean(axis=0) - times.mean(axis=0)).sum())
    assert found[0].cost_s == pytest.approx(true, rel=0.2)
    assert abs(found[0].cost_s - true) < 3.0 * found[0].error_s
    assert float(re.search(r"by (\d+)% of", found[0].advice)[1]) == pytest.approx(70.0, abs=4.0)


def test_braking_as_the_pace_needs_it_or_that_nobody_knows_is_no_finding():
    model, _ = make_model(make_laps(np.random.default_rng(0), 0.85, spread=0.0))
    assert not find_gentle_braking(model, brake_with(1.0))
    unknown = [lap_with(lap, brake=np.full(len(lap.s), np.nan), acceleration_x=np.full(len(lap.s), np.nan))
               for lap in brake_with(0.7)]  # fmt: skip
    assert not find_gentle_braking(model, unknown)


def lift_at(places, laps=5):
    """Return a lap flat out but for the brakes, and laps in which the throttle is shut for 0.5 s at some places."""
    course, common = make_place()
    pace = plan_lap(course, common, 0.85)
    pace = lap_with(pace, gear=np.full(len(pace.s), 3.0))
    made = []
    for number in range(1, laps + 1):
        throttle, pulled = pace.channels["throttle"].copy(), pace.channels["acceleration_x"].copy()
        for place in places:
            after = pace.time - float(pace.interpolate("time", place))
            rows = (after >= 0.0) & (after < 0.5)
            throttle[rows], pulled[rows] = 0.0, pulled[rows] - 3.0
        made.append(replace(lap_with(pace, throttle=throttle, acceleration_x=pulled), number=number))
    return made, pace


def find_flat_places(count):
    """Return places in zones in which the car is on the throttle for a second and more, one in a zone."""
    course, common = make_place()
    pace = plan_lap(course, common, 0.85)
    places = []
    for corner in make_corners():
        for place in np.arange(corner.start, corner.end - 60.0, 5.0):
            near = (pace.s >= place - 30.0) & (pace.s <= place + 60.0)
            if pace.channels["throttle"][near].min() > 0.9:
                places.append(float(place))
                break
    assert len(places) >= count
    return places[:count]


def test_lifts_in_several_zones_are_found_and_cost_what_the_speed_is_worth():
    laps, pace = lift_at(find_flat_places(3))
    found = find_lifts(laps, pace, make_corners())
    assert [finding.kind for finding in found] == ["lifting"]
    # 3 m/s^2 for 0.5 s are 1.5 m/s, until the next braking
    assert 0.05 < found[0].cost_s < 1.5
    assert sum(cost > 0.0 for cost in found[0].zone_costs) == 3


def test_lifts_at_one_place_or_in_one_lap_or_without_a_throttle_are_no_pattern():
    laps, pace = lift_at(find_flat_places(1))
    assert not find_lifts(laps, pace, make_corners())
    laps, pace = lift_at(find_flat_places(3))
    clean = lift_at([])[0]
    assert not find_lifts([laps[0], *clean[1:]], pace, make_corners())
    unknown = [lap_with(lap, throttle=np.full(len(lap.s), np.nan)) for lap in laps]
    assert not find_lifts(unknown, pace, make_corners())


def test_more_pull_on_a_straight_gains_what_mechanics_says():
    # From 30 m/s at rest of force: 100 m with 2 m/s^2 more take v = sqrt(900 + 2 * 2 * s).
    s = np.arange(0.0, 100.5, 0.5)
    lap = make_laps(np.random.default_rng(0), laps=1)[0]
    lap = replace(lap, s=s, time=s / 30.0, channels={"speed": np.full(len(s), 30.0)})
    true = 100.0 / 30.0 - (np.sqrt(900.0 + 400.0) - 30.0) / 2.0
    assert gain_time(lap, np.full(len(s), 2.0))[-1] == pytest.approx(true, rel=0.01)
    braked = np.where(s < 50.0, 2.0, np.nan)
    assert gain_time(lap, braked)[-1] < 0.5 * true


def test_laps_that_differ_everywhere_are_uneven_and_those_of_a_practised_driver_are_not():
    corners = make_corners()
    wild = make_laps(np.random.default_rng(1), spread=0.25)
    found = find_uneven_laps(wild, measure_zones(wild, corners), corners)
    assert [(finding.kind, finding.corner) for finding in found] == [("evenness", None)]
    straights = [replace(corner, number=0) for corner in corners]
    assert not find_uneven_laps(wild, measure_zones(wild, corners), straights)
    for seed in range(20):
        even = make_laps(np.random.default_rng(seed), spread=0.03)
        assert not find_uneven_laps(even, measure_zones(even, corners), corners)


def test_a_run_that_becomes_slower_in_every_zone_is_fading_with_its_mean_cost():
    corners = make_corners()
    laps = make_laps(np.random.default_rng(2), laps=10, spread=0.02)
    laps = [lap_with(lap, core_temperature=np.full(len(lap.s), 80.0 + lap.number)) for lap in laps]
    slower = np.arange(10)[:, None] * np.full(len(corners), 0.02)
    found = find_fading(laps, measure_zones(laps, corners) + slower)
    assert [finding.kind for finding in found] == ["fading"]
    assert found[0].cost_s == pytest.approx(4.5 * 0.02 * len(corners), rel=0.2)
    assert "81 and 90 degrees" in found[0].evidence
    one = slower * (np.arange(len(corners)) == 3)
    assert not find_fading(laps, measure_zones(laps, corners) + 10.0 * one)
    assert not find_fading(laps, measure_zones(laps, corners))
    assert not find_fading(laps[:4], measure_zones(laps[:4], corners) + slower[:4])
