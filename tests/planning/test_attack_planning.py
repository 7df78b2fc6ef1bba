"""Where a rival is passed from, and the gap that is held until there."""

import math

import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.planning.attack_planning import (
    ASIDE_TIME,
    LONG_STEPS,
    RUN_TIME,
    AttackPlanner,
    fill_hold,
    fill_shifted,
    find_arrival,
    find_attack,
)
from trailbrake.planning.course import GRIP_MARGIN, Course, path_shapes
from trailbrake.planning.path_room import make_inside_room
from trailbrake.planning.race_lattice import POINTS, STRIDE, RaceRoad, build_paths
from trailbrake.planning.rival_tracking import STEP, STEPS, RivalColumn, find_follow_gap
from trailbrake.tracks.track_library import load_track

LENGTH = 4.6


def drive_steadily(ahead, speed):
    rows = np.zeros((LONG_STEPS, len(RivalColumn)))
    rows[:, RivalColumn.AHEAD] = ahead + speed * STEP * np.arange(LONG_STEPS)
    rows[:, RivalColumn.SPEED] = speed
    rows[:, RivalColumn.RIGHTMOST], rows[:, RivalColumn.LEFTMOST] = -0.4, 0.4
    return rows


def test_a_place_is_reached_when_the_prediction_says():
    rows = drive_steadily(10.0, 20.0)
    assert find_arrival(rows, 5.0) == 0.0
    assert find_arrival(rows, 33.0) == pytest.approx(23.0 / 20.0)
    assert find_arrival(rows, 1e4) == math.inf


def test_an_attack_begins_close_behind_and_with_the_room_to_pull_out():
    rows, v = drive_steadily(10.0, 20.0), 25.0
    begin, later = find_attack(rows, (100.0, v), LENGTH)
    assert later == pytest.approx(ASIDE_TIME * 5.0 / 20.0)
    its_place = 10.0 + 20.0 * begin
    assert its_place - 100.0 == pytest.approx(LENGTH + find_follow_gap(rows, v) + ASIDE_TIME * 5.0)


def test_a_shifted_prediction_is_that_of_the_later_time_and_place():
    rows, out = drive_steadily(10.0, 20.0), np.zeros((STEPS, len(RivalColumn)))
    fill_shifted(rows, 2.0, 30.0, out)
    assert out[0, RivalColumn.AHEAD] == pytest.approx(10.0 + 40.0 - 30.0)
    assert out[10, RivalColumn.AHEAD] == pytest.approx(out[0, RivalColumn.AHEAD] + 20.0)


def test_the_gap_is_what_the_run_at_own_speed_closes():
    own, its, place = 25.0, 20.0, 50
    rows, hold = drive_steadily(10.0, its), np.zeros(POINTS)
    speeds = np.full(2000, own)
    fill_hold(speeds, (0, 1.0, LENGTH), rows, place, hold)
    _, later = find_attack(rows, (place * STRIDE, own), LENGTH)
    begins = place - math.floor(RUN_TIME * own / STRIDE) + 1
    run = (place - begins) * STRIDE
    assert hold[begins] == pytest.approx(later + run / its - run / own, abs=0.1)
    assert (np.diff(hold[begins:place]) < 0.0).all()
    assert (np.diff(hold[:begins]) >= 0.0).all()  # up to there it opens
    assert not hold[place:].any()


@pytest.mark.parametrize(("share", "can_pass"), [(0.8, True), (1.0, False)])
def test_a_rival_slower_by_grip_is_passed_in_the_bend_and_an_equal_one_is_not(share, can_pass):
    course = Course(load_track("pinegrove"), load_car("gt3")).with_kerbs()
    line, body = course.line, course.known_car().body
    road = RaceRoad(line.kernel_table, path_shapes(line), build_paths(line, make_inside_room(body.width)),
                    course.envelope, GRIP_MARGIN, (body.length, body.width))  # fmt: skip
    own = course.profile.speed
    planner = AttackPlanner(road, own)
    row, s, works, holds = 1300, 1300.0 + 14.0, [], []
    for step in range(LONG_STEPS):
        at = int(s) % len(own)
        planner.prediction[step] = [s - row, share * own[at], -0.2, 0.2, 0.3]
        s += share * own[at] * STEP
    for _ in range(60):
        holds.append(planner.plan_gap(1, row, share * float(own[row]))[0])
        works.append(any(planner._works.values()))
    assert works[-1] == can_pass
    assert not planner.release().any()
