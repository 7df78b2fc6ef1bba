"""Lanes keep the room of the car. A path past a car keeps beside it, within the road, and tells what it gains."""

import math

import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.planning.course import GRIP_MARGIN, Course, path_shapes
from trailbrake.planning.passing_paths import (
    LANES,
    build_paths,
    fill_passage,
    find_arrival,
    make_passing_buffers,
    plan_passing_path,
    weigh_paths,
    write_offsets,
)
from trailbrake.planning.path_room import PathRoom, find_path_bounds, make_inside_room
from trailbrake.planning.race_lattice import (
    LINE,
    PASS,
    SIDE_MARGIN,
    STRIDE,
    RaceRoad,
    RaceStart,
)
from trailbrake.planning.rival_prediction import STEP, RivalColumn
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track_library import load_track

FIRST, LAST, POINTS = 30, 67, 97


def drive_rival(own, begin, row, share, edges=(-0.3, 0.3)):
    """Return a prediction (211, len(RivalColumn)) of a car from row `begin` on, seen from `row`."""
    rows, s = np.zeros((211, len(RivalColumn))), float(begin)
    for step in range(len(rows)):
        speed = share * own[int(s) % len(own)]
        rows[step] = [s - row, speed, *edges, 0.3]
        s += speed * STEP
    return rows


@pytest.fixture(scope="module")
def plan():
    """Return the road, the costs of paths, and a function that plans a path past a car of a share of our speed."""
    course = Course(load_track("pinegrove"), load_car("gt3")).with_kerbs()
    line, body = course.line, course.known_car().body
    room, own = make_inside_room(body.width), course.profile.speed
    road = RaceRoad(line.kernel_table, path_shapes(line), build_paths(line, own, room), course.envelope, GRIP_MARGIN,
                    (body.length, body.width), own)  # fmt: skip
    costs = weigh_paths(line, road, own, room)

    def plan_past(share, edges=(-0.3, 0.3), row=1630, last=LAST, side=1):
        buffers = make_passing_buffers()
        start = RaceStart(row, last + POINTS - LAST, float(own[row]), 0.0, LINE, False, 2.0)
        fill_passage(drive_rival(own, row + 20.0, row, share, edges), 0.0, STRIDE * line.spacing, buffers.passage)
        return plan_passing_path(road, start, (FIRST, last, side), costs, buffers), start, buffers.path

    return road, costs, plan_past


def find_room(car):
    return PathRoom(0.5 * car.body.width, 0.5 * min(car.body.track_front, car.body.track_rear), 0.4, kerbs=True)


@pytest.mark.parametrize(("track", "car"), [("hartmoor", "gt3"), ("kartwerk", "kart"), ("lakeside", "hatchback")])
def test_the_car_keeps_its_room_in_each_lane(track, car):
    course = Course(load_track(track), load_car(car)).with_kerbs()
    room = find_room(course.known_car())
    lanes = build_paths(course.line, course.profile.speed, room)[PASS + 1 :]
    rightmost, leftmost = find_path_bounds(course.line, course.line.stations(), room)
    beyond = np.maximum(lanes - np.maximum(leftmost, 0.02), np.minimum(rightmost, -0.02) - lanes)
    assert beyond.max() < 0.3  # between two unknowns of a lane the edge may bend
    assert lanes.max() - lanes.min() > 4.0


def test_lanes_near_the_line_bend_little_more_than_it():
    course = Course(load_track("pinegrove"), load_car("gt3")).with_kerbs()
    lanes = build_paths(course.line, course.profile.speed, find_room(course.known_car()))[PASS + 1 :]
    curvature, spacing = course.line.column(RoadColumn.CURVATURE), course.line.spacing
    for aside, lane in zip(LANES, lanes, strict=True):
        if abs(aside) < 3.0:
            assert np.abs(lane).max() > 1.0
            bend = curvature + np.gradient(np.gradient(lane, spacing), spacing)
            assert np.square(bend).mean() < 2.0 * np.square(curvature).mean()


def test_lanes_keep_to_their_sides_in_tight_hairpins():
    course = Course(load_track("kartwerk"), load_car("kart")).with_kerbs()
    lanes = build_paths(course.line, course.profile.speed, find_room(course.known_car()))[PASS + 1 :]
    bends = np.abs(course.line.column(RoadColumn.CURVATURE)) > 1.0 / 60.0
    right, left = lanes[: len(LANES) // 2, bends].mean(), lanes[len(LANES) // 2 :, bends].mean()
    assert left - right > 1.5


def test_a_place_is_reached_when_the_prediction_says():
    rows = np.zeros((211, len(RivalColumn)))
    rows[:, RivalColumn.AHEAD], rows[:, RivalColumn.SPEED] = 10.0 + 20.0 * STEP * np.arange(211), 20.0
    assert find_arrival(rows, 33.0) == pytest.approx(23.0 / 20.0)
    assert find_arrival(rows, 5.0) == pytest.approx(-5.0 / 20.0)
    assert find_arrival(rows, 1e4) == math.inf


def test_the_path_is_beside_the_car_on_the_stretch_and_within_the_road(plan):
    road, costs, plan_past = plan
    surplus, start, path = plan_past(0.8)
    offset, rows = path.offset[1 : POINTS + 1], start.row + STRIDE * np.arange(POINTS)
    assert math.isfinite(surplus)
    assert (offset[FIRST : LAST + 1]).min() > 0.3 + road.size[1] + SIDE_MARGIN
    rows %= len(costs.lower)
    assert (offset - costs.upper[rows]).max() < 0.1
    assert (costs.lower[rows] - offset).max() < 0.1
    assert offset[[0, -1]] == pytest.approx(0.0, abs=0.05)


@pytest.mark.parametrize("side", [1, -1])
def test_no_path_leaves_the_road_anywhere_on_a_lap(plan, side):
    road, costs, plan_past = plan
    n, planned = road.paths.shape[1], 0
    for row in range(0, n, 24):
        surplus, start, path = plan_past(0.9, row=row, last=FIRST + 12 + row % 14, side=side)
        rows = (row + STRIDE * np.arange(start.points)) % n
        offset = path.offset[1 : start.points + 1]
        if math.isfinite(surplus):
            planned += 1
            assert np.maximum(offset - costs.upper[rows], costs.lower[rows] - offset).max() < 0.15
    assert planned >= 8


def test_more_is_gained_on_a_slower_car_and_nothing_on_an_equal_one(plan):
    _, _, plan_past = plan
    gains = [plan_past(share)[0] for share in (0.75, 0.85, 1.0)]
    assert gains[0] > gains[1] > gains[2]
    assert gains[0] > 0.0 > gains[2]


def test_there_is_no_path_past_a_car_that_may_be_anywhere(plan):
    assert plan[2](0.8, edges=(-9.0, 9.0))[0] == -math.inf


def test_the_offsets_of_a_path_are_written_to_its_rows_alone(plan):
    road, _, plan_past = plan
    _, start, path = plan_past(0.8)
    out = np.ones(road.paths.shape[1])
    write_offsets(start, path, True, out)
    assert out[start.row + 40 * STRIDE - len(out)] == pytest.approx(path.offset[41])
    assert not out[start.row - 500 : start.row].any()
