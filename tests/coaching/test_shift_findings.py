from dataclasses import replace

import numpy as np
import pytest
from helpers.coached_laps import make_laps, make_place

from trailbrake.coaching.shift_findings import find_early_shifts, list_upshifts, measure_shift_cost
from trailbrake.control.vehicle.drivetrain import upshift_speeds


def shift_at(share):
    """Return a lap that pulls through the gears, each held up to a share of its best speed."""
    car = make_place()[0].known_car()
    best = [share * speed for speed in upshift_speeds(car)]
    time = np.arange(0.0, 60.0, 0.02)
    speed = 20.0 + 0.8 * time
    gear = 1.0 + np.searchsorted(best, speed).astype(float)
    lap = make_laps(np.random.default_rng(0), laps=1)[0]
    return replace(
        lap, time=time, s=speed, channels={"gear": gear, "speed": speed, "throttle": np.ones(len(time))}
    ), car


def test_upshifts_are_listed_with_gear_and_speed():
    lap, car = shift_at(1.0)
    shifts = [(gear, best) for gear, best in enumerate(upshift_speeds(car), 1) if 20.5 < best < 67.0]
    assert [gear for gear, _ in list_upshifts(lap)] == [gear for gear, _ in shifts]
    assert [speed for _, speed in list_upshifts(lap)] == pytest.approx([best for _, best in shifts], abs=0.05)


def test_shifts_that_come_early_are_found_and_others_are_not():
    early, car = shift_at(0.8)
    found = find_early_shifts(car, [early] * 5)
    assert [finding.kind for finding in found] == ["shifting"]
    assert "80%" in found[0].advice
    assert found[0].cost_s > 0.05
    assert not find_early_shifts(car, [shift_at(0.99)[0]] * 5)
    assert not find_early_shifts(car, [early] * 5, doubt=0.5)


def test_a_late_shift_costs_nothing_and_an_early_one_the_more_the_earlier():
    car = make_place()[0].known_car()
    best = upshift_speeds(car)[1]
    costs = [measure_shift_cost(car, 2, share * best, best) for share in (1.05, 0.95, 0.85, 0.75)]
    assert costs[0] == 0.0
    assert costs[0] < costs[1] < costs[2] < costs[3]
