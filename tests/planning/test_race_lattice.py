"""Paths stay on the road, the step between them is smooth, and the choice keeps clear of others."""

import math

import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.planning.course import GRIP_MARGIN, Course, path_shapes
from trailbrake.planning.path_margins import EDGE_MARGIN
from trailbrake.planning.race_lattice import (
    DRIVEN,
    LINE,
    POINTS,
    STRIDE,
    RaceChoice,
    RaceRoad,
    RaceStart,
    build_lanes,
    commit_path,
    make_buffers,
    plan_race_path,
)
from trailbrake.planning.rival_tracking import STEP, STEPS, RivalColumn
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track_library import load_track

ROW, SPEED = 200, 30.0


@pytest.fixture(scope="module")
def course():
    return Course(load_track("hartmoor"), load_car("gt3"))


@pytest.fixture
def road(course):
    body = course.known_car().body
    return RaceRoad(course.line.kernel_table, path_shapes(course.line), build_lanes(course.line, body.width),
                    course.envelope, GRIP_MARGIN, (body.length, body.width))  # fmt: skip


def rival_at(ahead, speed, offset, spread=0.3):
    rows = np.zeros((1, STEPS, len(RivalColumn)))
    times = np.arange(STEPS) * STEP
    rows[0, :, RivalColumn.AHEAD], rows[0, :, RivalColumn.SPEED] = ahead + speed * times, speed
    rows[0, :, RivalColumn.RIGHTMOST], rows[0, :, RivalColumn.LEFTMOST] = offset - spread, offset + spread
    rows[0, :, RivalColumn.DISTANCE_ERROR] = 0.3 + 0.5 * times
    return rows


def choose(road, rivals, speed=SPEED):
    path = make_buffers()
    return plan_race_path(road, RaceStart(ROW, POINTS, speed, 0.0, LINE, False), rivals, path), path


@pytest.mark.parametrize(("track", "car"), [("hartmoor", "gt3"), ("kartwerk", "kart"), ("lakeside", "hatchback")])
def test_the_whole_car_is_on_the_road_in_each_lane(track, car):
    course = Course(load_track(track), load_car(car)).with_kerbs()
    width = course.known_car().body.width
    lanes = build_lanes(course.line, width)[LINE + 1 :]
    room_left = course.line.column(RoadColumn.WIDTH_LEFT) - 0.5 * width - lanes
    room_right = course.line.column(RoadColumn.WIDTH_RIGHT) - 0.5 * width + lanes
    assert min(room_left.min(), room_right.min()) > 0.5 * EDGE_MARGIN


def test_alone_the_line_is_chosen_and_not_left(road):
    choice, path = choose(road, np.zeros((0, STEPS, len(RivalColumn))))
    assert not path.offset.any()
    assert not choice.is_held_up
    assert choice.risk == 0.0


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


def test_a_wall_of_cars_is_followed(road):
    wall = np.concatenate([rival_at(40.0, 15.0, offset, 1.0) for offset in (-9.0, -6.0, -3.0, 0.0, 3.0, 6.0, 9.0)])
    choice, path = choose(road, wall)
    assert choice.is_held_up
    assert path.speed[: POINTS // 4].min() < 16.0
    assert choice.risk < 1.0


def test_a_step_under_way_is_not_begun_anew_for_little(road):
    start = RaceStart(ROW, POINTS, SPEED, 0.0, LINE, True)
    road.paths[DRIVEN] = 0.5 * road.paths[LINE + 1]
    for target in (LINE, LINE + 1):
        choice = plan_race_path(road, start._replace(target=target), rival_at(-30.0, 20.0, 0.0), make_buffers())
        assert choice.target == DRIVEN
    assert plan_race_path(road, start._replace(target=LINE + 1, is_stepping=False), rival_at(-30.0, 20.0, 0.0),
                          make_buffers()).target == LINE  # fmt: skip


def test_a_committed_path_has_no_kink(course, road):
    start = RaceStart(ROW, POINTS, SPEED, 0.0, LINE, False)
    commit_path(road, start, RaceChoice(LINE + 2, 20, 0.0, 0.0, False))
    near = road.paths[DRIVEN, ROW - STRIDE : ROW + 200]
    assert near[: STRIDE + 1] == pytest.approx(0.0)
    assert near[STRIDE + 20 * STRIDE :] == pytest.approx(road.paths[LINE + 2, ROW + 20 * STRIDE : ROW + 200])
    bends = np.diff(near, 2) / course.line.spacing**2
    assert np.abs(bends).max() < 0.02
    assert math.isfinite(bends.sum())


@pytest.mark.parametrize("row", range(STRIDE))
def test_a_path_committed_at_the_start_of_the_lap_has_no_kink_behind_the_car(road, row):
    n = road.paths.shape[1]
    commit_path(road, RaceStart(row, POINTS, SPEED, 0.0, LINE, False), RaceChoice(LINE + 1, 20, 0.0, 0.0, False))
    assert road.paths[DRIVEN, np.arange(row - STRIDE, row + 1) % n] == pytest.approx(0.0)
