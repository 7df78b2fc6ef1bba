"""Torque curves of a made-up car by the power of its engine, spinning wheels included."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.known_drives import make_table, straight_drive
from msgspec.structs import replace as replace_fields

from trailbrake.cars.car_library import load_car
from trailbrake.learning.identification.drive_table import join_tables
from trailbrake.learning.identification.engine_power import build_up_boost, find_boost, find_torque_curve
from trailbrake.learning.identification.powertrain import find_powertrain

CAR = load_car("gt3")
RPM = 30.0 / np.pi
THROTTLES = (1.0, 0.35, 0.7, 0.0)


def powered_drive():
    """Return pulls at full and half throttle and coasting, with the engine's power; the truth of the powertrain."""
    table, truth, _ = straight_drive(CAR, (1.0, 0.5, 0.0))
    engine = CAR.engine
    torque = [t * engine.full_torque(r) - (1.0 - t) * engine.drag_torque(r)
              for t, r in zip(table.throttle, table.engine * RPM, strict=True)]  # fmt: skip
    return replace(table, engine_power=np.array(torque) * table.engine), truth


def spinning_drive(table):
    """Return first-gear pulls from low engine speeds in which traction control brakes half of the force away."""
    slow = table.take((table.gear == 2.0) & (table.throttle > 0.9))
    engine = np.linspace(200.0, 400.0, len(slow))
    power = np.array([CAR.engine.full_torque(speed * RPM) for speed in engine]) * engine
    vx = engine / CAR.gearbox.overall_ratio(2) * CAR.driven_radius / 1.12
    radius = np.repeat([CAR.tyre_front.radius, CAR.tyre_rear.radius], 2)
    slip = np.where(np.arange(4) < 2, 1.0, 1.12)
    return replace(slow, engine=engine, engine_power=power, vx=vx, spin=vx[:, None] * slip / radius, fx=0.5 * slow.fx,
                   ax=0.5 * slow.ax)  # fmt: skip


def test_power_tells_the_torque_where_the_tyres_hold_it():
    table, truth = powered_drive()
    curve = find_torque_curve(table, CAR)
    wanted = [CAR.engine.full_torque(speed * RPM) / CAR.body.mass for speed in curve.speeds]
    assert curve.torque == pytest.approx(wanted, rel=0.015)
    assert curve.inertia[0] == pytest.approx(truth[-1], rel=0.1)
    assert curve.sigma.max() < 0.03


def test_spinning_wheels_show_the_engine_s_curve_and_not_its_share():
    table, _ = powered_drive()
    whole = join_tables([table, spinning_drive(table)])
    curve = find_torque_curve(whole, CAR)
    assert curve.speeds[0] < 220.0
    wanted = [CAR.engine.full_torque(speed * RPM) / CAR.body.mass for speed in curve.speeds]
    assert curve.torque == pytest.approx(wanted, rel=0.03)
    blind, knowing = find_powertrain(whole, CAR), find_powertrain(whole, CAR, curve)
    at = np.linspace(220.0, 380.0, 9)
    torque = [CAR.engine.full_torque(speed * RPM) / CAR.body.mass for speed in at]
    assert np.interp(at, knowing.speeds, knowing.torque) == pytest.approx(torque, rel=0.05)
    assert knowing.covered.all()
    assert not (blind.covered.all() and blind.speeds[0] < 230.0)


def test_the_mass_of_the_class_is_not_in_it():
    table, _ = powered_drive()
    heavy = replace_fields(CAR, body=replace_fields(CAR.body, mass=1.5 * CAR.body.mass))
    ratio = find_torque_curve(table, heavy).torque / find_torque_curve(table, CAR).torque
    assert ratio == pytest.approx(np.ones(len(ratio)), abs=0.03)  # the wheels' inertia over the mass is another


def test_wires_without_power_tell_nothing():
    table, _ = powered_drive()
    assert find_torque_curve(replace(table, engine_power=np.full(len(table), np.nan)), CAR) is None
    assert find_torque_curve(table.take(table.throttle < 0.6), CAR) is None
    assert find_torque_curve(replace(table, spin=1.2 * table.spin), CAR) is None


def test_part_throttle_tells_the_torque_of_engine_speeds_that_full_throttle_did_not_reach():
    table, _ = powered_drive()
    whole = table.take((table.throttle < 0.9) | (table.engine > 600.0))
    curve = find_torque_curve(whole, CAR)
    assert curve.speeds[0] < 430.0
    wanted = [CAR.engine.full_torque(speed * RPM) / CAR.body.mass for speed in curve.speeds]
    assert curve.torque == pytest.approx(wanted, rel=0.03)
    assert curve.sigma[0] > 2.0 * curve.sigma[-1]


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
