"""Double lane changes: ISO 3888-1 without touching a cone, and the expo demo as it was."""

import math

import numpy as np
import pytest
from helpers.manoeuvres import manoeuvre

from trailbrake.cars.car_library import load_car
from trailbrake.drivers import double_lane_change
from trailbrake.drivers.double_lane_change import CONES_START
from trailbrake.drivers.originals import double_lane_change_seed
from trailbrake.planning.lane_change import iso_3888_1, lane_clearances
from trailbrake.state import CarState


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hatchback", "gt3"])
def test_no_cone_falls_at_80_km_h(name):
    drive = manoeuvre(double_lane_change.Driver(), 30.0, car=name, until=lambda state: state.x > CONES_START + 150.0)
    among = (drive["x"] > CONES_START) & (drive["x"] < CONES_START + 125.0)
    assert among.sum() > 1000
    assert np.abs(drive["speed"][among] - 80.0 / 3.6).max() < 0.5
    car = load_car(name)
    room = lane_clearances(iso_3888_1(car.body.width, CONES_START), car, drive["x"], drive["y"], drive["yaw"])
    assert room.min() > 0.0, room
    assert drive["y"][among].max() > 3.0


@pytest.mark.slow
def test_the_demo_reaches_its_lane_and_never_runs_along_it():
    drive = manoeuvre(double_lane_change_seed.Driver(), 20.0, until=lambda state: state.x > 145.0)
    assert 4.8 < drive["y"].max() < 5.5
    there = (drive["x"] > 60.0) & (drive["x"] < 95.0)
    assert drive["y"][there].max() - drive["y"][there].min() > 1.0


def test_the_demo_lets_go_at_its_end_and_stays_so():
    driver = double_lane_change_seed.Driver()
    driver.reset(None)
    assert driver.act(CarState(x=10.0, y=5.0, yaw=math.pi / 2, speed=0.0), 0.0).throttle == 1.0
    end = driver.act(CarState(x=10.0, y=155.5, yaw=math.pi / 2, speed=13.0), 0.005)
    back = driver.act(CarState(x=10.0, y=100.0, yaw=math.pi / 2, speed=0.0), 0.005)
    for answer in (end, back):
        assert (answer.steer, answer.throttle, answer.brake) == (0.0, 0.0, 0.0)


def test_the_demo_steers_left_into_the_lane_and_right_out_of_it():
    driver = double_lane_change_seed.Driver()
    driver.reset(None)
    driver.act(CarState(x=0.0, y=0.0, yaw=0.0, speed=0.0), 0.0)
    assert driver.act(CarState(x=60.0, y=0.0, yaw=0.0, speed=13.0), 0.005).steer == pytest.approx(0.25)
    assert driver.act(CarState(x=110.0, y=5.0, yaw=0.0, speed=13.0), 0.005).steer == pytest.approx(-0.25)
