"""Speed and heading holders, by pedals and by torque, on flat ground."""

import math

import numpy as np
import pytest
from helpers.manoeuvres import manoeuvre

from trailbrake.drivers import heading_hold, heading_hold_torque, speed_hold, speed_hold_torque
from trailbrake.state import CarState

SPEED = 80.0 / 3.6
BOTH = [speed_hold.Driver, speed_hold_torque.Driver]
HEADINGS = [heading_hold.Driver, heading_hold_torque.Driver]
SPEED_BAR, HEADING_BAR = 0.3, math.radians(1.0)


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize("start", [15.0, 30.0])
def test_it_comes_to_its_speed_and_stays(make, start):
    drive = manoeuvre(make(), 10.0, speed=start)
    held = drive["time"] > 6.0
    assert np.abs(drive["speed"][held] - SPEED).max() < SPEED_BAR
    assert np.abs(drive["y"]).max() < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize("car", ["gt3", "sports_awd"])
def test_from_rest_in_other_cars(make, car):
    drive = manoeuvre(make(), 16.0, car=car)
    assert np.abs(drive["speed"][drive["time"] > 13.0] - SPEED).max() < SPEED_BAR


@pytest.mark.parametrize("make", HEADINGS)
@pytest.mark.parametrize("turn", [40.0, -100.0])
def test_it_turns_to_its_heading_and_stays(make, turn):
    driver = make(heading=math.radians(turn), speed=20.0)
    drive = manoeuvre(driver, 17.0, track="plain", speed=20.0)
    held = drive["time"] > 14.0
    assert np.abs(drive["yaw"][held] - math.radians(turn)).max() < HEADING_BAR
    assert np.abs(drive["speed"][held] - 20.0).max() < SPEED_BAR


def test_through_180_degrees_it_goes_the_short_way():
    driver = heading_hold.Driver(heading=math.radians(-170.0), speed=15.0)
    drive = manoeuvre(driver, 8.0, track="plain", speed=15.0, yaw=math.radians(170.0))
    turned = np.unwrap(drive["yaw"])
    assert turned[-1] == pytest.approx(math.radians(190.0), abs=HEADING_BAR)
    assert turned.max() < math.radians(195.0)


@pytest.mark.parametrize("make", HEADINGS)
def test_the_default_heading_is_the_stock_example_s(make):
    # 60 degrees as the game counts: 30 to the right of +X.
    driver = make()
    driver.reset(None)
    assert driver.heading == pytest.approx(math.radians(-30.0))


def test_torque_mode_leaves_the_pedals_alone():
    driver = speed_hold_torque.Driver()
    driver.reset(None)
    slow, fast = driver.act(CarState(yaw=0.0, speed=10.0), 0.0), driver.act(CarState(yaw=0.0, speed=30.0), 0.005)
    for answer in (slow, fast):
        assert (answer.throttle, answer.brake) == (0.0, 0.0)
        assert len({(w.drive_torque, w.brake_torque) for w in answer.wheels}) == 1
    assert slow.wheels[0].drive_torque > 0.0 == slow.wheels[0].brake_torque
    assert fast.wheels[0].brake_torque > 0.0 == fast.wheels[0].drive_torque
