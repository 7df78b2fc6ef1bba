"""The test manoeuvres through the wire: what the drivers are held to, with every byte in between."""

import math

import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.drivers import brake_test, double_lane_change
from trailbrake.driving.session.drive_session import drive
from trailbrake.planning.lane_change import iso_3888_1, lane_clearances
from trailbrake.record.recording_reader import Recording

SPEED = 80.0 / 3.6

pytestmark = pytest.mark.slow


def driven(folder, driver, track, car, seconds):
    summary = drive(
        DriveFlags(
            sim="beamng", driver=driver, track=track, car=car, seconds=seconds, report=False, out=folder
        ).make_spec()
    )
    assert summary["ended"] == "done"
    assert summary["link"]["lost"] == 0
    return Recording.open(summary["recording"]).state


@pytest.mark.parametrize("driver", ["heading_hold", "heading_hold_torque"])
def test_speed_and_heading_are_held_by_pedals_and_by_torque(driver, tmp_path):
    state = driven(tmp_path, driver, "plain", "hatchback", 15.0)
    held = state["time"] > 11.0
    assert held.sum() > 700
    assert np.abs(state["speed"][held] - SPEED).max() < 0.3
    assert np.degrees(np.abs(state["yaw"][held] + math.radians(30.0))).max() < 1.0


def test_the_double_lane_change_leaves_all_cones_standing(tmp_path):
    state = driven(tmp_path, "double_lane_change", "proving_ground", "gt3", 21.5)
    car, start = load_car("gt3"), double_lane_change.CONES_START
    assert state["x"][-1] > start + 127.0
    among = (state["x"] > start) & (state["x"] < start + 125.0)
    assert np.abs(state["speed"][among] - SPEED).max() < 0.5
    assert lane_clearances(iso_3888_1(car.body.width, start), car, state["x"], state["y"], state["yaw"]).min() > 0.0


def test_the_brake_test_stops_straight(tmp_path):
    state = driven(tmp_path, "brake_test", "proving_ground", "gt3", 19.0)
    braking = state["x"] > brake_test.BRAKE_AT
    assert state["speed"][-1] < 0.05
    assert np.ptp(state["y"][braking]) < 0.05
    assert np.degrees(np.abs(state["yaw"][braking])).max() < 0.5
