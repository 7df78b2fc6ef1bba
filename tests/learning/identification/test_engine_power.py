"""Torque curves of a made-up car by the power of its engine, spinning wheels included."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.known_drives import straight_drive
from msgspec.structs import replace as replace_fields

from trailbrake.cars.car_library import load_car
from trailbrake.learning.identification.drive_table import join_tables
from trailbrake.learning.identification.engine_power import find_torque_curve
from trailbrake.learning.identification.powertrain import find_powertrain

CAR = load_car("gt3")
RPM = 30.0 / np.pi


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
