"""Gears, shifts and driven axles of a made-up drive."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.known_drives import RATE, make_table

from trailbrake.identification.drive_table import join_tables
from trailbrake.identification.gearing import find_gearing
from trailbrake.identification.geometry import Geometry
from trailbrake.identification.learned_value import identified

RATIOS = (10.0, 6.0)


def geometry(front, rear):
    slips = (identified(front, 1e-5, ""), identified(rear, 1e-5, ""))
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


def test_an_upshift_is_where_the_engine_was_fastest():
    found = find_gearing(join_tables([two_gears(), two_gears()]), geometry(0.0, 0.004))
    assert found.upshift.value == pytest.approx(700.0, rel=0.02)


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
