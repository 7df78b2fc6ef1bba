"""It is line_track alone, and changes to the wider side where a slower car is ahead."""

import math

import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.control.vehicle.line_tracking import PlanColumn
from trailbrake.drivers import line_track
from trailbrake.drivers.lane_switch import LANE, NOTICE_DISTANCE, Driver, Seen
from trailbrake.planning.course import Course
from trailbrake.state import CarState, OtherCar
from trailbrake.tracks.track_library import load_track


@pytest.fixture(scope="module")
def course():
    return Course(load_track("lakeside"), load_car("hatchback")).with_kerbs()


@pytest.fixture
def driver(course):
    driver = Driver()
    driver.reset(course)
    return driver


def seen(ahead, offset=0.0, speed=10.0):
    row = np.zeros((1, len(Seen)))
    row[0, [Seen.AHEAD, Seen.OFFSET, Seen.SPEED]] = ahead, offset, speed
    return row


def state_at(course, *others):
    x, y, z, yaw = course.line.points(100.0)[0].tolist()
    return CarState(x=x, y=y, z=z, yaw=yaw, speed=20.0, velocity_x=20.0, velocity_y=0.0, acceleration_y=0.0,
                    yaw_rate=0.0, gear=3, engine_speed=400.0, time=1.0, others=list(others))  # fmt: skip


def test_alone_it_is_line_track(course, driver):
    plain = line_track.Driver()
    plain.reset(course)
    nowhere = OtherCar(1, math.nan, math.nan)
    for _ in range(5):
        assert driver.act(state_at(course, nowhere), 0.003) == plain.act(state_at(course), 0.003)


def test_it_changes_away_from_a_slower_car_and_comes_back(driver):
    assert driver.choose_shift(seen(NOTICE_DISTANCE + 1.0), 20.0, 0.01) == 0.0
    assert driver.choose_shift(seen(20.0, speed=40.0), 20.0, 0.01) == 0.0
    driver.left_room[:], driver.right_room[:] = 5.0, 1.0
    assert driver.choose_shift(seen(20.0), 20.0, 0.01) == LANE
    driver.left_room[:], driver.right_room[:] = 1.0, 5.0
    assert driver.choose_shift(seen(20.0), 20.0, 0.01) == -LANE
    driver.wanted_shift = -LANE
    assert driver.choose_shift(seen(1.0), 20.0, 0.01) == -LANE
    assert driver.choose_shift(seen(-20.0), 20.0, 0.01) == 0.0


def test_its_lane_is_on_the_road_and_teaches_nothing(course, driver):
    x, y, z, yaw = course.line.points(115.0)[0].tolist()
    slower = OtherCar(1, x, y, z, yaw, 5.0 * math.cos(yaw), 5.0 * math.sin(yaw), 5.0)
    factors = driver.adaptive.learning.factors.copy()
    for _ in range(600):
        driver.act(state_at(course, slower), 0.003)
    offsets = driver.plan.table[:, PlanColumn.OFFSET]
    assert abs(driver.shift) == pytest.approx(LANE)
    assert np.abs(offsets).max() > 1.0
    assert (offsets <= driver.left_room).all()
    assert (offsets >= -driver.right_room).all()
    assert driver.is_disturbed
    assert (driver.adaptive.learning.factors == factors).all()
