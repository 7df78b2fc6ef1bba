"""It drives as line_follow where nobody is in the way, and behind those who are."""

import dataclasses
import math

import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.drivers import line_follow
from trailbrake.drivers.convoy import Driver
from trailbrake.planning.course import Course
from trailbrake.state import CarState, OtherCar
from trailbrake.tracks.track_library import load_track
from trailbrake.world.plant import World


@pytest.fixture(scope="module")
def course():
    return Course(load_track("pinegrove"), load_car("gt3"))


def car_at(course, s, offset=0.0, speed=20.0):
    x, y, z, yaw = course.line.points(s, offset)[0].tolist()
    return CarState(x=x, y=y, z=z, yaw=yaw, speed=speed, velocity_x=speed, velocity_y=0.0, acceleration_y=0.0,
                    yaw_rate=0.0, gear=3, engine_speed=400.0, time=1.0)  # fmt: skip


def other_at(course, s, offset=0.0, speed=0.0):
    x, y, z, yaw = course.line.points(s, offset)[0].tolist()
    return OtherCar(1, x, y, z, yaw, speed * math.cos(yaw), speed * math.sin(yaw), speed, 0.0)


def answer(course, *others, speed=20.0):
    driver = Driver()
    driver.reset(course)
    state = car_at(course, 100.0, speed=speed)
    state.others = list(others)
    return driver.act(state, 0.003)


def test_it_needs_the_other_cars():
    assert {"others"} == Driver.NEEDS - line_follow.Driver.NEEDS


def test_alone_it_is_line_follow(course):
    plain = line_follow.Driver()
    plain.reset(course)
    expected = plain.act(car_at(course, 100.0), 0.003)
    assert answer(course) == expected
    free = [other_at(course, 90.0), other_at(course, 300.0), other_at(course, 115.0, offset=3.0)]
    assert answer(course, *free) == expected  # behind, far ahead, beside
    assert answer(course, other_at(course, 125.0, speed=60.0)) == expected  # faster


def test_it_brakes_for_who_is_ahead_on_its_path(course):
    controls = answer(course, other_at(course, 115.0))
    assert controls.throttle == 0.0
    assert controls.brake > 0.5
    assert dataclasses.replace(controls, throttle=0.0, brake=0.0) == dataclasses.replace(
        answer(course), throttle=0.0, brake=0.0
    )  # steering and gears stay


@pytest.mark.slow
def test_four_cars_drive_through_the_first_bends_without_touching_each_other(course):
    world = World(course.track, [course.known_car()] * 4)
    drivers = [Driver() for _ in range(4)]
    for driver in drivers:
        driver.reset(course)
    slowest = 0.0
    while slowest < 0.25:
        states = [world.car_state(i) for i in range(4)]
        shown = [
            OtherCar(i, s.x, s.y, s.z, s.yaw, s.speed * math.cos(s.yaw), s.speed * math.sin(s.yaw), s.speed, 0.0)
            for i, s in enumerate(states)
        ]  # fmt: skip
        for i, state in enumerate(states):
            state.others = [other for other in shown if other.index != i]
        world.step([driver.act(state, world.period) for driver, state in zip(drivers, states, strict=True)])
        slowest = min(state.lap_progress for state in states)
        assert states[0].time < 40.0
    assert [world.car_state(i).contacts for i in range(4)] == [0.0] * 4
