from dataclasses import replace

import numpy as np
import pytest
from helpers.coached_laps import make_corners, make_laps

from trailbrake.coaching.steer_findings import LAG_COST, find_slow_hands, measure_quickness, sum_changes

LAG_S = 0.1


def steer_with(lag_s, seed, noise=0.0):
    """Return a lap whose steer is that of a road, with corrections; hands that lag leave weaves in place of them."""
    rng = np.random.default_rng(seed)
    lap = make_laps(np.random.default_rng(0), laps=1, spread=0.0)[0]
    time = np.arange(0.0, lap.time_s, 0.01)
    waves = {0.1: 0.2, 0.6: 0.004 * (1.0 + 4.2 * lag_s), 3.0: 0.00125 / np.hypot(1.0, 2.0 * np.pi * 3.0 * lag_s)}
    steer = sum(size * np.sin(2.0 * np.pi * rate * time + rng.uniform(0.0, 6.0)) for rate, size in waves.items())
    channels = {"steer": steer, "acceleration_y": 10.0 * np.sin(time) + noise * rng.standard_normal(len(time))}
    return replace(lap, s=np.interp(time, lap.time, lap.s), time=time, channels=channels)


def find(lag_s):
    return find_slow_hands([steer_with(lag_s, seed) for seed in range(5)], steer_with(0.0, 9), make_corners())


def test_hands_that_lag_are_found_with_their_lag_and_its_cost():
    found = find(LAG_S)
    assert [finding.kind for finding in found] == ["hands"]
    assert "0.10 s behind" in found[0].advice
    lap = steer_with(LAG_S, 0)
    assert found[0].cost_s == pytest.approx(LAG_COST * LAG_S * 40.0 / (2.0 * np.pi) * lap.time_s, rel=0.15)
    assert sum(found[0].zone_costs) == pytest.approx(found[0].cost_s)
    assert find(2.0 * LAG_S)[0].cost_s > found[0].cost_s


def test_quick_hands_are_no_finding():
    assert not find(0.0)


def test_a_steer_as_quick_as_the_car_takes_at_that_pace_is_no_slow_hands():
    laps = [steer_with(LAG_S, seed) for seed in range(5)]
    assert not find_slow_hands(laps, steer_with(LAG_S, 9), make_corners())


def test_changes_of_the_lateral_acceleration_are_those_of_the_bends_and_not_of_noise():
    clean, noisy = (sum_changes(steer_with(0.0, 0, noise))[-1] for noise in (0.0, 0.3))
    assert noisy == pytest.approx(clean, rel=0.15)


def test_a_steer_that_is_not_known_or_too_seldom_known_says_nothing():
    laps = [steer_with(LAG_S, seed) for seed in range(5)]
    unknown = [replace(lap, channels=lap.channels | {"steer": np.full(len(lap.s), np.nan)}) for lap in laps]
    coarse = [
        replace(lap, s=lap.s[::10], time=lap.time[::10], channels={"steer": lap.channels["steer"][::10]})
        for lap in laps
    ]
    for those in (unknown, coarse):
        assert np.isnan(measure_quickness(those[0]))
        assert not find_slow_hands(those, steer_with(0.0, 9), make_corners())
