"""Torque, drag and engine braking of a made-up car on a straight, by the formulas of the car file."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.known_drives import straight_drive
from msgspec.structs import replace as replace_fields

from trailbrake.cars.car_library import load_car
from trailbrake.learning.identification.drive_table import join_tables
from trailbrake.learning.identification.powertrain import (
    IDLE_MARGIN,
    MOST_DOUBT,
    find_free_rows,
    find_powertrain,
    wheel_inertia_share,
)

CAR = load_car("gt3")


def test_torque_drag_and_engine_braking_follow_from_pulls_and_coasting():
    table, truth, speeds = straight_drive(CAR, (1.0, 0.0))
    found = find_powertrain(table, CAR)
    torque = np.interp(speeds[1:-1], found.speeds, found.torque)
    assert torque == pytest.approx(truth[1:11], rel=0.02)
    assert found.drag_limiter == pytest.approx(truth[13], rel=0.1)
    assert found.air[0] == pytest.approx(truth[14], rel=0.05)
    assert found.covered[2:].all()  # before that the pedal was not yet steady


def test_braking_from_speed_tells_the_air_drag_where_nothing_else_does():
    table, truth, _ = straight_drive(CAR, (1.0, 0.0))
    slow = table.take((table.throttle > 0.5) & (table.gear == 2.0) | (table.throttle < 0.5) & (table.gear == 2.0))
    held, inertia = 14.0, wheel_inertia_share(CAR)
    fast = table.take((table.throttle < 0.5) & (table.gear == 4.0))
    pedal = np.repeat([0.2, 0.3], len(fast) // 2)
    lever = (CAR.gearbox.overall_ratio(4) / CAR.driven_radius) ** 2 * CAR.engine.inertia / CAR.body.mass
    more = pedal * held / (1.0 + inertia + lever)
    fast = replace(fast, brake=pedal, fx=fast.fx - more, ax=fast.ax - more)
    alone, braked = find_powertrain(slow, CAR), find_powertrain(join_tables([slow, fast]), CAR)
    assert braked.air[0] == pytest.approx(truth[14], rel=0.1)
    assert braked.air[1] < 0.5 * alone.air[1]
    assert len(braked.fit.value) == len(truth)


def test_torque_that_is_all_but_unknown_is_not_covered():
    table, *_ = straight_drive(CAR, (1.0, 0.0))
    found = find_powertrain(table, CAR)
    assert found.covered[2:].all()
    rng = np.random.default_rng(2)
    loud = replace(table, fx=table.fx + 40.0 * rng.standard_normal(len(table)))
    assert not find_powertrain(loud, CAR).covered.all()
    assert (find_powertrain(loud, CAR).torque_sigma > MOST_DOUBT * found.torque).any()


def test_slips_of_the_wire_say_whether_the_tyres_hold_the_engine_back():
    table, *_ = straight_drive(CAR, (1.0, 0.0))
    quiet = replace(table, combined_slip=np.full((len(table), 4), 0.3))
    spinning = replace(table, combined_slip=np.full((len(table), 4), 0.95))
    assert find_powertrain(quiet, CAR).rows[0] > 0
    assert not find_free_rows(spinning, CAR).any()
    assert find_free_rows(replace(quiet, spin=1.05 * quiet.spin), CAR).all()


def test_rows_near_idle_teach_no_engine_braking():
    table, truth, _ = straight_drive(CAR, (1.0, 0.0))
    lowest = np.percentile(table.engine, 30.0)
    held = (table.throttle < 0.5) & (table.engine < lowest)  # the control of idle pushes
    pushed = replace(table, fx=table.fx + np.where(held, 2.0, 0.0), ax=table.ax + np.where(held, 2.0, 0.0))
    idle = float(lowest) * 30.0 / np.pi / IDLE_MARGIN
    knowing, unknowing = (
        find_powertrain(pushed, replace_fields(CAR, engine=replace_fields(CAR.engine, idle_rpm=rpm)))
        for rpm in (idle, 0.1 * idle)
    )
    assert knowing.air[0] == pytest.approx(truth[14], rel=0.05)
    assert knowing.drag_limiter == pytest.approx(truth[13], rel=0.1)
    assert abs(unknowing.air[0] / truth[14] - 1.0) > 0.07


def test_part_throttle_tells_engine_speeds_at_which_full_throttle_did_not_hold():
    table, truth, speeds = straight_drive(CAR, (1.0, 0.5, 0.0))
    spinning = (table.throttle > 0.9) & (table.engine < 600.0)
    slipping = replace(table, spin=np.where(spinning[:, None], 1.05, 1.0) * table.spin)
    found = find_powertrain(slipping, CAR)
    at = speeds[1:5]
    assert np.interp(at, found.speeds, found.torque) == pytest.approx(truth[1:5], rel=0.05)
    assert found.covered[1:].all()
    low, high = found.torque_sigma[1] / found.torque[1], found.torque_sigma[-2] / found.torque[-2]
    assert low > 0.15
    assert high < 0.03
    turbo = replace(slipping, fx=slipping.fx - np.where(slipping.throttle == 0.5, 0.3, 0.0))
    lagging = find_powertrain(turbo, CAR)
    assert np.interp(speeds[7:11], lagging.speeds, lagging.torque) == pytest.approx(truth[7:11], rel=0.03)


def test_a_pedal_that_is_never_held_for_long_tells_the_torque():
    table, truth, speeds = straight_drive(CAR, (0.5, 0.7, 0.0))
    blips = np.random.default_rng(5).random(len(table)) < 0.1
    moved = replace(table, throttle=np.where(blips, 0.1, table.throttle))
    found = find_powertrain(moved, CAR)
    assert found.covered[2:-1].all()
    assert np.interp(speeds[3:-2], found.speeds, found.torque) == pytest.approx(truth[3:10], rel=0.1)


def test_a_road_without_straights_tells_the_torque():
    """A person whose road bent everywhere had the engine of the class, 0.4 of the true one."""
    table, truth, speeds = straight_drive(CAR, (1.0, 0.0))
    found = find_powertrain(replace(table, fy=np.full(len(table), 3.0)), CAR)
    assert np.interp(speeds[1:-1], found.speeds, found.torque) == pytest.approx(truth[1:11], rel=0.02)
    assert find_powertrain(replace(table, fy=np.full(len(table), 6.0)), CAR) is None


def test_an_engine_has_inertia():
    table, truth, _ = straight_drive(CAR, (1.0, 0.0))
    one = table.take(table.gear == 3.0)
    bent = replace(one, fx=one.fx * (1.0 + 0.02 * np.sign(one.fx)))  # as if its inertia were negative
    found = find_powertrain(bent, CAR)
    assert found.engine_inertia[0] >= 0.3 * CAR.engine.inertia / CAR.body.mass - 1e-12
    assert found.air[0] >= 0.0
    assert len(truth) == len(found.fit.value)


def test_coasting_alone_tells_no_torque():
    table, *_ = straight_drive(CAR, (0.0,))
    assert not find_powertrain(table, CAR).covered.any()


def test_too_little_is_nothing():
    table, *_ = straight_drive(CAR, (1.0,))
    assert find_powertrain(table.take(np.arange(20)), CAR) is None
