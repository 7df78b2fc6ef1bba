"""Lanes keep the room of the car, and bend little more than the line."""

import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.planning.course import Course
from trailbrake.planning.passing_lanes import LANES, build_lanes
from trailbrake.planning.path_room import PathRoom, find_path_bounds
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track_library import load_track


def find_room(car):
    return PathRoom(0.5 * car.body.width, 0.5 * min(car.body.track_front, car.body.track_rear), 0.4, kerbs=True)


@pytest.mark.parametrize(("track", "car"), [("hartmoor", "gt3"), ("kartwerk", "kart"), ("lakeside", "hatchback")])
def test_the_car_keeps_its_room_in_each_lane(track, car):
    course = Course(load_track(track), load_car(car)).with_kerbs()
    room = find_room(course.known_car())
    lanes = build_lanes(course.line, room)
    rightmost, leftmost = find_path_bounds(course.line, course.line.stations(), room)
    beyond = np.maximum(lanes - np.maximum(leftmost, 0.02), np.minimum(rightmost, -0.02) - lanes)
    assert beyond.max() < 0.3  # between two unknowns of a lane the edge may bend
    assert lanes.max() - lanes.min() > 4.0


def test_lanes_near_the_line_bend_little_more_than_it():
    course = Course(load_track("pinegrove"), load_car("gt3")).with_kerbs()
    lanes = build_lanes(course.line, find_room(course.known_car()))
    curvature, spacing = course.line.column(RoadColumn.CURVATURE), course.line.spacing
    for aside, lane in zip(LANES, lanes, strict=True):
        if abs(aside) < 3.0:
            assert np.abs(lane).max() > 1.0
            bend = curvature + np.gradient(np.gradient(lane, spacing), spacing)
            assert np.square(bend).mean() < 2.0 * np.square(curvature).mean()
