from dataclasses import replace

import numpy as np
import pytest
from helpers.coached_laps import make_corners, make_laps

from trailbrake.coaching.steer_findings import LATE_HANDS_S, find_slow_hands, measure_quickness

ARMS_S = 0.03  # s, of a person's arms in any case


def filter_low(values, lag_s):
    held, filtered = 0.0, np.zeros(len(values))
    for k, value in enumerate(values):
        held += (min(0.01 / lag_s, 1.0) if lag_s else 1.0) * (value - held)
        filtered[k] = held
    return filtered


def steer_with(lag_s, seed, slower=0.0):
    """Return a lap whose steer is that of a road, with corrections, through a low-pass filter."""
    rng = np.random.default_rng(seed)
    lap = make_laps(np.random.default_rng(0), laps=1, spread=0.0)[0]
    time = np.arange(0.0, lap.time_s, 0.01)
    wanted = 0.005 * np.cumsum(rng.standard_normal(len(time)))
    wanted += 0.2 * np.sin(0.8 * time) - np.convolve(wanted, np.ones(301) / 301.0, "same")
    steer = filter_low(filter_low(wanted, ARMS_S), lag_s)
    s = np.interp(time, lap.time, lap.s)
    stretch = 1.0 + slower / lap.time_s
    return replace(lap, s=s, time=time * stretch, time_s=lap.time_s * stretch, channels={"steer": steer})


def drive_late(lag_s):
    return [steer_with(lag_s, seed, 4.0 * lag_s) for seed in (11, 12)]


def find(lag_s):
    return find_slow_hands([steer_with(lag_s, seed) for seed in range(5)], steer_with(0.0, 9), drive_late,
                           make_corners())  # fmt: skip


def test_hands_that_lag_are_found_with_their_lag_and_its_cost():
    found = find(LATE_HANDS_S)
    assert [finding.kind for finding in found] == ["hands"]
    assert "0.10 s behind" in found[0].advice
    assert found[0].cost_s == pytest.approx(0.4, rel=0.15)
    assert sum(found[0].zone_costs) == pytest.approx(found[0].cost_s)
    assert find(2.0 * LATE_HANDS_S)[0].cost_s > found[0].cost_s


def test_quick_hands_are_no_finding_and_no_lap_is_driven_for_them():
    def refuse(lag_s):
        raise AssertionError(lag_s)

    laps = [steer_with(0.0, seed) for seed in range(5)]
    assert not find_slow_hands(laps, steer_with(0.0, 9), refuse, make_corners())


def test_a_car_that_shakes_at_that_pace_is_no_reference_for_quick_hands():
    laps = [steer_with(0.0, seed) for seed in range(5)]
    shaking = steer_with(0.0, 9)
    shaking.channels["steer"] = shaking.channels["steer"] + 0.05 * np.sin(2.0 * np.pi * 3.0 * shaking.time)
    assert measure_quickness(shaking) - measure_quickness(laps[0]) > 0.5
    assert not find_slow_hands(laps, shaking, drive_late, make_corners())


def test_a_steer_that_is_not_known_or_too_seldom_known_says_nothing():
    laps = [steer_with(LATE_HANDS_S, seed) for seed in range(5)]
    unknown = [replace(lap, channels={"steer": np.full(len(lap.s), np.nan)}) for lap in laps]
    coarse = [replace(lap, s=lap.s[::10], time=lap.time[::10], channels={"steer": lap.channels["steer"][::10]})
              for lap in laps]  # fmt: skip
    for those in (unknown, coarse):
        assert np.isnan(measure_quickness(those[0]))
        assert not find_slow_hands(those, steer_with(0.0, 9), drive_late, make_corners())
