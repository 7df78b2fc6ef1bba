"""Paths stay on the road, the step between them is smooth, and the choice keeps clear of others."""

import math

import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.planning.course import GRIP_MARGIN, Course, path_shapes
from trailbrake.planning.passing_paths import build_paths
from trailbrake.planning.path_room import PathRoom
from trailbrake.planning.race_lattice import (
    DRIVEN,
    HELD,
    LINE,
    NO_RETURN,
    PASS,
    POINTS,
    STEP_TIMES,
    STRIDE,
    RaceChoice,
    RaceRoad,
    RaceStart,
    RaceTraffic,
    commit_path,
    make_buffers,
    plan_race_path,
)
from trailbrake.planning.rival_prediction import STEP, STEPS, RivalColumn
from trailbrake.tracks.track_library import load_track

ROW, SPEED = 200, 30.0
START = RaceStart(ROW, POINTS, SPEED, 0.0, LINE, False, STEP_TIMES[0])


def find_room(car):
    return PathRoom(0.5 * car.body.width, 0.5 * min(car.body.track_front, car.body.track_rear), 0.4, kerbs=True)


@pytest.fixture(scope="module")
def course():
    return Course(load_track("hartmoor"), load_car("gt3"))


@pytest.fixture
def road(course):
    body, paths = course.known_car().body, build_paths(course.line, course.profile.speed, find_room(course.known_car()))
    return RaceRoad(course.line.kernel_table, path_shapes(course.line), paths, course.envelope, GRIP_MARGIN,
                    (body.length, body.width), course.profile.speed)  # fmt: skip


def rival_at(ahead, speed, offset, spread=0.3):
    rows = np.zeros((1, STEPS, len(RivalColumn)))
    times = np.arange(STEPS) * STEP
    rows[0, :, RivalColumn.AHEAD], rows[0, :, RivalColumn.SPEED] = ahead + speed * times, speed
    rows[0, :, RivalColumn.RIGHTMOST], rows[0, :, RivalColumn.LEFTMOST] = offset - spread, offset + spread
    rows[0, :, RivalColumn.DISTANCE_ERROR] = 0.3 + 0.5 * times
    return rows


def among(rivals, hold=0.0, has_path=False):
    ahead = 0 if len(rivals) and rivals[0, 0, RivalColumn.AHEAD] > 0.0 else -1
    return RaceTraffic(rivals, ahead, np.full(POINTS, hold), has_path)


def choose(road, rivals, speed=SPEED, hold=0.0):
    path = make_buffers()
    return plan_race_path(road, START._replace(speed=speed), among(rivals, hold), path), path


def test_alone_the_line_is_chosen_and_not_left(road):
    choice, path = choose(road, np.zeros((0, STEPS, len(RivalColumn))))
    assert not path.offset.any()
    assert not choice.is_held_up
    assert choice.risk == 0.0


@pytest.mark.parametrize(("knows_laps", "most"), [(True, 0.01), (False, 1.0)])
def test_it_brakes_for_hairpins_no_later_than_alone(knows_laps, most):
    course = Course(load_track("kartwerk"), load_car("gt3")).with_kerbs()
    own, body, path = course.profile.speed, course.known_car().body, make_buffers()
    road = RaceRoad(course.line.kernel_table, path_shapes(course.line), np.zeros((PASS + 1, len(own))), course.envelope,
                    GRIP_MARGIN, (body.length, body.width), own if knows_laps else np.full(len(own), 90.0))  # fmt: skip
    too_fast = []
    for row in range(0, len(own), 60):
        start = RaceStart(row, 120, float(own[row]), 0.0, LINE, False, STEP_TIMES[0])
        plan_race_path(road, start, among(np.zeros((0, STEPS, len(RivalColumn)))), path)
        rows = (row + STRIDE * np.arange(90)) % len(own)  # the end of a path is no bend to brake for
        too_fast += list((path.free[:90] - own[rows])[np.roll(own, -1)[rows] < own[rows]])
    assert np.percentile(too_fast, 95) < most  # 1.8 m/s with the bend of the point before


def test_a_slow_car_ahead_is_gone_round_without_risk(road):
    choice, path = choose(road, rival_at(60.0, 10.0, 0.0))
    assert choice.target > LINE
    assert choice.risk == 0.0
    beside = np.abs(path.offset[1:])
    assert beside.max() > road.size[1]


def test_behind_a_car_as_quick_as_itself_it_stays_on_the_line(road):
    choice, path = choose(road, rival_at(12.0, 60.0, 0.0))
    assert choice.target in (DRIVEN, LINE)
    assert not path.offset.any()


def test_a_gap_that_is_held_slows_the_car_on_its_line_and_leaves_its_choice(road):
    _, alone = choose(road, np.zeros((0, STEPS, len(RivalColumn))))
    times = np.concatenate([[0.0], np.cumsum(STRIDE * road.line.spacing / alone.speed[:-1])])
    equal = rival_at(15.0, 0.0, 0.0)
    at = np.arange(STEPS) * STEP
    equal[0, :, RivalColumn.AHEAD] = 15.0 + np.interp(at, times, np.arange(POINTS) * STRIDE * road.line.spacing)
    equal[0, :, RivalColumn.SPEED] = np.interp(at, times, alone.speed)
    close, quick = choose(road, equal)
    held, slow = choose(road, equal, hold=1.0)
    assert held == close
    assert slow.speed[10:30].min() > SPEED - 5.0
    assert slow.speed[10:30].max() < quick.speed[10:30].max() - 1.0


def test_it_comes_up_behind_another_by_its_own_speed_beside_the_rivals(road):
    _, path = choose(road, rival_at(45.0, 30.0, 0.0, 9.0), speed=42.0)
    assert path.speed[1] > 41.5  # 12 m/s beside the rival's are braked off in a part of 40 m, though 42 m/s are not
    _, path = choose(road, rival_at(45.0, 0.0, 0.0, 9.0), speed=42.0)
    assert path.speed[1] < 41.5


def test_who_cannot_brake_in_a_bend_for_a_slower_car_brakes_before_it(course, road):
    own, spacing, at = course.profile.speed, course.line.spacing, np.arange(STEPS) * STEP
    rivals, least = rival_at(0.0, 0.0, 0.0, 9.0), []
    for row in range(0, len(own), 50):
        slow = 0.6 * np.roll(own, -row - round(60.0 / spacing))
        times = np.cumsum(spacing / slow) - spacing / slow
        rivals[0, :, RivalColumn.AHEAD] = 60.0 + np.interp(at, times, course.line.stations())
        rivals[0, :, RivalColumn.SPEED] = np.interp(at, times, slow)
        path = make_buffers()
        plan_race_path(road, START._replace(row=row, speed=own[row]), among(rivals), path)
        passed = np.cumsum(path.steps / np.maximum(path.speed, 1.0)) - path.steps[0] / path.speed[0]
        gaps = np.interp(passed, at, rivals[0, :, RivalColumn.AHEAD]) - STRIDE * spacing * np.arange(POINTS)
        least.append(gaps[passed < 8.0].min())
    assert min(least) > road.size[0]


def test_it_does_not_creep_into_a_car_that_stands_in_its_way(road):
    _, path = choose(road, rival_at(5.5, 0.0, 0.0, 9.0), speed=1.5)
    assert path.speed[0] < 0.1


def test_a_wall_of_cars_is_followed(road):
    wall = np.concatenate([rival_at(40.0, 15.0, offset, 1.0) for offset in (-9.0, -6.0, -3.0, 0.0, 3.0, 6.0, 9.0)])
    choice, path = choose(road, wall)
    assert choice.is_held_up
    assert path.speed[: POINTS // 4].min() < 16.0
    assert choice.risk < 1.0


def test_a_step_under_way_is_not_begun_anew_for_little(road):
    start, behind = START._replace(is_stepping=True), among(rival_at(-30.0, 20.0, 0.0))
    road.paths[DRIVEN] = 0.5 * road.paths[PASS + 1]
    for target in (LINE, PASS + 1):
        choice = plan_race_path(road, start._replace(target=target), behind, make_buffers())
        assert choice.target == DRIVEN
    done = start._replace(target=PASS + 1, is_stepping=False)
    assert plan_race_path(road, done, behind, make_buffers()).target == LINE


def test_a_committed_path_has_no_kink(course, road):
    commit_path(road, START, RaceChoice(PASS + 2, 20, NO_RETURN, 0.0, 0.0, False))
    near = road.paths[DRIVEN, ROW - STRIDE : ROW + 200]
    assert near[: STRIDE + 1] == pytest.approx(0.0)
    assert near[STRIDE + 20 * STRIDE :] == pytest.approx(road.paths[PASS + 2, ROW + 20 * STRIDE : ROW + 200])
    bends = np.diff(near, 2) / course.line.spacing**2
    assert np.abs(bends).max() < 0.02
    assert math.isfinite(bends.sum())


@pytest.mark.parametrize("row", range(STRIDE))
def test_a_path_committed_at_the_start_of_the_lap_has_no_kink_behind_the_car(road, row):
    n = road.paths.shape[1]
    commit_path(road, START._replace(row=row), RaceChoice(PASS + 1, 20, NO_RETURN, 0.0, 0.0, False))
    assert road.paths[DRIVEN, np.arange(row - STRIDE, row + 1) % n] == pytest.approx(0.0)


def test_the_line_is_not_left_for_a_quicker_car_behind(road):
    _, alone = choose(road, np.zeros((0, STEPS, len(RivalColumn))))
    choice, path = choose(road, rival_at(-11.0, SPEED + 20.0, 0.0))
    assert choice.risk == 0.0
    assert not path.offset.any()
    assert path.speed == pytest.approx(alone.speed)


@pytest.mark.parametrize("row", [450, 1550, 1600])  # before and while it brakes for a bend
def test_who_follows_closely_brakes_in_time_instead_of_escaping(course, road, row):
    spacing, at = course.line.spacing, np.arange(STEPS) * STEP
    its, rivals = np.roll(course.profile.speed, -row - 8), rival_at(0.0, 0.0, 0.0)
    times = np.cumsum(spacing / its) - spacing / its
    rivals[0, :, RivalColumn.AHEAD] = 8.0 + np.interp(at, times, course.line.stations())
    rivals[0, :, RivalColumn.SPEED] = np.interp(at, times, its)
    rivals[0, :, RivalColumn.DISTANCE_ERROR] = 0.3 + 0.1 * at
    start = START._replace(row=row, speed=float(course.profile.speed[row]))
    choice = plan_race_path(road, start, among(rivals), make_buffers())
    assert choice.target == DRIVEN
    assert choice.risk < 100.0


def test_no_lane_is_begun_where_nobody_is_to_be_passed(road):
    start = START._replace(target=PASS + 1)
    road.paths[DRIVEN] = road.paths[PASS + 1]
    behind = rival_at(-5.0, SPEED, 0.0)  # it has just been passed: the line is not free yet
    assert plan_race_path(road, start, among(behind), make_buffers()).target in (DRIVEN, LINE)


def test_a_return_to_the_line_ends_where_another_is_still_beside(road):
    rows, path = np.arange(ROW - STRIDE, ROW + 500), make_buffers()
    road.paths[DRIVEN, rows] = np.interp(rows, [ROW - 10, ROW + 90], [3.2, 0.0])
    road.paths[HELD] = road.paths[DRIVEN, ROW]
    start = START._replace(is_stepping=True)
    beside = rival_at(-1.0, SPEED + 1.0, 0.0)
    beside[0, :, RivalColumn.SPEED] = 60.0
    choice = plan_race_path(road, start, among(beside), path)
    assert choice.target == HELD  # it went on, with a collision ahead: each other path is too far away
    assert path.offset[1:12].min() > road.size[1] + 0.5
    assert plan_race_path(road, start, among(rival_at(-30.0, 20.0, 0.0)), path).target == DRIVEN


def test_it_waits_behind_a_car_that_stands_where_it_can_go_round_it(road):
    wall = np.concatenate([rival_at(25.0, 0.0, offset, 1.0) for offset in (-9.0, -6.0, -3.0, 0.0, 3.0, 6.0, 9.0)])
    _, path = choose(road, wall, speed=8.0)
    stops = np.argmax(path.speed < 0.5) * STRIDE * road.line.spacing
    assert stops < 25.0 - road.size[0] - 6.0


def test_a_path_past_another_is_driven_without_a_step_to_it(road):
    path, ahead = make_buffers(), rival_at(80.0, 12.0, 0.0)
    road.paths[PASS, ROW + 20 : ROW + 600] = -5.0
    road.paths[PASS, ROW + 20 : ROW + 40] = np.linspace(0.0, -5.0, 20)
    assert plan_race_path(road, START, among(ahead), make_buffers()).target != PASS
    road.paths[PASS + 1 :] = 0.0
    choice = plan_race_path(road, START, among(ahead, has_path=True), path)
    assert (choice.target, choice.blend) == (PASS, 2)
    assert path.offset[13:20] == pytest.approx(-5.0)
