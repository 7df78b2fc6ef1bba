"""Rivals have the pace that they are given, by grip or by power, and their habits."""

import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.drivers.lane_switch import Seen
from trailbrake.evaluate.overtaking.rivals import RivalDriver, RivalPlan, plan_rival_speeds
from trailbrake.planning.course import Course
from trailbrake.state import CarState
from trailbrake.tracks.track_library import load_track


@pytest.fixture(scope="module")
def course():
    course = Course(load_track("lakeside"), load_car("hatchback"))
    return Course(course.track, course.car, given_line=course.line)


@pytest.mark.parametrize("means", ["grip", "power"])
@pytest.mark.parametrize("habit", ["own_line", "braking_early"])
def test_the_lap_is_as_long_as_planned(course, means, habit):
    wanted = 1.08 * course.profile.lap_time
    assert plan_rival_speeds(course, RivalPlan(habit, means, wanted, 0)).lap_time == pytest.approx(wanted, rel=1e-3)


def test_less_grip_is_slower_in_bends_and_less_power_on_straights(course):
    wanted = 1.08 * course.profile.lap_time
    by_grip, by_power = (plan_rival_speeds(course, RivalPlan("own_line", means, wanted, 0)).speed
                         for means in ("grip", "power"))  # fmt: skip
    slowest, fastest = int(np.argmin(course.profile.speed)), int(np.argmax(course.profile.speed))
    assert by_grip[slowest] < 0.97 * by_power[slowest]
    assert by_power[fastest] < by_grip[fastest]


def make_rival(course, habit):
    driver = RivalDriver(RivalPlan(habit, "grip", 1.1 * course.profile.lap_time, 7))
    driver.reset(course)
    return driver


def seen(ahead, offset=0.0, speed=20.0):
    row = np.zeros((1, len(Seen)))
    row[0, [Seen.AHEAD, Seen.OFFSET, Seen.SPEED]] = ahead, offset, speed
    return row


def test_a_defender_moves_once_and_stays_there(course):
    rival = make_rival(course, "defending")
    assert rival.choose_shift(seen(-60.0), 20.0, 0.01) == 0.0
    shift = rival.choose_shift(seen(-15.0), 20.0, 0.01)
    assert shift != 0.0
    rival.wanted_shift = shift
    for ahead in (-20.0, -10.0, -30.0):
        assert rival.choose_shift(seen(ahead), 20.0, 0.01) == shift
    assert rival.choose_shift(seen(-60.0), 20.0, 0.01) == 0.0


def test_a_lapped_car_lets_others_by(course):
    rival = make_rival(course, "blue_flag")
    assert rival.choose_shift(seen(-60.0), 20.0, 0.01) == 0.0
    assert rival.pace == 1.0
    assert abs(rival.choose_shift(seen(-10.0), 20.0, 0.01)) > 1.0
    assert rival.pace < 1.0


def test_an_erratic_car_wanders_and_repeats(course):
    shifts = []
    for _ in range(2):
        rival = make_rival(course, "erratic")
        for _ in range(200):
            rival.clock += 0.05
            shifts.append(rival.choose_shift(seen(-60.0), 20.0, 0.05))
    assert shifts[:200] == shifts[200:]
    assert max(shifts) - min(shifts) > 1.5


def test_a_spun_car_stands(course):
    controls = make_rival(course, "spun").act(CarState(), 0.003)
    assert (controls.throttle, controls.brake) == (0.0, 1.0)


def test_lines_differ_by_seed_within_the_road(course):
    one = make_rival(course, "own_line")
    other = RivalDriver(RivalPlan("own_line", "grip", 1.1 * course.profile.lap_time, 8))
    other.reset(course)
    assert np.abs(one.own_offsets - other.own_offsets).max() > 0.05
    assert np.abs(one.own_offsets).max() <= 0.5
