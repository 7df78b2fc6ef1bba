"""Turbochargers of made-up cars: their share of the torque and their lag, from pulls with many throttles."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.known_drives import make_table, straight_drive
from msgspec.structs import replace as replace_fields

from trailbrake.cars.car_library import load_car
from trailbrake.learning.identification.boost import build_up_boost, find_boost
from trailbrake.learning.identification.powertrain import find_powertrain

CAR = load_car("gt3")
THROTTLES = (1.0, 0.35, 0.7, 0.0)


def turbocharged(share):
    return replace_fields(CAR, engine=replace_fields(CAR.engine, turbo_share=share))


@pytest.mark.parametrize(("share", "lag"), [(0.45, 0.35), (0.3, 0.15)])
def test_many_throttles_tell_the_share_and_the_lag(share, lag):
    table, *_ = straight_drive(turbocharged(share), THROTTLES, lag)
    found = find_boost(table, CAR)
    assert found.share.value == pytest.approx(share, abs=0.03)
    assert found.lag.value == pytest.approx(lag, abs=0.051)
    assert abs(found.share.value - share) < 2.0 * found.share.sigma


def test_an_engine_without_one_has_none():
    table, *_ = straight_drive(CAR, THROTTLES)
    assert find_boost(table, CAR) is None


def test_full_throttle_alone_does_not_tell():
    table, *_ = straight_drive(turbocharged(0.45), (1.0, 1.0))
    assert find_boost(table, CAR) is None
    assert find_boost(make_table(500, vx=20.0), CAR) is None


def test_few_seconds_of_part_throttle_do_not_tell():
    table, *_ = straight_drive(turbocharged(0.45), THROTTLES, 0.35)
    assert find_boost(table.take((table.throttle > 0.9) | (table.throttle < 0.1) | (table.block % 8 == 0)), CAR) is None


def test_part_throttle_alone_tells_the_torque_of_the_whole():
    table, truth, speeds = straight_drive(turbocharged(0.45), (0.3, 0.6, 0.0), 0.3)
    boost = find_boost(table, CAR)
    knowing = replace(table, boost=build_up_boost(table, boost.lag.value))
    found = find_powertrain(knowing, turbocharged(boost.share.value))
    without = find_powertrain(table, CAR)
    torque, bare = (np.interp(speeds[2:-1], p.speeds, p.torque) for p in (found, without))
    assert torque == pytest.approx(truth[2:11], rel=0.06)
    assert (bare < 0.85 * truth[2:11]).all()


def test_boost_follows_the_throttle_and_begins_anew_behind_a_gap():
    table = make_table(200, throttle=np.where(np.arange(200) < 50, 0.2, 1.0))
    boost = build_up_boost(table, 0.3)
    assert (boost[:50] == 0.2).all()
    assert boost[65] == pytest.approx(1.0 - 0.8 * np.exp(-0.32 / 0.3), abs=0.03)  # 15 rows of 0.02 s later
    apart = replace(table, time=table.time + 5.0 * (np.arange(200) >= 50))
    assert (build_up_boost(apart, 0.3)[50:] == 1.0).all()
