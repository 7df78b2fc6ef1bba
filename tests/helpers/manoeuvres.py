"""Drivers on the world directly, shown only the fields that they need: no wire in between."""

import functools
import math

import numpy as np

from trailbrake.cars.car_library import load_car
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track_library import load_track
from trailbrake.world.plant import CameraWorld, World

PERIOD = 0.005  # s, BeamNG's default
WAYPOINT_GAP = 15.0  # m between the points of a simulator's line
COLUMNS = ("time", "x", "y", "yaw", "speed", "steer", "throttle", "brake", "drive_torque", "brake_torque")


@functools.cache
def course_of(track, car):
    """Return the course; its line and speeds are planned once."""
    return Course(load_track(track), load_car(car))


def shown(state, needs):
    """Return a state with nothing filled but the time and `needs`."""
    seen = CarState(time=state.time, sequence=state.sequence)
    for name in needs:
        if name.startswith("wheels."):
            for wheel, full in zip(seen.wheels, state.wheels, strict=True):
                setattr(wheel, name[7:], getattr(full, name[7:]))
        else:
            setattr(seen, name, getattr(state, name))
    return seen


def fill_line(state, road):
    """Fill what simulators with a line of their own supply: the place across the road and the points ahead."""
    s, offset, row = road.locate(state.x, state.y)
    state.driving_line = min(max(offset / float(road.table[row, RoadColumn.WIDTH_LEFT]), -1.0), 1.0)
    points = road.points((math.floor(s / WAYPOINT_GAP) + np.arange(6)) * WAYPOINT_GAP)
    state.line_ahead = tuple((x, y) for x, y, _, _ in points.tolist())


def manoeuvre(
    driver, seconds, *, track="proving_ground", car="hatchback", speed=0.0, yaw=0.0, y=0.0, at=None, period=PERIOD,
    camera=None, complete=None, until=None,
):  # fmt: skip
    """Drive; return {column: (n,) array}. `speed`: rolling start, m/s; `until(state)` ends it early.

    `at`: where it starts, (m along the road, m left of its middle), instead of `y` m beside the start line. `camera`:
    fields of the camera on the car. `complete(state, road)` fills what the world itself does not supply. Torques are
    those of the front left wheel, 0 where there are none.
    """
    course = course_of(track, car)
    road = course.track.road
    world = World(course.track, [course.car], period=period)
    if camera is not None:
        world = CameraWorld(course.track, [course.car], period=period, camera=camera)
    start = world.car_state(0)
    place = (start.x, start.y + y, start.yaw)
    if at is not None:
        place = tuple(road.points(*at)[0, [0, 1, 3]].tolist())
    if speed or yaw or y or at:
        world.batch.place_cars(0, place[0], place[1], place[2] + yaw, speed)
        world.step([Controls()])  # the world looks at a car at the end of a step
    driver.reset(course)
    rows, last = [], None
    for _ in range(round(seconds / period)):
        state = world.car_state(0)
        if complete is not None:
            complete(state, road)
        answer = driver.act(shown(state, driver.NEEDS), 0.0 if last is None else state.time - last)
        last = state.time
        wheel = answer.wheels[0] if answer.wheels else None
        torques = (wheel.drive_torque, wheel.brake_torque) if wheel else (0.0, 0.0)
        rows.append((state.time, state.x, state.y, state.yaw, state.speed, answer.steer, answer.throttle, answer.brake,
                     *torques))  # fmt: skip
        if until is not None and until(state):
            break
        world.step([answer])
    return dict(zip(COLUMNS, np.array(rows).T, strict=True))
