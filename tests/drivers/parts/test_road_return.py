"""Back onto the road, by what a state supplies: with a map, with a trail, with neither."""

import math

import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.control.vehicle.recovery import GIVE_UP_AFTER, REQUEST_AFTER, STUCK_TIME
from trailbrake.drivers.parts.road_return import RoadReturn
from trailbrake.errors import CarStuckError
from trailbrake.planning.course import Course, UnmappedCourse
from trailbrake.state import CarState
from trailbrake.tracks.track_library import load_track

DT = 0.02


@pytest.fixture(scope="module")
def course():
    return Course(load_track("pinegrove"), load_car("gt3"))


def state_at(course, s, offset, heading, speed=0.0, **fields):
    x, y, z, yaw = course.track.road.points(s, offset)[0].tolist()
    return CarState(x=x, y=y, z=z, yaw=math.remainder(yaw + heading, 2.0 * math.pi), speed=abs(speed),
                    velocity_x=speed, velocity_y=0.0, **fields)  # fmt: skip


def test_a_car_on_its_way_is_left_alone(course):
    assert RoadReturn(course).rescue(state_at(course, 100.0, 1.0, 0.1, 20.0, gear=3), DT) is None


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_car_with_its_nose_to_a_wall_reverses_in_the_gear_of_the_wire(course, side):
    against = state_at(course, 100.0, 12.0 * side, side * math.pi / 2.0, gear=1)
    controls = RoadReturn(course, forward_gear=1).rescue(against, DT)
    assert controls.gear == -1
    assert controls.throttle == 0.0  # until the gear is engaged
    away = state_at(course, 100.0, 12.0 * side, -side * math.pi / 2.0, gear=1)
    controls = RoadReturn(course, forward_gear=1).rescue(away, DT)
    assert (controls.gear, controls.throttle > 0.0) == (1, True)
    assert RoadReturn(course).rescue(away, DT).gear is None


def test_where_no_gear_reverses_the_wheels_are_driven_backwards(course):
    road_return = RoadReturn(course)
    against = state_at(course, 100.0, 12.0, math.pi / 2.0, gear=1)
    for _ in range(round(3.0 / DT)):
        controls = road_return.rescue(against, DT)
    assert controls.throttle == 0.0
    assert all(wheel.drive_torque < 0.0 for wheel in controls.wheels)


def commands_until_given_up(road_return, stuck, commands):
    """Rescue a car that does not move until that is given up; append (s, command) to `commands`."""
    for tick in range(round(2.0 * GIVE_UP_AFTER / DT)):
        command = road_return.rescue(stuck, DT).command
        if command is not None:
            commands.append((tick * DT, command))


def test_a_car_that_cannot_move_is_placed_on_the_road_and_in_the_end_given_up(course):
    commands = []
    stuck = state_at(course, 100.0, 10.0, 2.0)  # its gear is not known
    with pytest.raises(CarStuckError, match=r"stuck at x -?\d.* in 90 s") as caught:
        commands_until_given_up(RoadReturn(course), stuck, commands)
    assert "\n" not in str(caught.value)
    (first, command), *_ = commands
    assert first == pytest.approx(REQUEST_AFTER, abs=0.1)
    s, offset, _ = course.track.road.locate(command.teleport.x, command.teleport.y)
    assert s == pytest.approx(102.0, abs=0.5)
    assert abs(offset) < 0.1
    assert [command.to_pits for _, command in commands] == [False, True, False]
    assert commands[-1][1].restart


def test_a_car_that_is_stuck_without_fuel_says_so(course):
    stuck = state_at(course, 100.0, 10.0, 2.0)
    stuck.fuel = 0.0
    with pytest.raises(CarStuckError, match="the tank is empty"):
        commands_until_given_up(RoadReturn(course), stuck, [])


def test_without_a_map_the_trail_leads_back(course):
    road_return = RoadReturn(UnmappedCourse())
    for k in range(60):
        on_road = state_at(course, 50.0 + k, 0.0, 0.0, 12.0, gear=2)
        assert road_return.rescue(on_road, DT, place=0.0) is None
    beside = state_at(course, 100.0, -7.0, -1.5, gear=1)
    assert road_return.rescue(beside, DT, place=-1.0).gear == -1


def test_without_positions_a_stuck_car_is_freed():
    road_return = RoadReturn(UnmappedCourse())
    assert road_return.rescue(CarState(speed=12.0), DT) is None
    answers = [road_return.rescue(CarState(speed=0.0), DT) for _ in range(round(2.0 * STUCK_TIME / DT))]
    assert answers[0] is None
    assert answers[-1].gear == -1
    assert answers[-1].throttle > 0.0


def test_a_copy_has_no_effect(course):
    road_return = RoadReturn(course, forward_gear=1)
    state = state_at(course, 100.0, 12.0, math.pi / 2.0, gear=-1)
    first = road_return.rescue(state, DT)
    dry = road_return.copy()
    ahead = [dry.rescue(state, DT) for _ in range(50)]
    assert [road_return.rescue(state, DT) for _ in range(50)] == ahead
    assert first != ahead[-1]
