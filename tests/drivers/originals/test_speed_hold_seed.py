"""The stock block as drivers: the page's answers, in our signs, and the faults that it is known for."""

import math

import numpy as np
from helpers.manoeuvres import manoeuvre

from trailbrake.drivers.originals import heading_hold_seed, speed_hold_seed, speed_hold_torque_seed
from trailbrake.state import CarState

TARGET = 80.0 / 3.6


def test_the_wire_s_signs_become_ours():
    driver = speed_hold_seed.Driver()
    dead = CarState(yaw=math.radians(-30.5), speed=10.0)  # 59.5 degrees as the game counts
    assert driver.act(dead, 0.005).steer == 0.0
    towards_x = driver.act(CarState(yaw=0.0, speed=10.0), 0.005)
    assert (towards_x.steer, towards_x.throttle) == (-0.015, 0.5)  # the game's 90: to the right


def test_above_the_target_no_throttle_but_torque():
    answer = speed_hold_torque_seed.Driver().act(CarState(yaw=0.0, speed=30.0), 0.005)
    assert (answer.throttle, answer.brake) == (0.0, 0.0)
    assert [(w.drive_torque, w.brake_torque) for w in answer.wheels] == [(65.0, 0.0)] * 4


def test_example_three_is_example_two():
    state = CarState(yaw=0.3, speed=21.0)
    assert heading_hold_seed.Driver().act(state, 0.005) == speed_hold_torque_seed.Driver().act(state, 0.005)


def test_by_pedals_it_stays_in_or_below_its_band():
    drive = manoeuvre(speed_hold_seed.Driver(), 12.0, track="plain", speed=24.0)
    settled = drive["speed"][drive["time"] > 10.0]
    assert settled.max() < TARGET - 0.3  # it never holds what it was asked for


def test_by_torque_it_runs_away_where_drag_is_small():
    drive = manoeuvre(speed_hold_torque_seed.Driver(), 10.0, track="plain", speed=TARGET)
    assert drive["speed"][-1] > TARGET + 2.0
    assert np.all(np.diff(drive["speed"][400:]) > 0.0)


def test_its_heading_ends_within_its_dead_band_or_beside_it():
    drive = manoeuvre(heading_hold_seed.Driver(), 18.0, track="plain", speed=20.0)
    heading = np.degrees(drive["yaw"]) + 90.0
    assert abs(heading[-1] - 59.5) < 2.0
