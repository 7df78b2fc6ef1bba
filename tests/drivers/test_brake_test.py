"""Brake tests: straight, at the place, to a stand; and the expo demo as it was."""

import numpy as np
import pytest
from helpers.manoeuvres import manoeuvre

from trailbrake.drivers import brake_test
from trailbrake.drivers.brake_test import BRAKE_AT
from trailbrake.drivers.originals import brake_test_seed
from trailbrake.state import CarState


@pytest.mark.slow
@pytest.mark.parametrize(("car", "mu"), [("hatchback", 1.0), ("gt3", 1.6)])
def test_it_stops_straight(car, mu):
    drive = manoeuvre(brake_test.Driver(), 24.0, car=car, y=2.0)
    assert np.abs(drive["speed"][drive["x"] > BRAKE_AT - 20.0].max() - 80.0 / 3.6) < 0.3
    assert drive["speed"][-1] < 0.01
    # About v^2 / 2 mu g: the tyres' grip to 15 %.
    assert drive["x"][-1] - BRAKE_AT == pytest.approx((80.0 / 3.6) ** 2 / (2.0 * mu * 9.81), rel=0.15)
    braking = drive["x"] > BRAKE_AT
    assert np.abs(drive["yaw"][braking]).max() < np.radians(0.5)
    assert np.ptp(drive["y"][braking]) < 0.1
    assert abs(drive["y"][-1]) < 0.2  # it had come back from 2 m beside the middle


def test_once_braking_it_brakes_on():
    from trailbrake.cars.car_library import load_car
    from trailbrake.planning.course import Course
    from trailbrake.tracks.track_library import load_track

    driver = brake_test.Driver()
    driver.reset(Course(load_track("proving_ground"), load_car("hatchback")))
    assert driver.act(CarState(x=299.0, y=0.0, yaw=0.0, speed=20.0), 0.005).brake == 0.0
    assert driver.act(CarState(x=300.5, y=0.0, yaw=0.0, speed=20.0), 0.005).brake == 1.0
    assert driver.act(CarState(x=299.0, y=0.0, yaw=0.0, speed=0.0), 0.005).brake == 1.0
    assert driver.act(CarState(x=300.0, y=1.0, yaw=0.2, speed=0.0), 0.005).steer == 0.0


@pytest.mark.slow
def test_the_demo_fades_and_lets_go():
    drive = manoeuvre(brake_test_seed.Driver(), 24.0)
    braking = drive["x"] > 221.0
    assert drive["brake"][braking].max() == 1.0
    slow = (drive["speed"] > 1.6) & (drive["speed"] < 2.5) & braking
    assert slow.any()
    assert drive["brake"][slow].max() < 0.8
    assert drive["brake"][-1] == drive["throttle"][-1] == 0.0
    assert np.abs(drive["y"]).max() < 0.05


def test_the_demo_does_not_end_on_the_start_line():
    driver = brake_test_seed.Driver()
    driver.reset(None)
    here = CarState(x=0.0, y=0.0, yaw=0.0, speed=0.0)
    assert driver.act(here, 0.0).throttle == 1.0
    assert driver.act(here, 2.9).throttle == 1.0
    assert driver.act(here, 0.2).throttle == 0.0
