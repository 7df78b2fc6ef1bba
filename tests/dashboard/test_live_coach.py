"""Driving on a circle at known speeds: what is said at each place follows by hand."""

import math

import numpy as np
import pytest
from helpers.coached_laps import make_circle_target

from trailbrake.dashboard.coach_choice import CoachChoice
from trailbrake.dashboard.lap_follower import GHOST_INDEX
from trailbrake.dashboard.live_coach import LIMIT_NUMBER, LiveCoach, is_battle
from trailbrake.laps import LapRecord
from trailbrake.state import CarState, OtherCar

ROAD, TARGET = make_circle_target()
LENGTH = ROAD.length
BEST, IDEAL, LIMIT = (LENGTH / TARGET.times[name][-1] for name in ("best", "ideal", "limit"))  # m/s
BRAKES = TARGET.corners[0].brakes


@pytest.fixture
def target():
    return TARGET


def follow(target, road=ROAD):
    return LiveCoach(road, CoachChoice(target))


def drive(coach, speed, until=LENGTH, start=0.0, offset=0.0, began=0.0, lap=1):
    """Drive at one speed, sampled at 30 Hz, `offset` m left of the middle."""
    for clock in np.arange(start / speed, until / speed, 1 / 30):
        x, y, z, yaw = ROAD.points([speed * clock], offset)[0]
        coach.add_sample(
            CarState(time=began + clock, x=x, y=y, z=z, yaw=yaw, speed=speed, lap=lap, lap_time=clock), clock
        )


def finish(coach, number, speed, valid=True):
    return coach.finish_lap(LapRecord(number, LENGTH / speed, valid, (), "", 0.0, 0))


def test_the_time_to_each_lap_is_that_at_this_place_of_the_road_wherever_the_car_is_across_it(target):
    for offset in (-4.0, 0.0, 4.0):
        coach = follow(target)
        drive(coach, 20.0, until=0.5 * LENGTH, offset=offset)
        pace, at = coach.pace, coach.pace.lap_distance
        assert pace.delta == pytest.approx(at / 20.0 - at / BEST, abs=0.05)
        assert pace.delta_ideal == pytest.approx(at / 20.0 - at / IDEAL, abs=0.05)
        assert pace.delta_limit == pytest.approx(at / 20.0 - at / LIMIT, abs=0.05)


def test_the_braking_points_are_counted_down_by_distance_and_speed_and_after_the_last_comes_the_next_round(
    target,
):
    coach = follow(target)
    drive(coach, 20.0, until=0.3 * LENGTH)
    assert coach.pace.brake_best == pytest.approx((BRAKES["best"] - coach.pace.lap_distance) / 20.0, abs=0.01)
    assert coach.pace.brake_limit - coach.pace.brake_best == pytest.approx(0.05 * LENGTH / 20.0, abs=0.01)
    drive(coach, 20.0, start=0.3 * LENGTH, until=0.9 * LENGTH)
    assert coach.pace.brake_best == pytest.approx((1.4 * LENGTH - coach.pace.lap_distance) / 20.0, abs=0.01)
    coach.add_sample(CarState(time=99.0, x=150.0, y=0.0, speed=0.1), 99.0)
    assert math.isnan(coach.pace.brake_best), "a car at rest reaches nothing"


def test_the_next_corner_is_the_one_whose_apex_is_ahead(target):
    coach = follow(target)
    for until, corner in ((0.3, 0.0), (0.6, 1.0), (0.9, 0.0)):
        drive(coach, 20.0, until=until * LENGTH, start=(until - 0.1) * LENGTH)
        assert coach.pace.coach_corner == corner


def test_a_quicker_lap_is_the_best_from_then_on_and_its_quick_sections_are_the_best_ones(target):
    coach = follow(target)
    drive(coach, 31.0)
    finish(coach, 1, 31.0)
    drive(coach, 20.0, until=0.6 * LENGTH, began=100.0, lap=2)
    at = coach.pace.lap_distance
    assert coach.pace.delta == pytest.approx(at / 20.0 - at / 31.0, abs=0.05)
    assert coach.pace.delta_ideal == pytest.approx(at / 20.0 - at / IDEAL, abs=0.05), "31 m/s is no best section"


def test_an_invalid_lap_is_no_best_and_has_no_best_sections(target):
    coach = follow(target)
    drive(coach, 60.0)
    finish(coach, 1, 60.0, valid=False)
    drive(coach, 20.0, until=0.6 * LENGTH, began=100.0, lap=2)
    at = coach.pace.lap_distance
    assert coach.pace.delta == pytest.approx(at / 20.0 - at / BEST, abs=0.05)
    assert coach.pace.delta_ideal == pytest.approx(at / 20.0 - at / IDEAL, abs=0.05)


def test_a_lap_that_the_game_takes_back_takes_its_sections_with_it(target):
    coach = follow(target)
    took = LENGTH / 35.0
    drive(coach, 35.0)
    coach.finish_lap(LapRecord(1, took, True, (), "", 0.0, 0, end=took))
    drive(coach, 35.0, until=100.0, began=took, lap=2)
    x, y, z, yaw = ROAD.points([0.9 * LENGTH], 0.0)[0]
    clock = 0.9 * took
    undone = coach.add_sample(
        CarState(time=took + 4.0, x=x, y=y, z=z, yaw=yaw, speed=35.0, lap=1, lap_time=clock), clock
    )
    assert undone == 1
    assert coach.pace.delta == pytest.approx(clock - 0.9 * LENGTH / BEST, abs=0.05)
    assert coach.pace.delta_ideal == pytest.approx(clock - 0.9 * LENGTH / IDEAL, abs=0.05)


def test_both_laps_drive_as_ghosts(target):
    ghosts = {ghost.index - GHOST_INDEX: ghost for ghost in follow(target).ghosts_at(10.0)}
    for number, speed in ((0, BEST), (LIMIT_NUMBER, LIMIT)):
        ghost = ghosts[number]
        assert ROAD.locate(ghost.x, ghost.y)[0] == pytest.approx(10.0 * speed, abs=0.5)
        assert ghost.speed == pytest.approx(speed, rel=0.01)
        yaw = ROAD.points([10.0 * speed], 0.0)[0, 3]
        assert math.remainder(ghost.yaw - yaw, 2.0 * math.pi) == pytest.approx(0.0, abs=0.02)


def test_a_car_that_is_driven_elsewhere_for_a_while_is_on_another_road(target):
    coach = follow(target)
    for k in range(600):
        coach.add_sample(CarState(time=k / 30, x=1000.0 + k, y=0.0, speed=30.0, lap=1, lap_time=k / 30), k / 30)
        assert coach.is_elsewhere == (k / 30 > 15.02) or abs(k / 30 - 15.0) < 0.1


def test_a_car_that_waits_in_the_pits_is_on_its_road(target):
    coach = follow(target)
    for k in range(1200):
        coach.add_sample(CarState(time=k / 30, x=250.0, y=0.0, speed=0.0, lap=1, lap_time=k / 30), k / 30)
    assert not coach.is_elsewhere


def test_without_a_result_the_first_lap_is_the_road_and_laps_of_other_length_compare_by_place():
    coach = follow(None, road=None)
    for number, (speed, offset) in enumerate(((20.0, 0.0), (25.0, 6.0)), 1):
        drive(coach, speed, offset=offset, began=100.0 * number, lap=number)
        finish(coach, number, speed)
    drive(coach, 10.0, until=0.5 * LENGTH, began=400.0, lap=3)
    at = coach.pace.lap_distance
    assert at == pytest.approx(0.5 * LENGTH, abs=2.0)
    assert coach.pace.delta == pytest.approx(at / 10.0 - at / 25.0, abs=0.1)
    assert coach.pace.delta_ideal == pytest.approx(at / 10.0 - at / 25.0, abs=0.1)
    assert math.isnan(coach.pace.delta_limit)


@pytest.mark.parametrize(("away", "speed", "index", "near"), [
    (14.0, 5.0, 1, True), (16.0, 5.0, 1, False), (45.0, 50.0, 1, True), (55.0, 50.0, 1, False),
    (1.0, 50.0, GHOST_INDEX + 3, False),
])  # fmt: skip
def test_another_car_within_a_second_is_a_battle_and_a_ghost_is_none(away, speed, index, near):
    assert is_battle(CarState(x=0.0, y=0.0, speed=speed, others=[OtherCar(index=index, x=away, y=0.0)])) == near
