"""Alone it is line_track to the bit; among others it goes round who is in the way, or stays behind."""

import math

import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.control.vehicle.line_tracking import PlanColumn
from trailbrake.drivers import line_track, race_line
from trailbrake.errors import UsageError
from trailbrake.planning.course import Course
from trailbrake.planning.lap_learning import Evidence
from trailbrake.state import Controls, OtherCar, Pose
from trailbrake.tracks.track_library import load_track
from trailbrake.world.conditions import WorldConditions
from trailbrake.world.plant import World


@pytest.fixture(scope="module")
def course():
    return Course(load_track("hartmoor"), load_car("gt3")).with_kerbs()


def describe_car(index, state):
    return OtherCar(index, state.x, state.y, state.z, state.yaw, state.speed * math.cos(state.yaw),
                    state.speed * math.sin(state.yaw), state.speed)  # fmt: skip


def make_driver(course, kind=race_line.Driver):
    driver = kind()
    driver.reset(course)
    return driver


def start_at(course, world, car, s, speed, offset=0.0, turned=0.0):
    x, y, z, yaw = course.line.points(s, offset)[0].tolist()
    world.place_car(car, Pose(x, y, z, yaw + turned), speed)


def drive_world(course, drivers, seconds, others=lambda states, car: None):
    """Drive from 30 m/s; return all states of the first car."""
    world = World(course.track, [course.known_car()] * len(drivers))
    for car in range(len(drivers)):
        start_at(course, world, car, 200.0 - 30.0 * car, 30.0)
    driven = []
    for _ in range(round(seconds * 333)):
        states = [world.car_state(car) for car in range(len(drivers))]
        for car, state in enumerate(states):
            state.others = others(states, car) or []
        driven.append(states[0])
        world.step([driver.act(state, world.period) for driver, state in zip(drivers, states, strict=True)])
    return driven


def test_alone_it_is_line_track_to_the_bit(course):
    plain, race = ([(state.x, state.y, state.yaw, state.speed) for state in drive_world(course, [driver], 3.0)]
                   for driver in (make_driver(course, line_track.Driver), make_driver(course)))  # fmt: skip
    assert race == plain


def test_at_a_pace_it_plans_that_share_of_its_speeds(course):
    table, slow = make_driver(course).plan.table, make_driver(course, lambda: race_line.Driver(pace=0.9)).plan.table
    assert slow[:, PlanColumn.SPEED] == pytest.approx(0.9 * table[:, PlanColumn.SPEED])
    assert slow[:, PlanColumn.ACCELERATION] == pytest.approx(0.81 * table[:, PlanColumn.ACCELERATION])
    with pytest.raises(UsageError, match=r"no such pace, expected 0\.5 to 1, got 1\.2"):
        race_line.Driver(pace=1.2)


def test_among_others_a_braking_shows_the_grip_and_nothing_of_its_place(course):
    driver, world = make_driver(course), World(course.track, [course.known_car()])
    driver.is_disturbed = True
    learning, grip = driver.adaptive.learning, driver.adaptive.estimate.grip
    start_at(course, world, 0, 420.0, 52.0)
    weights = []
    for _ in range(3 * 333):
        world.step([driver.act(world.car_state(0), world.period)])
        weights.append(driver.unlearned_time)
    assert driver.adaptive.estimate.grip > grip + 0.02  # else it would keep the reserve of untested brakes for a race
    assert max(weights) < 0.01  # the first sample after it counts no more than another
    learning.finish_lap(1.0)
    assert np.isnan([learning.reference_at(s, evidence) for s in (470.0, 500.0) for evidence in Evidence]).all()
    assert not (learning.factors - line_track.FIRST_FACTOR).any()
    driver.steering.finish_lap()
    assert not driver.steering.corrections.any()


def test_no_gap_opens_for_an_attack_with_another_close_behind(course, monkeypatch):
    driver = make_driver(course)
    monkeypatch.setattr(driver.attack, "plan_gap", lambda rival, row, speed: np.ones(1))
    for time, behind, hold in ((1.0, 20.0, 0.0), (2.0, 30.0, 1.0)):
        shown = []
        for index, s in enumerate((220.0, 200.0 - behind)):
            x, y, z, yaw = course.line.points(s)[0].tolist()
            shown.append(OtherCar(index, x, y, z, yaw, 30.0 * math.cos(yaw), 30.0 * math.sin(yaw), 30.0))
        driver.tracker.observe_cars(shown, time, 30.0)
        assert driver._predict_near(200.0, 30.0).hold[0] == hold


def test_a_car_ahead_is_expected_to_brake_for_one_that_is_slower(course):
    driver, shown = make_driver(course), []
    for index, (s, speed) in enumerate(((230.0, 40.0), (260.0, 15.0))):
        x, y, z, yaw = course.line.points(s)[0].tolist()
        shown.append(OtherCar(index, x, y, z, yaw, speed * math.cos(yaw), speed * math.sin(yaw), speed))
    driver.tracker.observe_cars(shown, 1.0, 40.0)
    ahead = driver._predict_near(200.0, 40.0).rivals[:, :20, race_line.RivalColumn.AHEAD]
    assert (ahead[1] - ahead[0]).min() > 4.6


@pytest.mark.slow
def test_a_grid_starts_together_and_without_contact(course):
    world = World(course.track, [course.known_car()] * 4, conditions=WorldConditions(grid="standing"))
    drivers = [make_driver(course) for _ in range(4)]
    states, shown = [world.car_state(car) for car in range(4)], []
    for tick in range(1800):
        if tick % 6 == 0:
            shown = [describe_car(car, state) for car, state in enumerate(states)]
        for car, state in enumerate(states):
            state.others = [other for other in shown if other.index != car]
        world.step([driver.act(state, world.period) for driver, state in zip(drivers, states, strict=True)])
        states = [world.car_state(car) for car in range(4)]
    assert world.counters()["car_contacts"] == []
    assert min(state.speed for state in states) > 25.0
    s = [course.line.locate(state.x, state.y)[0] for state in states]
    assert max(s) - min(s) < 60.0


def test_others_far_away_or_without_a_place_change_nothing(course):
    far = course.line.points(2500.0)[0].tolist()
    shown = [OtherCar(1, *far, 0.0, 0.0, 0.0), OtherCar(2), OtherCar(3, math.nan, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0)]
    plain = drive_world(course, [make_driver(course, line_track.Driver)], 1.0)
    race = drive_world(course, [make_driver(course)], 1.0, lambda states, car: shown)
    assert [(a.x, a.y, a.yaw) for a in race] == [(b.x, b.y, b.yaw) for b in plain]


@pytest.mark.slow
@pytest.mark.parametrize("turned", [0.0, 0.5 * math.pi])
def test_it_goes_round_a_car_that_stands_on_the_line(course, turned):
    world = World(course.track, [course.known_car()] * 2)
    start_at(course, world, 0, 2700.0, 40.0)
    start_at(course, world, 1, 2950.0, 0.0, turned=turned)
    driver = make_driver(course)
    passed = False
    while world.car_state(0).time < 25.0 and not passed:
        state = world.car_state(0)
        state.others = [describe_car(1, world.car_state(1))]
        world.step([driver.act(state, world.period), Controls(brake=1.0)])
        s, _, _ = course.line.locate(state.x, state.y)
        passed = 3000.0 < s < 3400.0
    assert passed
    assert world.car_state(0).contacts == 0.0
    assert world.car_state(1).contacts == 0.0


@pytest.mark.slow
def test_it_repeats_to_the_bit_among_others(course):
    def show_all(states, car):
        return [describe_car(index, state) for index, state in enumerate(states) if index != car]

    runs = [drive_world(course, [make_driver(course), make_driver(course, line_track.Driver)], 4.0, show_all)
            for _ in range(2)]  # fmt: skip
    assert [(a.x, a.y, a.speed) for a in runs[0]] == [(b.x, b.y, b.speed) for b in runs[1]]


def test_a_crowd_that_jumps_about_leaves_finite_controls(course):
    draw, driver = np.random.default_rng(3), make_driver(course)
    world = World(course.track, [course.known_car()])
    start_at(course, world, 0, 200.0, 30.0)
    for tick in range(400):
        state = world.car_state(0)
        state.others = []
        for index in range(1, 20 if tick % 50 else 3):  # some vanish at times
            x, y, z, yaw = course.line.points(state.lap_progress + 200.0 + draw.uniform(-40.0, 120.0),
                                              draw.uniform(-6.0, 6.0))[0].tolist()  # fmt: skip
            speed = draw.choice([0.0, 30.0, -20.0, 1e4])
            state.others.append(OtherCar(index, x, y, z, yaw, speed * math.cos(yaw), speed * math.sin(yaw), abs(speed)))
        controls = driver.act(state, world.period)
        assert all(math.isfinite(value) for value in (controls.steer, controls.throttle, controls.brake))
        world.step([controls])
