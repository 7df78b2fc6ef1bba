from dataclasses import replace

import numpy as np
import pytest
from helpers.coached_laps import make_corners, make_laps

from trailbrake.coaching.steer_findings import (
    WEAVE_COST,
    find_slow_hands,
    measure_quickness,
    measure_weave,
    sum_changes,
)

LAG_S = 0.1
SPEED, WEAVE = 40.0, 2.0  # m/s; m/s^2, of the weaves at 1 Hz


def steer_with(lag_s, seed, noise=0.0, weave=WEAVE):
    """Return a lap whose steer is that of a road, with corrections; hands that lag leave weaves in place of them."""
    rng = np.random.default_rng(seed)
    lap = make_laps(np.random.default_rng(0), laps=1, spread=0.0)[0]
    time = np.arange(0.0, lap.time_s, 0.01)
    waves = {0.1: 0.2, 0.6: 0.004 * (1.0 + 4.2 * lag_s), 3.0: 0.00125 / np.hypot(1.0, 2.0 * np.pi * 3.0 * lag_s)}
    steer = sum(size * np.sin(2.0 * np.pi * rate * time + rng.uniform(0.0, 6.0)) for rate, size in waves.items())
    lateral = 10.0 * np.sin(time) + weave * np.sin(2.0 * np.pi * time) + noise * rng.standard_normal(len(time))
    channels = {"steer": steer, "acceleration_y": lateral, "speed": np.full(len(time), SPEED)}
    return replace(lap, s=np.interp(time, lap.time, lap.s), time=time, channels=channels)


def find(lag_s, weave=WEAVE):
    laps = [steer_with(lag_s, seed, weave=weave) for seed in range(5)]
    return find_slow_hands(laps, steer_with(0.0, 9), make_corners())


def test_hands_that_lag_are_found_with_their_lag_and_its_cost():
    found = find(LAG_S)
    assert [finding.kind for finding in found] == ["hands"]
    assert "0.10 s behind" in found[0].advice
    time_s = steer_with(LAG_S, 0).time_s
    turned = 40.0 / (2.0 * np.pi) / SPEED * time_s
    weaves = 2.0 / np.pi * WEAVE / SPEED * time_s
    assert found[0].cost_s == pytest.approx(WEAVE_COST * turned * weaves, rel=0.25)  # bends sway a little too
    assert sum(found[0].zone_costs) == pytest.approx(found[0].cost_s)
    assert find(LAG_S, 2.0 * WEAVE)[0].cost_s > 1.8 * found[0].cost_s


def test_quick_hands_are_no_finding():
    assert not find(0.0)


def test_a_steer_as_quick_as_the_car_takes_at_that_pace_is_no_slow_hands():
    laps = [steer_with(LAG_S, seed) for seed in range(5)]
    assert not find_slow_hands(laps, steer_with(LAG_S, 9), make_corners())


def test_changes_of_the_turning_are_those_of_the_bends_and_not_of_noise():
    clean, noisy = (sum_changes(steer_with(0.0, 0, noise))[-1] for noise in (0.0, 0.3))
    assert noisy == pytest.approx(clean, rel=0.15)


def test_weaves_are_those_of_late_hands_and_not_of_the_bends():
    none, some = (measure_weave(steer_with(0.0, 0, weave=weave)) for weave in (0.0, WEAVE))
    assert some == pytest.approx(2.0 / np.pi * WEAVE / SPEED * steer_with(0.0, 0).time_s, rel=0.1)
    assert none < 0.1 * some


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
