"""Drives that are broken, or of several cars, are said in one line."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.known_drives import make_table

from trailbrake.errors import DataError
from trailbrake.learning.identification.drive_quality import check_same_car, describe_gaps
from trailbrake.learning.identification.drive_table import join_tables

ROWS = 1000


def rolling(number, ratio=8.0, **columns):
    engine = np.where(np.arange(ROWS) < 500, ratio * 20.0, 0.6 * ratio * 20.0)
    gear = np.where(np.arange(ROWS) < 500, 2, 3)
    return make_table(ROWS, drive=number, vx=20.0, engine=engine, gear=gear, **columns)


def test_drives_of_one_car_pass():
    check_same_car(join_tables([rolling(0), rolling(1, ratio=8.1), rolling(2, ratio=7.9)]))


def test_drives_of_two_cars_are_named():
    with pytest.raises(DataError, match=r"drives 1 and 3: drives of different cars.*gear 2, rad/m, got 8\.0 and 9\.0"):
        check_same_car(join_tables([rolling(0), rolling(1), rolling(2, ratio=9.0)]))


def test_sliding_shifting_and_engines_that_are_not_supplied_contradict_nothing():
    sliding = rolling(1, ratio=12.0, fy=8.0)
    shifting = rolling(2, ratio=12.0, gear_age=0.1)
    silent = replace(rolling(3), engine=np.full(ROWS, np.nan))
    check_same_car(join_tables([rolling(0), sliding, shifting, silent]))


def test_shifts_that_the_wire_supplies_at_their_end_contradict_nothing():
    """A short drive at the limiter whose only rows without drive force are those of the shifts themselves."""
    short = rolling(1)
    row = np.arange(ROWS)
    shifting = (row % 100) >= 100 - round(0.3 / float(np.median(np.diff(short.time))))
    gear = np.where(row // 100 % 2 == 0, 2.0, 3.0)
    ratio = np.where((gear == 2.0) ^ shifting, 8.0, 0.6 * 8.0)
    short = replace(short, gear=gear, engine=20.0 * ratio, gear_age=np.full(ROWS, 2.0),
                    fx=np.where(shifting, 0.0, 6.0))  # fmt: skip
    check_same_car(join_tables([rolling(0), short]))


def test_a_slipping_clutch_contradicts_nothing():
    slipping = rolling(1)
    engine = np.where(np.arange(ROWS) % 3 == 0, slipping.engine, 1.5 * slipping.engine)
    check_same_car(join_tables([rolling(0), replace(slipping, engine=engine)]))


def test_a_launch_alone_contradicts_nothing():
    """The engine keeps its speed while the clutch slips, from 5 m/s on."""
    launch = replace(rolling(1), vx=np.linspace(5.0, 8.0, ROWS), engine=np.full(ROWS, 330.0), gear=np.full(ROWS, 2.0))
    check_same_car(join_tables([rolling(0), launch]))


def test_another_gear_contradicts_nothing():
    check_same_car(join_tables([rolling(0), replace(rolling(1, ratio=12.0), gear=np.full(ROWS, 5.0))]))


def test_the_limit_of_the_engine_tells_cars_apart():
    with pytest.raises(DataError, match=r"limit of the engine, rad/s, got 700\.0 and 800\.0"):
        check_same_car(join_tables([rolling(0, limiter=700.0), rolling(1), rolling(2, limiter=800.0)]))


def test_what_is_missing_of_a_drive_is_said():
    whole, torn = rolling(0), rolling(1)
    assert describe_gaps(join_tables([whole, torn])) == ()
    torn = torn.take(np.flatnonzero((torn.time < 4.0) | ((torn.time > 7.0) & (torn.time < 12.0)) | (torn.time > 14.0)))
    (line,) = describe_gaps(join_tables([whole, torn]))
    assert line.startswith("5 s of the 20 s of drive 2, in 2 parts")
