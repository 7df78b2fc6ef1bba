from dataclasses import replace

import numpy as np
import pytest
from helpers.coached_laps import make_corners, make_laps

from trailbrake.coaching.steer_findings import CORNERING_COST, find_slow_hands, measure_quickness, sum_cornering

LAG_S = 0.1
LATERAL = 10.0  # m/s^2, of the bends


def steer_with(lag_s, seed, noise=0.0, lateral=LATERAL, bends=0.2):
    """Return a lap whose steer is that of a road, with corrections; hands that lag leave weaves in place of them."""
    rng = np.random.default_rng(seed)
    lap = make_laps(np.random.default_rng(0), laps=1, spread=0.0)[0]
    time = np.arange(0.0, lap.time_s, 0.01)
    waves = {0.1: bends, 0.6: 0.004 * (1.0 + 4.2 * lag_s), 3.0: 0.00125 / np.hypot(1.0, 2.0 * np.pi * 3.0 * lag_s)}
    steer = sum(size * np.sin(2.0 * np.pi * rate * time + rng.uniform(0.0, 6.0)) for rate, size in waves.items())
    channels = {"steer": steer, "acceleration_y": lateral * np.sin(time) + noise * rng.standard_normal(len(time))}
    return replace(lap, s=np.interp(time, lap.time, lap.s), time=time, channels=channels)


def find(lag_s, **road):
    laps = [steer_with(lag_s, seed, **road) for seed in range(5)]
    return find_slow_hands(laps, steer_with(0.0, 9), make_corners())


def test_hands_that_lag_are_found_with_their_lag_and_its_cost():
    found = find(LAG_S)
    assert [finding.kind for finding in found] == ["hands"]
    assert "0.10 s behind" in found[0].advice
    cornering = 2.0 / np.pi * LATERAL * steer_with(LAG_S, 0).time_s
    assert found[0].cost_s == pytest.approx(CORNERING_COST * cornering, rel=0.1)
    assert sum(found[0].zone_costs) == pytest.approx(found[0].cost_s)
    assert find(LAG_S, lateral=2.0 * LATERAL)[0].cost_s == pytest.approx(2.0 * found[0].cost_s)


def test_a_road_that_needs_less_steer_than_the_pace_lap_hides_no_slow_hands():
    assert [finding.kind for finding in find(LAG_S, bends=0.05)] == ["hands"]


def test_quick_hands_are_no_finding():
    assert not find(0.0)


def test_a_steer_as_quick_as_the_car_takes_at_that_pace_is_no_slow_hands():
    laps = [steer_with(LAG_S, seed) for seed in range(5)]
    assert not find_slow_hands(laps, steer_with(LAG_S, 9), make_corners())


def test_noise_is_no_cornering():
    clean, noisy = (sum_cornering(steer_with(0.0, 0, noise))[-1] for noise in (0.0, 1.0))
    assert noisy == pytest.approx(clean, rel=0.05)


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
