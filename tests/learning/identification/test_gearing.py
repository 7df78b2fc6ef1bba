"""Gears, shifts and driven axles of a made-up drive."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.known_drives import RATE, make_table
from msgspec.structs import replace as replace_fields

from trailbrake.cars.car_library import load_car
from trailbrake.learning.identification.drive_table import join_tables
from trailbrake.learning.identification.gearing import REVVED_OUT, append_gears, find_gearing
from trailbrake.learning.identification.geometry import Geometry
from trailbrake.learning.identification.learned_value import identified

RATIOS = (10.0, 6.0)


def geometry(front, rear, sigma=1e-5):
    slips = (identified(front, sigma, ""), identified(rear, sigma, ""))
    return Geometry(None, None, None, None, None, None, *slips)


def two_gears():
    """Return a pull through two gears: up at 700 rad/s, with 0.1 s on the way to the next gear's speed."""
    n = 1500
    spin = 40.0 + 0.05 * np.arange(n)
    gear = np.where(spin * RATIOS[0] < 700.0, 1, 2)
    engine = spin * np.array([0.0, *RATIOS])[gear]
    change = int(np.argmax(gear == 2))
    engine[change - 5 : change] = np.linspace(690.0, 430.0, 5)
    age = np.where(np.arange(n) < change, np.arange(n) / RATE, (np.arange(n) - change) / RATE)
    columns = {
        "vx": spin * 0.3,
        "spin": spin[:, None],
        "gear": gear,
        "engine": engine,
        "throttle": 1.0,
        "gear_age": age,
    }
    return make_table(n, **columns)


def test_ratios_are_engine_over_wheels():
    found = find_gearing(two_gears(), geometry(0.0, 0.004))
    assert found.layout == "rwd"
    assert [r.value for r in found.ratios] == pytest.approx(RATIOS, rel=1e-3)


def test_the_axles_that_slip_under_power_are_driven():
    assert find_gearing(two_gears(), geometry(0.004, 0.0)).layout == "fwd"
    awd = find_gearing(two_gears(), geometry(0.002, 0.003))
    assert (awd.layout, awd.front_drive) == ("awd", pytest.approx(0.4))
    seldom = find_gearing(two_gears(), geometry(0.0045, 0.0040, sigma=0.0011))  # a few rows of a short straight
    assert seldom.layout == "awd"


def test_an_upshift_is_where_the_engine_was_fastest():
    found = find_gearing(join_tables([two_gears(), two_gears()]), geometry(0.0, 0.004))
    assert found.upshift.value == pytest.approx(700.0, rel=0.02)


def slow_down(matched_rows=0):
    """Return a braking with a down-shift at 60 rad/s of the wheels, which pull the engine up for 0.5 s.

    With `matched_rows` the box has matched the engine within so many rows before the gear changes.
    """
    n = 1500
    spin = 120.0 - 0.06 * np.arange(n)
    gear = np.where(spin * RATIOS[0] < 600.0, 1, 2)
    change = int(np.argmax(gear == 1))
    engine = spin * np.array([0.0, *RATIOS])[gear]
    first, rows = (change - matched_rows, matched_rows) if matched_rows else (change, 25)
    engine[first : first + rows] = np.linspace(360.0, 585.0, rows)  # the speed that is left when it has changed
    age = np.where(np.arange(n) < change, np.arange(n) / RATE, (np.arange(n) - change) / RATE)
    return make_table(n, vx=spin * 0.3, spin=spin[:, None], gear=gear, engine=engine, throttle=0.0, gear_age=age)


def test_a_down_shift_is_by_the_wheels_as_the_car_is_slower_until_the_engine_follows():
    drives = join_tables([slow_down(), slow_down()])
    assert find_gearing(drives, geometry(0.0, 0.004)).downshift.value == pytest.approx(600.0, rel=0.01)


def test_a_box_that_matches_the_engine_is_told_from_wheels_that_pull_it_up():
    pulls = [two_gears(), two_gears()]
    assert find_gearing(join_tables([*pulls, slow_down(5), slow_down(5)]), geometry(0.0, 0.004)).blip is True
    assert find_gearing(join_tables([*pulls, slow_down(), slow_down()]), geometry(0.0, 0.004)).blip is False
    assert find_gearing(join_tables([*pulls, slow_down()]), geometry(0.0, 0.004)).blip is None


@pytest.mark.parametrize("supplied_after", [0, 15])
def test_a_shift_takes_as_long_as_the_car_is_without_drive(supplied_after):
    """The wire supplies the gear when the old one is left, or when the new one has engaged."""
    drive = two_gears()
    change = int(np.argmax(drive.gear == 2.0))
    open_rows = slice(change - supplied_after, change - supplied_after + 15)  # 0.3 s
    force = np.full(len(drive), 4.0)
    force[open_rows] = 0.0
    drive = replace(drive, fx=force)
    found = find_gearing(join_tables([drive, drive]), geometry(0.0, 0.004))
    assert found.shift_time.value == pytest.approx(0.3, abs=0.03)


def test_without_an_engine_there_are_no_gears():
    assert find_gearing(make_table(300, vx=10.0, engine=np.nan), geometry(0.0, 0.004)) is None


def driven_gears(count):
    """Return a car whose file has its first gears alone, and the finding of a drive in them."""
    car = load_car("gt3")
    known = replace_fields(car, gearbox=replace_fields(car.gearbox, ratios=car.gearbox.ratios[:count]))
    ratios = tuple(identified(known.gearbox.overall_ratio(gear), 0.01, "") for gear in range(1, count + 1))
    found = find_gearing(two_gears(), geometry(0.0, 0.004))
    return known, replace(found, ratios=ratios, revs={count: 0.5 * car.gearbox.upshift_rpm * np.pi / 30.0})


@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_box_reaches_the_top_speed(count):
    car, found = driven_gears(count)
    more = append_gears(car, replace(found, upshift=identified(700.0, 1.0, "")))
    box = more.gearbox
    assert box.ratios[:count] == car.gearbox.ratios
    assert all(short > long for short, long in zip(box.ratios, box.ratios[1:], strict=False))
    fastest = (box.upshift_rpm * np.pi / 30.0) * more.driven_radius / box.overall_ratio(box.top_gear)
    assert fastest > 70.0  # m/s


def test_a_gear_that_revs_beyond_the_up_shifts_is_the_last():
    car, found = driven_gears(4)
    revved = replace(found, revs={4: 1.01 * REVVED_OUT * car.gearbox.upshift_rpm * np.pi / 30.0})
    shifting = replace(revved, upshift=identified(700.0, 1.0, ""))
    assert append_gears(car, shifting) == car
    assert append_gears(car, replace(revved, upshift=None)) != car  # the driver may have held it
    assert append_gears(car, replace(shifting, ratios=(*found.ratios, None))) != car  # one more was seen


def test_a_kart_has_one_gear():
    car, found = driven_gears(1)
    revved = replace(found, upshift=None, revs={1: 1.01 * REVVED_OUT * car.gearbox.upshift_rpm * np.pi / 30.0})
    assert append_gears(car, revved) == car
