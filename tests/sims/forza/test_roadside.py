"""Rumble strips and the racing line, judged by the road's own table."""

import math

import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.sims.forza.host import RoadsideSensor
from trailbrake.state import CarState, WheelState
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track_library import load_track

TRACK, CAR = load_track("hartmoor"), load_car("hatchback")


def place(row, offset):
    t = TRACK.road.table[row]
    return t[RoadColumn.X] - offset * t[RoadColumn.TANGENT_Y], t[RoadColumn.Y] + offset * t[RoadColumn.TANGENT_X]


def at(row, offset, speed=20.0):
    x, y = place(row, offset)
    return CarState(x=x, y=y, speed=speed, brake=0.0, wheels=[WheelState(x, y) for _ in range(4)])


@pytest.mark.parametrize(("column", "side"), [(RoadColumn.KERB_LEFT, 1.0), (RoadColumn.KERB_RIGHT, -1.0)])
def test_a_wheel_is_on_a_strip_between_the_edge_and_the_end_of_the_kerb(column, side):
    road = TRACK.road.table
    row = int(road[:, column].argmax())
    edge = road[row, RoadColumn.WIDTH_LEFT if side > 0.0 else RoadColumn.WIDTH_RIGHT]
    sense = RoadsideSensor(TRACK, CAR, "centre")
    beyond = [-0.5, 0.3, road[row, column] - 0.1, road[row, column] + 0.3]
    assert [sense.sense_road(at(row, side * (edge + d))).strips[0] for d in beyond] == [False, True, True, False]


def test_a_wheel_whose_place_is_not_known_is_on_none():
    state = at(100, 0.0)
    state.wheels = [WheelState() for _ in range(4)]
    assert RoadsideSensor(TRACK, CAR, "centre").sense_road(state).strips == (False,) * 4


def test_the_edges_are_one_half_width_from_the_middle():
    row = TRACK.road.table[400]
    sense = RoadsideSensor(TRACK, CAR, "centre")
    assert sense.sense_road(at(400, row[RoadColumn.WIDTH_LEFT])).line == pytest.approx(1.0, abs=0.01)
    assert sense.sense_road(at(400, -row[RoadColumn.WIDTH_RIGHT])).line == pytest.approx(-1.0, abs=0.01)
    assert RoadsideSensor(TRACK, CAR, "off").sense_road(at(400, 2.0)).line == 0.0


def test_the_racing_line_is_measured_from_itself_and_brakes_before_bends():
    from trailbrake.planning.course import Course

    course = Course(TRACK, CAR)
    sense = RoadsideSensor(TRACK, CAR, "racing")
    advice = []
    for row in range(0, len(course.line.table), 50):
        t = course.line.table[row]
        state = CarState(x=t[RoadColumn.X], y=t[RoadColumn.Y], speed=float(course.profile.speed[row]), brake=0.0)
        seen = sense.sense_road(state)
        assert abs(seen.line) < 0.01
        braking = course.profile.acceleration[row] < -3.0
        advice.append((braking, seen.ai_brake))
        state.brake = 1.0
        assert sense.sense_road(state).ai_brake == pytest.approx(seen.ai_brake - 1.0)
    assert all(brake > 0.1 for braking, brake in advice if braking)
    assert any(braking for braking, _ in advice)
    assert any(brake == 0.0 for braking, brake in advice if not braking)
    x, y, yaw = t[RoadColumn.X], t[RoadColumn.Y], t[RoadColumn.YAW]
    beside = CarState(x=x - math.sin(yaw), y=y + math.cos(yaw), speed=1.0, brake=0.0)
    assert sense.sense_road(beside).line > 0.05  # a metre to the left
