from dataclasses import replace

import numpy as np
import pytest
from helpers.coached_laps import make_corners, make_laps, make_place
from msgspec.structs import replace as replace_fields

from trailbrake.coaching.habits import gain_time
from trailbrake.coaching.shift_findings import (
    compare_gears,
    find_gain,
    find_high_gears,
    find_lost_pull,
    list_upshifts,
    read_gears,
)
from trailbrake.control.vehicle.drivetrain import upshift_speeds


def shift_at(share):
    """Return a lap that pulls through the gears, each held up to a share of its best speed."""
    car = make_place()[0].known_car()
    best = [share * speed for speed in upshift_speeds(car)]
    time = np.arange(0.0, 60.0, 0.02)
    speed = 20.0 + 0.8 * time
    gear = 1.0 + np.searchsorted(best, speed).astype(float)
    lap = make_laps(np.random.default_rng(0), laps=1)[0]
    s = 20.0 * time + 0.4 * time**2
    engine = np.array([car.engine_speed(v, int(g)) for v, g in zip(speed, gear, strict=True)])
    channels = {"gear": gear, "speed": speed, "throttle": np.ones(len(time)), "engine_speed": engine}
    return replace(lap, time=time, s=s, channels=channels), car


def find(car, lap, doubt=0.02):
    return find_high_gears(car, [lap] * 5, make_corners(), doubt)


def test_upshifts_are_listed_with_gear_and_speed():
    lap, car = shift_at(1.0)
    shifts = [(gear, best) for gear, best in enumerate(upshift_speeds(car), 1) if 20.5 < best < 67.0]
    assert [gear for gear, _ in list_upshifts(lap, car)] == [gear for gear, _ in shifts]
    assert [speed for _, speed in list_upshifts(lap, car)] == pytest.approx([best for _, best in shifts], abs=0.05)


def test_shifts_that_come_early_are_found_everywhere_with_what_each_zone_loses():
    early, car = shift_at(0.8)
    found = find(car, early)
    assert [finding.kind for finding in found] == ["shifting"]
    assert found[0].corner is None
    assert "80%" in found[0].advice
    assert sum(found[0].zone_costs) == pytest.approx(found[0].cost_s)
    assert found[0].cost_s > 0.05


def test_shifts_at_the_best_speeds_or_of_a_car_that_is_hardly_known_are_no_finding():
    assert not find(*reversed(shift_at(0.99)))
    early, car = shift_at(0.8)
    assert not find(car, early, doubt=0.5)


def test_gears_are_read_from_the_engines_speed_and_without_it_nothing_is_found():
    early, car = shift_at(0.8)
    without = replace(early, channels=early.channels | {"gear": np.full(len(early.time), np.nan)})
    assert read_gears(without, car) == pytest.approx(early.channels["gear"])
    assert find(car, without)[0].cost_s == pytest.approx(find(car, early)[0].cost_s)
    unpressed = replace(early, channels=early.channels | {"throttle": np.full(len(early.time), np.nan)})
    assert not list_upshifts(unpressed, car)
    assert not find(car, unpressed)
    silent = replace(without, channels=without.channels | {"engine_speed": np.full(len(early.time), np.nan)})
    assert not find(car, silent)


def test_a_gear_too_high_costs_what_a_simulation_with_the_better_gear_gains():
    car = make_place()[0].known_car()
    gear, start, way = 3, 0.95 * upshift_speeds(car)[1], 60.0

    def pull(speed, number):
        drag = 0.5 * car.aero.air_density * car.aero.drag_area * speed**2
        return (car.drive_force(speed, number) - drag) / car.effective_mass(number)

    def drive(number):
        s, v, t, rows = 0.0, start, 0.0, []
        while s < way:
            rows.append((t, s, v))
            v, s, t = v + 0.01 * pull(v, number), s + 0.01 * v, t + 0.01
        return np.array(rows)

    high, low = drive(gear + 1), drive(gear)
    lap = make_laps(np.random.default_rng(0), laps=1)[0]
    channels = {"gear": np.full(len(high), gear + 1.0), "speed": high[:, 2], "throttle": np.ones(len(high))}
    lap = replace(lap, time=high[:, 0], s=high[:, 1], channels=channels)
    assert low[:, 2].max() < 0.93 * upshift_speeds(car)[gear - 1]
    assert gain_time(lap, find_lost_pull(car, lap, compare_gears(car)))[-1] == pytest.approx(
        high[-1, 0] - low[-1, 0], rel=0.15
    )


@pytest.mark.parametrize("shift_time", [0.05, 0.3])
def test_early_shifts_cost_what_a_simulation_with_the_best_ones_gains(shift_time):
    car = make_place()[0].known_car()
    car = replace_fields(car, gearbox=replace_fields(car.gearbox, shift_time=shift_time))
    best = upshift_speeds(car)

    def drive(share):
        s, v, t, gear, cut, rows = 0.0, 0.77 * best[1], 0.0, 2, 0.0, []
        while s < 400.0:
            if gear <= len(best) and v > share * best[gear - 1]:
                gear, cut = gear + 1, shift_time
            rows.append((t, s, v, gear))
            drag = 0.5 * car.aero.air_density * car.aero.drag_area * v**2
            force = 0.0 if cut > 0.0 else car.drive_force(v, gear)
            v += 0.01 * (force - drag) / car.effective_mass(gear)
            s, t, cut = s + 0.01 * v, t + 0.01, cut - 0.01
        return np.array(rows)

    early, late = drive(0.8), drive(1.0)
    channels = {"gear": early[:, 3], "speed": early[:, 2], "throttle": np.ones(len(early))}
    lap = replace(make_laps(np.random.default_rng(0), laps=1)[0], time=early[:, 0], s=early[:, 1], channels=channels)
    true = early[-1, 0] - np.interp(early[-1, 1], late[:, 1], late[:, 0])
    assert find_gain(car, lap, compare_gears(car))[-1] == pytest.approx(true, rel=0.15)
